"""The benchmarks take too long to be run here; each at least starts, and a page names it."""

import runpy
import sys

import pytest
from clones import ROOT

SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
PAGES = [ROOT / "results/README.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("script", [path.name for path in SCRIPTS])
def test_it_starts_and_is_documented(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "benchmarks" / script), run_name="__main__")
    assert ended.value.code == 0
    assert f"usage: {script}" in capsys.readouterr().out
    assert any(script.removesuffix(".py") in page.read_text() for page in PAGES)
