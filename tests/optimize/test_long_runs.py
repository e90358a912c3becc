"""Checkpoints, time limits, the log of evaluations, warm starts and the progress line."""

import csv
import io
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import rosen

import casmore
from casmore.optimize.checkpoint import CheckpointError
from casmore.optimize.evaluation_log import read_evaluations
from casmore.optimize.progress_line import ProgressLine, clock

Array = NDArray[np.float64]
CALL: dict[str, Any] = {"x0": np.zeros(4), "sigma0": 0.5, "seed": 3, "target": 1e-8}


class Interrupted:
    """Raises at one evaluation."""

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0

    def __call__(self, x: Array) -> float:
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt
        return float(rosen(x))


@pytest.fixture(scope="module")
def whole() -> Any:
    return casmore.fmin(rosen, **CALL, trace=True)


@pytest.mark.parametrize("at", [1, 5, 8, 9, 100, 333])
def test_an_interrupted_run_resumes_with_the_same_result(
    at: int, whole: Any, tmp_path: Path
) -> None:
    files: dict[str, Any] = {"checkpoint": tmp_path / "run.pkl", "history": tmp_path / "evals.csv"}
    f = Interrupted(at)
    with pytest.raises(KeyboardInterrupt):
        casmore.fmin(f, **CALL, **files, trace=True)
    result = casmore.fmin(f, **CALL, **files, trace=True)
    for name in ("x", "fun", "mean", "cov", "nfev", "nit"):
        assert np.array_equal(result[name], whole[name]), name
    for name in ("f_best", "f_median", "entropy"):
        assert np.array_equal(result.trace[name], whole.trace[name], equal_nan=True), name
    X, y = read_evaluations(files["history"], 4)
    assert len(y) == whole.nfev
    assert [float(rosen(x)) for x in X] == y.tolist()


def test_a_finished_run_is_not_evaluated_again(tmp_path: Path) -> None:
    path = tmp_path / "run.pkl"
    first = casmore.fmin(rosen, **CALL, checkpoint=path)

    def no(x: Array) -> float:
        raise AssertionError

    second = casmore.fmin(no, **CALL, checkpoint=path)
    assert (first.x == second.x).all()
    assert second.nfev == first.nfev


def test_a_larger_budget_continues_a_run(tmp_path: Path, whole: Any) -> None:
    path = tmp_path / "run.pkl"
    assert casmore.fmin(rosen, **CALL, checkpoint=path, budget=96).nfev == 96
    assert casmore.fmin(rosen, **CALL, checkpoint=path).nfev == whole.nfev


def test_a_checkpoint_of_another_call_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.pkl"
    casmore.fmin(rosen, **CALL, checkpoint=path, budget=50)
    before = path.read_bytes()
    for change, named in (
        ({"x0": np.ones(4)}, "x0"),
        ({"sigma0": 0.4}, "sigma0 = 0.5, not 0.4"),
        ({"sigma0": [1, 2, 3, 4]}, "sigma0"),
        ({"seed": 4}, "seed = 3, not 4"),
        ({"seed": None}, "seed = 3, not None"),
        ({"target": 1e-9}, "target = 1e-08, not 1e-09"),
        ({"path_gain": 0.5}, "settings"),
    ):
        with pytest.raises(CheckpointError, match=rf"run.pkl belongs to a call with {named}"):
            casmore.fmin(rosen, **{**CALL, **change}, checkpoint=path)
    assert path.read_bytes() == before


def test_a_resumed_run_fills_the_trace_of_its_call(tmp_path: Path, whole: Any) -> None:
    path = tmp_path / "run.pkl"
    trace = casmore.Trace()
    casmore.fmin(rosen, **CALL, checkpoint=path, budget=96, trace=trace)
    assert casmore.fmin(rosen, **CALL, checkpoint=path, trace=trace).trace is trace
    assert np.array_equal(trace["entropy"], whole.trace["entropy"])
    assert "trace" not in casmore.fmin(rosen, **CALL, checkpoint=path)
    with pytest.raises(ValueError, match="trace holds another run"):
        casmore.fmin(rosen, **CALL, trace=trace)


def test_f_may_change_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation may work in a folder of its own."""

    def f(x: Array) -> float:
        os.chdir(elsewhere)
        return float(rosen(x))

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    casmore.fmin(f, **CALL, checkpoint="run.pkl", budget=50)
    monkeypatch.chdir(tmp_path)
    assert casmore.fmin(f, **CALL, checkpoint="run.pkl", budget=50).nfev == 50
    assert not list(elsewhere.iterdir())


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=60))
def test_a_damaged_checkpoint_is_named(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "run.pkl"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"run.pkl is not a checkpoint"):
        casmore.fmin(rosen, **CALL, checkpoint=path)


def test_the_history_holds_every_evaluation_with_all_digits(tmp_path: Path) -> None:
    path = tmp_path / "new" / "evals.csv"
    told: list[Any] = []

    def f(x: Array) -> float:
        value = math.nan if len(told) == 3 else float(rosen(x))
        told.append([value, *x.tolist()])
        return value

    casmore.fmin(f, np.zeros(2), 0.5, budget=30, seed=1, history=path)
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["evaluation", "seconds", "f", "x0", "x1"]
    assert [int(row[0]) for row in rows[1:]] == list(range(1, 31))
    found = np.array([[float(v) for v in row[2:]] for row in rows[1:]])
    assert np.array_equal(found, np.array(told), equal_nan=True)
    with pytest.raises(FileExistsError, match=r"evals.csv exists"):
        casmore.fmin(f, np.zeros(2), 0.5, budget=30, seed=1, history=path)


def test_the_history_of_another_run_is_not_cut(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.csv", tmp_path / "theirs.csv"
    casmore.fmin(rosen, np.zeros(4), 0.5, budget=100, seed=9, history=theirs)
    before = theirs.read_bytes()
    call: dict[str, Any] = {**CALL, "checkpoint": tmp_path / "run.pkl"}
    casmore.fmin(rosen, **call, budget=40, history=mine)
    with pytest.raises(ValueError, match=r"theirs.csv is not of the run that is resumed"):
        casmore.fmin(rosen, **call, budget=60, history=theirs)
    assert theirs.read_bytes() == before
    assert casmore.fmin(rosen, **call, budget=60, history=mine).nfev == 60


def test_a_line_written_in_part_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "evals.csv"
    call: dict[str, Any] = {**CALL, "checkpoint": tmp_path / "run.pkl", "history": path}
    casmore.fmin(rosen, **call, budget=40)
    text = path.read_text()
    path.write_text(text[:-5])  # of evaluation 40, as after a power failure
    casmore.fmin(rosen, **call, budget=48)
    X, y = read_evaluations(path, 4)
    assert [float(rosen(x)) for x in X] == y.tolist()
    assert len(y) == 47


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_does_not_lose_the_result(tmp_path: Path) -> None:
    """The limit of a file's size stands for the disk; the checkpoint grows, the history too."""
    program = """
import os, resource, casmore
from scipy.optimize import rosen
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
values = []
def f(x):
    values.append(float(rosen(x)))
    return values[-1]
for file in ("history", "checkpoint"):
    values.clear()
    try:
        casmore.fmin(f, [0.0] * 4, 0.5, seed=3, **{file: file})
    except OSError as error:
        assert error.result.fun == min(values), error.result
        assert error.result.nfev == len(values) > 0
    else:
        raise AssertionError("no error")
assert sorted(os.listdir()) == ["checkpoint", "history"], os.listdir()
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column f, x0"),
        ("f,x0\n1,2\n", "has no column x1"),
        ("f,x0,x1\n1,2,3\n1,a,3\n", r"evals.csv, line 3: .*'a'"),
        ("f,x0,x1\n1,2\n", r"evals.csv, line 2"),
    ],
)
def test_a_wrong_history_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "evals.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        casmore.fmin(rosen, [0.0, 0.0], 0.5, x_known=tmp_path / "evals.csv")


def test_a_run_ends_after_its_time() -> None:
    def slow(x: Array) -> float:
        time.sleep(0.02)
        return float(rosen(x))

    result = casmore.fmin(slow, **CALL, max_seconds=0.05)
    assert not result.success
    assert list(result.stop) == [casmore.StopReason.TIME]
    assert result.nfev <= 3  # in the middle of the first iteration


def sleeping_map(f: Any, points: list[Array]) -> list[float]:
    time.sleep(0.02)
    return [f(x) for x in points]


@pytest.mark.parametrize("how", [{"workers": sleeping_map}, {"vectorized": True}])
def test_a_batch_that_ends_after_the_time_is_told_as_a_whole(how: dict[str, Any]) -> None:
    told: list[float] = []

    def f(x: Array) -> Any:
        time.sleep(0.02 if x.ndim == 2 else 0)
        values = np.atleast_1d(np.square(x - 1).sum(axis=-1))
        told.extend(values.tolist())
        return values

    result = casmore.fmin(f, np.zeros(4), 0.5, seed=3, max_seconds=0.01, **how)
    assert list(result.stop) == [casmore.StopReason.TIME]
    assert len(told) == result.nfev == 8  # all of the first population
    assert result.fun == min(told)


def test_values_of_a_map_before_an_exception_are_kept(tmp_path: Path) -> None:
    def f(x: Array) -> float:
        if len(told) == 3:
            raise OSError
        told.append(float(rosen(x)))
        return told[-1]

    told: list[float] = []
    path = tmp_path / "evals.csv"
    with pytest.raises(OSError) as caught:  # noqa: PT011 - any message
        casmore.fmin(f, np.zeros(4), 0.5, seed=3, workers=map, history=path)
    assert read_evaluations(path, 4)[1].tolist() == told
    assert caught.value.result.fun == min(told)  # type: ignore[attr-defined]


def known(n: int, count: int) -> tuple[Array, Array]:
    X = 0.5 * np.random.default_rng(5).standard_normal((count, n))
    return X, np.array([rosen(x) for x in X])


def test_known_evaluations_from_a_file_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "evals.csv"
    casmore.fmin(rosen, np.zeros(3), 0.5, budget=40, seed=1, history=path)
    X, y = read_evaluations(path, 3)
    call: dict[str, Any] = {"x0": np.zeros(3), "sigma0": 0.5, "budget": 100, "seed": 2}
    by_file = casmore.fmin(rosen, **call, x_known=path)
    by_arrays = casmore.fmin(rosen, **call, x_known=X, y_known=y)
    assert (by_file.mean == by_arrays.mean).all()


def test_the_search_starts_at_the_best_known_point_and_keeps_it() -> None:
    X = np.array([[5.0, 5.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    y = np.array([50.0, 0.0, math.nan, 1.0])
    seen: list[Array] = []

    def f(x: Array) -> float:
        seen.append(x)
        return float(rosen(x))

    result = casmore.fmin(f, None, 0.01, x_known=X, y_known=y, budget=20, seed=1)
    assert np.abs(np.array(seen) - 1).max() < 0.2
    assert result.x.tolist() == [1.0, 1.0]
    assert result.fun == 0.0
    assert result.nfev == 20


def test_the_search_starts_at_the_best_known_point_inside_the_bounds() -> None:
    X, y = known(3, 30)
    inside = np.array([bool(np.abs(x).max() <= 0.3) for x in X])
    y = np.where(inside, y, y - 100)
    asked: list[Array] = []

    def f(x: Array) -> float:
        asked.append(x)
        return float(rosen(x))

    casmore.fmin(f, None, 1e-6, bounds=[(-0.3, 0.3)] * 3, x_known=X, y_known=y, budget=1, seed=1)
    assert asked[0] == pytest.approx(X[inside][np.argmin(y[inside])], abs=1e-4)


def test_known_points_outside_of_the_bounds_are_not_used() -> None:
    X, y = known(3, 30)
    result = casmore.fmin(
        rosen,
        [0.5] * 3,
        0.1,
        bounds=[(0.4, 0.9)] * 3,
        x_known=X,
        y_known=y - 100,
        budget=20,
        seed=1,
    )
    assert ((result.x >= 0.4) & (result.x <= 0.9)).all()


def test_the_result_of_a_run_starts_the_next() -> None:
    first = casmore.fmin(rosen, np.zeros(4), 0.5, budget=400, seed=1)
    second = casmore.fmin(rosen, first, target=1e-8, seed=2)
    whole = casmore.fmin(rosen, np.zeros(4), 0.5, target=1e-8, seed=1)
    assert second.success
    assert second.nfev < whole.nfev


def test_known_points_that_reach_the_target_end_the_run(tmp_path: Path) -> None:
    path = tmp_path / "converged.csv"
    converged = casmore.fmin(rosen, np.zeros(3), 0.5, history=path, seed=1)
    assert casmore.StopReason.TARGET not in converged.stop
    again = casmore.fmin(rosen, np.full(3, 50.0), 0.01, x_known=path, target=1e-6, seed=1)
    assert again.success
    assert (again.nfev, again.fun) == (0, converged.fun)


def test_values_are_kept_when_the_fit_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: list[float] = []
    original = casmore.CasMore.tell

    def f(x: Array) -> float:
        values.append(float(rosen(x)))
        return values[-1]

    def tell(solver: casmore.CasMore, X: Array, y: Array) -> None:
        if len(values) > 100:
            raise KeyboardInterrupt
        original(solver, X, y)

    monkeypatch.setattr(casmore.CasMore, "tell", tell)
    with pytest.raises(KeyboardInterrupt) as caught:
        casmore.fmin(f, np.zeros(3), 0.5, seed=1, history=tmp_path / "h.csv")
    assert read_evaluations(tmp_path / "h.csv", 3)[1].tolist() == values
    assert caught.value.result.fun == min(values)  # type: ignore[attr-defined]


def test_a_history_without_evaluations_does_not_stand_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"

    def with_a_typo(x: Array) -> float:
        return float(rosenn(x))  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError):
        casmore.fmin(with_a_typo, np.zeros(3), 0.5, seed=1, history=path)
    casmore.fmin(rosen, np.zeros(2), 0.5, budget=20, seed=1, history=path)
    assert len(read_evaluations(path, 2)[1]) == 20
    empty = tmp_path / "empty.csv"
    empty.touch()  # of somebody else, perhaps of a run that has just begun
    with pytest.raises(FileExistsError, match="not overwritten"):
        casmore.fmin(rosen, np.zeros(2), 0.5, budget=20, seed=1, history=empty)
    assert empty.read_bytes() == b""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    casmore.fmin(rosen, np.zeros(2), 0.5, budget=60, seed=1, progress=True, target=-1.0)
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("6/60 evaluations, best ")
    assert "at most 0:00:00 left" in said[0]
    assert said[-1].startswith("60/60 evaluations")
    assert len(said) == 2  # not one an iteration
    assert ProgressLine(Terminal())._on_terminal
    assert clock(3_723.4) == "1:02:03"
