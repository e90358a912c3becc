"""docs/own_solver.md, done as it says; and solvers that other packages bring."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from clones import blocks

from casmore.cli import main
from casmore.reports import run_data
from casmore.reports.cocopp import report as cocopp_report
from casmore.solvers import registry

PAGE = "docs/own_solver.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_module.py").write_text(blocks(PAGE, "python")[0])
    (tmp_path / "my_solver.py").write_text(blocks(PAGE, "python")[1])
    (tmp_path / "mine.toml").write_text(blocks(PAGE, "toml")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def casmore(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "casmore", *arguments], capture_output=True, text=True, check=False
    )


def test_the_example_is_complete_keeps_the_contract_and_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = [line for block in blocks(PAGE, "bash") for line in block.splitlines()]
    assert first == "casmore bench my_module:my_fmin"  # the next test runs it
    assert others == [
        "casmore check-solver my_solver:OnePlusOne",
        "casmore run mine.toml",
        "casmore report mine.toml",
    ]
    for command in others[:-1]:
        done = casmore(*command.split()[1:])
        assert done.returncode == 0, done.stderr
    assert (folder / "runs/mine/data/One-plus-one/bbobexp_f8.info").is_file()
    monkeypatch.setattr(cocopp_report, "make", lambda *_, **__: folder)  # tested elsewhere
    assert main(others[-1].split()[1:]) == 0
    assert (folder / "runs/mine/reports/index.html").is_file()


def test_the_function_is_benchmarked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cocopp_report, "make", lambda *_, **__: folder)  # tested elsewhere
    command = blocks(PAGE, "bash")[0].split()[1:]
    small = ("--functions", "1", "--dimensions", "2", "--instances", "1", "--budget", "200")
    assert main([*command, *small, "--workers", "1"]) == 0
    (r,) = run_data.load(folder / "runs/bench-my_fmin")
    assert r.ert[10] < 200  # to 1


def test_the_examples_are_short() -> None:
    for block in blocks(PAGE, "python"):
        assert len([line for line in block.splitlines() if line.strip()]) <= 30


def test_an_installed_package_brings_solvers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    information = folder / "others-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    group = re.sub(r'\[project.entry-points."(.*)"\]', r"[\1]", blocks(PAGE, "toml")[1])
    points = group.replace('"', "") + "cma = my_solver:OnePlusOne\n"
    (information / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder))
    assert registry.factory("one-plus-one").__module__ == "my_solver"
    assert registry.lookup("cma").path == "casmore.solvers.cma:make"  # ours stays ours
    assert main(["solvers"]) == 0
    assert "of the package others" in capsys.readouterr().out
    with pytest.raises(registry.UnknownSolverError, match="did you mean 'one-plus-one'"):
        registry.lookup("one_plus_on")
