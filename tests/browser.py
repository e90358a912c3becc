"""Chromium for tests of pages, without a window and without a network."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

WIDE, PHONE = (1400, 1000), (375, 800)


@contextmanager
def chromium() -> Iterator[Chrome]:
    """Start Chromium; a test fails where it is not installed."""
    driver = shutil.which("chromedriver")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if driver is None or browser is None:
        pytest.fail(
            "this test needs Chromium and its driver (Debian: apt install chromium "
            "chromium-driver); leave such tests out with -m 'not browser'"
        )
    options = ChromeOptions()
    options.binary_location = browser
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    page = Chrome(options, Service(driver))
    try:
        yield page
    finally:
        page.quit()


def resize(page: Chrome, size: tuple[int, int]) -> None:
    """Set the size of the page; that of a window has a minimum."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def requests(page: Chrome) -> set[str]:
    """Return what has been asked for since the last call: files and addresses."""
    entries = [json.loads(text)["message"] for text in _log(page, "performance")]
    return {
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    }


def messages(page: Chrome) -> list[str]:
    """Return what the console has shown since the last call: errors and warnings."""
    return _log(page, "browser")


def _log(page: Chrome, name: str) -> list[str]:
    entries = page.get_log(name)  # type: ignore[no-untyped-call]
    return [str(entry["message"]) for entry in entries]


def address(path: Path) -> str:
    """Return the address of a file."""
    return path.resolve().as_uri()
