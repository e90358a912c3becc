"""The benchmark on functions of CEC: its problems, running times and the resumption of a run."""

import math
import sys
from pathlib import Path

import held_out
import numpy as np
import pytest

opfunu = pytest.importorskip("opfunu", reason="of the extra 'test'")


@pytest.mark.parametrize(("suite", "number"), [("cec2017", 1), ("cec2017", 21), ("cec2022", 8)])
def test_a_problem_is_zero_at_the_optimum_that_opfunu_states(suite: str, number: int) -> None:
    from opfunu.cec_based import cec2017, cec2022

    module = {"cec2017": cec2017, "cec2022": cec2022}[suite]
    stated = np.array(getattr(module, f"F{number}{suite[3:]}")(ndim=10).x_global)
    f = held_out.problem(suite, number, 10)
    assert f(stated / 20) == pytest.approx(0, abs=1e-9)
    assert f(np.full(10, 5.0)) > 0


def test_functions_that_opfunu_lacks_in_a_dimension_are_left_out() -> None:
    assert held_out.exists("cec2017", 10, 10)
    assert not held_out.exists("cec2017", 10, 20)
    assert held_out.exists("cec2022", 10, 20)


def test_running_times_are_those_of_coco() -> None:
    """A target reached by one trial of two costs what both have spent until then."""
    trials = np.array([[10.0, 40.0, math.inf, 100.0], [30.0, math.inf, math.inf, 100.0]])
    assert held_out.ert(trials).tolist() == [20.0, 140.0, math.inf]


@pytest.mark.parametrize("label", held_out.SOLVERS)
def test_a_solver_spends_the_budget_or_reaches_the_final_target(label: str) -> None:
    seed = np.random.SeedSequence(3)
    *hits, spent = held_out.run(label, lambda x: float(np.abs(x).sum() + 1.0), 2, 60, seed)
    assert spent == 60
    assert math.isfinite(hits[2])
    assert hits[-1] == math.inf
    *hits, spent = held_out.run(label, lambda x: float(x @ x), 2, 4000, seed)
    assert hits[-1] <= spent < 4000


def test_a_run_that_was_interrupted_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.csv"
    arguments = ["held_out.py", str(file), "--suites", "cec2022", "--dimensions", "2"]
    arguments += ["--functions", "1-2", "--budget", "20", "--seeds", "2", "--solvers", "slsqp"]
    monkeypatch.setattr(sys, "argv", arguments)
    held_out.main()
    whole, first = file.read_text(), capsys.readouterr().out
    file.write_text("".join(whole.splitlines(keepends=True)[:3]))
    held_out.main()
    assert file.read_text() == whole
    assert capsys.readouterr().out == first
