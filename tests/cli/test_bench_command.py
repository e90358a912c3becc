"""``casmore bench``: a plain function on BBOB, compared with stored trials of others."""

import argparse
import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from casmore.cli import bench_command, main
from casmore.reports import references, run_data
from casmore.reports.cocopp import report as cocopp_report

MODULE = """
def my_fmin(f, x0, budget, rng):
    best = f(x0)
    for _ in range(9):
        best = min(best, f(x0 + rng.standard_normal(len(x0))))
"""
BENCH = ("--functions", "1,8", "--dimensions", "2", "--instances", "1-2", "--budget", "50")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a function of one's own; cocopp's part is tested elsewhere."""
    (tmp_path / "bench_example.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cocopp_report, "make", lambda *_, **__: tmp_path)
    return tmp_path


def test_a_function_is_run_placed_and_compared(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(references, "peers", lambda: ())
    command = ["bench", "bench_example:my_fmin", *BENCH, "--workers", "1"]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "/ 243" in shown.out
    assert "There are no stored trials" in shown.err
    run = here / "runs/bench-my_fmin"
    own = run_data.load(run)
    assert [(r.function, r.dimension, r.instances) for r in own] == [(1, 2, (1, 2)), (8, 2, (1, 2))]
    # it ends after 10 evaluations, and is restarted until the budget is spent
    assert {float(spent) for r in own for spent in r.spent} == {100.0}

    # the same command resumes: nothing is run again, and the others are beside it
    before = {path: path.stat().st_mtime_ns for path in run.glob("units/*/*/unit.json")}
    kept = [
        replace(
            r,
            solver="PEER",
            instances=(1, 2, 3),
            spent=np.full(3, 500.0),
            restarts=np.zeros(3),
            evaluations=np.hstack([r.evaluations / 2, r.evaluations[:, :1]]),
        )
        for r in own
    ]
    monkeypatch.setattr(references, "peers", lambda: tuple(kept))
    assert main(command) == 0
    assert {path: path.stat().st_mtime_ns for path in run.glob("units/*/*/unit.json")} == before
    assert "PEER" in capsys.readouterr().out
    with (run / "reports/summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["solver"], r["trials"]) for r in rows] == [
        *(("my_fmin", "2"), ("my_fmin", "2")),
        *(("PEER", "2"), ("PEER", "2")),
    ]
    assert (run / "reports/versus_PEER.png").exists()


def test_a_function_of_one_letter_is_named_with_its_module(here: Path) -> None:
    (here / "short_example.py").write_text(MODULE.replace("my_fmin", "g"))
    assert main(["bench", "short_example:g", *BENCH, "--workers", "1"]) == 0
    assert (here / "runs/bench-short_example.g/data/short_example.g").is_dir()


def test_a_function_is_run_on_another_suite(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = ["bench_example:my_fmin", "--suite", "bbob-noisy", "--functions", "101"]
    options = [*solver, "--dimensions", "2", "--instances", "1-2", "--budget", "20"]
    assert main(["bench", *options, "--workers", "1"]) == 0
    run = here / "runs/bench-my_fmin-bbob-noisy"
    assert {path.parent.name for path in run.glob("units/*/*/unit.json")} == {
        *("f101_d02_i001_r0", "f101_d02_i002_r0")
    }
    captured = capsys.readouterr()
    assert "Scores on bbob-noisy" in captured.out
    assert "There are no stored trials of other solvers on bbob-noisy" in captured.err


def test_stored_trials_are_compared_on_all_functions_or_not_at_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stored(budget: int, instances: str = "1-5") -> dict[tuple[str, int], int]:
        options = argparse.Namespace(
            solver="random-search", label=None, suite="bbob", dimensions="2,10", functions="1,8,24",
            instances=instances, budget=budget,
        )  # fmt: skip
        experiment = bench_command._experiment(options)
        return Counter((r.solver, r.dimension) for r in bench_command._stored(experiment))

    everywhere = {(solver, n): 3 for solver in ("CAS-MORE", "CMA-ES") for n in (2, 10)}
    assert stored(1000) == everywhere
    assert capsys.readouterr().err == ""
    # in 10-D, no trial on f24 is successful, and all end after 10000 n evaluations
    assert stored(20_000).keys() <= {("CAS-MORE", 2), ("CMA-ES", 2)}
    told = capsys.readouterr().err
    assert "The stored trials of CAS-MORE in 10-D are shorter, or on other instances." in told
    assert stored(1000, "4-7") == everywhere
    assert "CMA-ES in 2-D on the instances 6, 7." in capsys.readouterr().err


def test_a_trial_that_fails_does_not_cost_the_report(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = MODULE.replace("    best = f(x0)", "    best = f(x0)\n    assert best < 1000, 'no'")
    (here / "failing_example.py").write_text(fails)
    monkeypatch.setattr(references, "peers", lambda: ())
    command = ["bench", "failing_example:my_fmin", *BENCH, "--workers", "1"]
    assert main(command) == 1
    shown = capsys.readouterr()
    assert "units failed" in shown.err
    assert "casmore report" not in shown.out
    assert (here / "runs/bench-my_fmin/reports/index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bench_example:nothing"], "has no attribute 'nothing'"),
        (["nowhere:nothing"], "there is no module 'nowhere'"),
        (["bench_example:my_fmin", "--dimensions", "7"], "bbob has no dimension 7"),
        (["bench_example:my_fmin", "--suite", "noisy"], "did you mean 'bbob-noisy'?"),
        (["bench_example:my_fmin", "--budget", "0"], "is not a whole number of at least 1"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    arguments: list[str], complaint: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["bench", *arguments])
    except SystemExit as error:  # of the parser
        code = int(error.code or 0)
    assert code == 2
    assert complaint in capsys.readouterr().err
    assert not (here / "runs").exists()
