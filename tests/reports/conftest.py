from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import chromium
from selenium.webdriver import Chrome

from casmore.reports import build, run_data
from casmore.reports.runtimes import Runtimes
from reports import logged
from reports.logged import LoggedRun


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoggedRun:
    """Two solvers in 2 and 3-D on functions of two groups, one of which they solve."""
    folder = tmp_path_factory.mktemp("reports")
    # not in alphabetical order: the config's order is to be kept
    made = logged.make(folder / "run", ["second", "first"], [1, 6], [2, 3], budget=150)
    # people have spaces in their paths, which cocoex itself could not write to
    return replace(made, folder=made.folder.rename(folder / "a run"))


@pytest.fixture(scope="session")
def loaded(run: LoggedRun) -> list[Runtimes]:
    return run_data.load(run.folder)


@pytest.fixture(scope="session")
def index(run: LoggedRun) -> Path:
    """The first page of the run's report."""
    return build(run.folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    with chromium() as browser:
        yield browser
