"""Every registered solver keeps the contract; pycma's adapter equals pycma itself."""

import math
from pathlib import Path

import cma
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers import registry
from casmore.solvers.protocol import Solver

Array = NDArray[np.float64]
NAMES = [entry.name for entry in registry.entries()]


def make(name: str, n: int = 3, seed: int = 1, target: float | None = None) -> Solver:
    return registry.factory(name)(
        np.full(n, 2.0), 1.0, population_size=None, seed=seed, target=target
    )


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 3, X.shape[1])
    return values


@pytest.mark.parametrize("name", NAMES)
def test_it_reaches_the_target(name: str) -> None:
    solver = make(name, target=1e-9)
    while not solver.stop():
        X = solver.ask()
        assert X.shape == (solver.population_size, 3)
        solver.tell(X, ellipsoid(X))
        assert solver.evaluations < 5000
    assert StopReason.TARGET in solver.stop()
    assert solver.best_y <= 1e-9
    assert ellipsoid(solver.best_x[np.newaxis])[0] == solver.best_y


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_foreign_points_in_any_number(name: str) -> None:
    solver = make(name)
    told = 0
    for k in (1, 2, 0, 40, 3, 3, 11):
        X = np.random.default_rng(k).standard_normal((k, 3))
        solver.tell(X, ellipsoid(X))
        told += k
        assert solver.evaluations == told
    assert math.isfinite(solver.best_y)


@pytest.mark.parametrize("name", NAMES)
def test_values_that_are_not_finite_rank_last(name: str) -> None:
    solver = make(name, target=1e-9)
    assert solver.best_y == math.inf
    while not solver.stop():
        X = solver.ask()
        y = np.where(X[:, 0] > 2.5, np.nan, np.where(X[:, 1] > 3, np.inf, ellipsoid(X)))
        solver.tell(X, y)
        assert solver.evaluations < 5000
    assert StopReason.TARGET in solver.stop()


@pytest.mark.parametrize("name", NAMES)
def test_it_leaves_no_trace(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.random.seed(5)  # noqa: NPY002 - the global state is what is tested
    solver = make(name)
    for _ in range(30):
        X = solver.ask()
        solver.tell(X, ellipsoid(X))
    after = np.random.standard_normal()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    assert after == np.random.standard_normal()  # noqa: NPY002
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_adapter_runs_pycma_as_pycma_runs_itself() -> None:
    ours = make("cma", n=4, seed=9)
    stream = np.random.default_rng(9)
    theirs = cma.CMAEvolutionStrategy(
        np.full(4, 2.0),
        1.0,
        {"verbose": -9, "seed": np.nan, "randn": lambda *shape: stream.standard_normal(shape)},
    )
    for _ in range(60):
        X, V = ours.ask(), theirs.ask()
        assert (np.array(V) == X).all()
        ours.tell(X, ellipsoid(X))
        theirs.tell(V, ellipsoid(np.array(V)).tolist())
    assert (ours.mean == theirs.mean).all()


def test_an_unknown_solver_is_refused_with_a_suggestion() -> None:
    with pytest.raises(registry.UnknownSolverError, match=r"did you mean 'cas-more'"):
        registry.lookup("CAS_MORE")
