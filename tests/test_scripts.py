"""Benchmarks and scripts take too long to be run here; each at least starts and has a help text."""

import runpy
import sys
from pathlib import Path

import pytest
from clones import ROOT

BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
PAGES = [ROOT / "results/README.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("script", [*BENCHMARKS, *SCRIPTS], ids=lambda path: path.name)
def test_it_starts(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [script.name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert ended.value.code == 0
    assert f"usage: {script.name}" in capsys.readouterr().out


@pytest.mark.parametrize("benchmark", [path.stem for path in BENCHMARKS])
def test_a_page_names_it(benchmark: str) -> None:
    assert any(benchmark in page.read_text() for page in PAGES)
