"""Traces of runs against what the solver says of itself, and their picture."""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.typing import NDArray

import casmore
from casmore.plotting import run_view, style
from casmore.solvers import registry
from casmore.trace import COLUMNS, Trace, step_size

Array = NDArray[np.float64]


def ellipsoid(x: Array) -> float:
    return float(x**2 @ np.logspace(0, 2, len(x)))


def test_fmin_records_each_iteration() -> None:
    seen: list[float] = []

    def f(x: Array) -> float:
        seen.append(ellipsoid(x))
        return seen[-1]

    result = casmore.fmin(f, np.ones(4), 0.5, seed=1, budget=400, trace=True)
    trace = result.trace
    assert len(trace) == result.nit + 1
    # the mean, K samples, the mean, K samples, ...
    values = np.array(seen)[: result.nit * 9].reshape(result.nit, 9)
    assert trace["f_mean"] == pytest.approx([*values[:, 0], seen[-1]])
    assert trace["f_median"][1:-1] == pytest.approx(np.median(values[:-1, 1:], axis=1))
    assert (trace["evaluations"][:-1] == np.arange(result.nit) * 8).all()
    assert trace["evaluations"][-1] == result.nfev == 400
    assert trace["f_best"][-1] == result.fun
    assert trace["f_mean"][-1] == pytest.approx(ellipsoid(result.mean))


def test_the_last_row_is_the_final_distribution() -> None:
    result = casmore.fmin(ellipsoid, np.ones(3), 0.5, seed=1, budget=300, trace=True)
    trace, variances = result.trace, np.linalg.eigvalsh(result.cov)
    log_det = np.linalg.slogdet(2 * math.pi * math.e * result.cov)[1]
    assert trace["entropy"][-1] == pytest.approx(0.5 * log_det)
    assert trace["axis_lengths"][-1] == pytest.approx(np.sqrt(variances))
    assert trace["condition"][-1] == pytest.approx(variances[-1] / variances[0])
    assert trace["step_size"][-1] == pytest.approx(np.prod(variances) ** (1 / 6))
    assert trace["complexity"][0] == 0
    assert trace["complexity"][-1] == 3


def test_recording_changes_nothing() -> None:
    plain = casmore.fmin(ellipsoid, np.ones(3), 0.5, seed=1, budget=300)
    traced = casmore.fmin(ellipsoid, np.ones(3), 0.5, seed=1, budget=300, trace=True)
    assert (plain.x == traced.x).all()
    assert plain.nfev == traced.nfev
    assert "trace" not in plain


def test_without_the_mean_no_evaluation_is_added() -> None:
    seen: list[Array] = []

    def f(X: Array) -> Array:
        seen.extend(X)
        values: Array = (X**2).sum(axis=1)
        return values

    trace = casmore.Trace(f_at_mean=False)
    result = casmore.fmin(f, np.ones(3), 0.5, seed=1, budget=200, trace=trace, vectorized=True)
    assert result.trace is trace
    assert len(seen) == result.nfev
    assert np.isnan(trace["f_mean"]).all()


def test_a_run_that_raises_leaves_its_trace() -> None:
    def f(x: Array) -> float:
        if len(trace) > 10:
            raise RuntimeError("robot fell")
        return ellipsoid(x)

    trace = casmore.Trace(f_at_mean=False)
    with pytest.raises(RuntimeError, match="robot fell") as caught:
        casmore.fmin(f, np.ones(3), 0.5, seed=1, trace=trace)
    assert caught.value.result.trace is trace  # type: ignore[attr-defined]
    assert len(trace) == 11


def test_restarts_are_counted_on() -> None:
    result = casmore.fmin(
        ellipsoid, np.ones(2), 0.5, seed=1, budget=3000, restarts="ipop", trace=True
    )
    trace = result.trace
    assert result.restarts >= 1
    assert trace["restart"][-1] == result.restarts
    assert (np.diff(trace["evaluations"]) > 0).all()
    assert (np.diff(trace["f_best"]) <= 0).all()


@pytest.mark.parametrize("name", ["cas-more", "more", "cma", "xnes"])
def test_what_a_solver_does_not_tell_is_nan(name: str) -> None:
    solver = registry.factory(name)(np.ones(3), 0.5, population_size=None, seed=1, target=None)
    trace = Trace()
    trace.record(solver)
    X = solver.ask()
    solver.tell(X, (X**2).sum(axis=1))
    trace.record(solver, (X**2).sum(axis=1))
    assert trace["evaluations"].tolist() == [0, len(X)]
    # the initial distribution is N(x0, 0.25 I)
    assert trace["step_size"][0] == pytest.approx(0.5, rel=1e-4)  # pycma perturbs it a little
    assert trace["entropy"][0] == pytest.approx(1.5 * np.log(2 * math.pi * math.e * 0.25), rel=1e-4)
    assert np.isnan(trace["path_length"][-1]) == (name != "cas-more")


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    trace = casmore.fmin(ellipsoid, np.ones(3), 0.5, seed=1, budget=100, trace=True).trace
    trace.save(tmp_path / "new" / "trace.npz", seed=7)
    loaded = Trace.load(tmp_path / "new" / "trace.npz")
    for name in (*COLUMNS, "axis_lengths"):
        assert np.array_equal(loaded[name], trace[name], equal_nan=True)
    assert loaded["seed"] == 7
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["trace.npz"]


@given(
    st.binary(max_size=60) | st.integers(0, 10**6) | st.tuples(st.integers(), st.integers(1, 255))
)
@example(b"")
@example(bytes(1000))
def test_a_damaged_file_is_named(damage: bytes | int | tuple[int, int]) -> None:
    """Any other content, the file cut short, or a byte of it changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        Trace().save(path, more=np.arange(9.0))
        content = bytearray(path.read_bytes())
        if isinstance(damage, int):
            del content[damage % len(content) :]
        elif isinstance(damage, tuple):
            content[damage[0] % len(content)] ^= damage[1]
        else:
            content = bytearray(damage)
        path.write_bytes(content)
        try:
            Trace.load(path)
        except ValueError as error:
            message = str(error)
        else:  # a byte that nothing depends on, as the archive's date of a file
            assert isinstance(damage, tuple)
            return
    assert message.startswith(f"{path} is no trace, or is damaged: ")


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(KeyError, match="no 'sigma'; it has evaluations"):
        Trace()["sigma"]


def test_the_step_size_is_that_of_the_isotropic_gaussian() -> None:
    entropy = 0.5 * np.linalg.slogdet(2 * math.pi * math.e * 0.09 * np.eye(5))[1]
    assert step_size(entropy, 5) == pytest.approx(0.3)


def texts(figure: Figure) -> str:
    return " ".join(
        [ax.get_title(loc="left") for ax in figure.axes]
        + [label for ax in figure.axes for label in ax.get_legend_handles_labels()[1]]
    )


@pytest.mark.parametrize("shift", [0.0, -3.0])
def test_the_live_view_shows_the_run(shift: float, tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    result = casmore.fmin(
        lambda x: ellipsoid(x) + shift, np.ones(3), 0.5, seed=1, budget=200, trace=True
    )
    figure = casmore.plot(result.trace)
    png, pdf = style.save(figure, tmp_path / "run")
    assert png.stat().st_size > 10_000
    assert pdf.stat().st_size > 5_000
    shown = texts(figure)
    for word in ("at the mean", "best", "entropy", "axis lengths", "condition", "desired", "model"):
        assert word in shown
    assert ("above -3" in shown) == (shift < 0)
    curve = figure.axes[0].get_lines()[0]
    assert np.max(curve.get_xdata()) == result.nfev
    plt.close(figure)


def test_the_live_view_of_a_solver_that_tells_little() -> None:
    solver = registry.factory("cma")(np.ones(3), 0.5, population_size=None, seed=1, target=None)
    trace = Trace()
    trace.record(solver)
    run_view.draw(Figure(layout="constrained"), trace)


def test_an_empty_trace_is_refused() -> None:
    with pytest.raises(ValueError, match=r"fmin\(\.\.\., trace=True\)"):
        run_view.draw(Figure(layout="constrained"), Trace())


def test_matplotlib_is_imported_for_a_picture_alone_and_asked_for_when_missing() -> None:
    script = (
        "import sys, casmore\n"
        "assert not any(m.startswith('matplotlib') for m in sys.modules)\n"
        "sys.modules['matplotlib'] = None\n"
        "trace = casmore.fmin(lambda x: x @ x, [1.0, 1.0], 1.0, budget=20, trace=True).trace\n"
        "casmore.plot(trace)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert "ImportError: casmore.plot needs Matplotlib: pip install 'casmore[plot]'" in done.stderr
