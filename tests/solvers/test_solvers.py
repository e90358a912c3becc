"""Every registered solver minimizes; pycma's adapters equal pycma itself."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import cma
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers import registry
from casmore.solvers.protocol import Solver

Array = NDArray[np.float64]
NAMES = [solver.name for solver in registry.registered()]
SEARCHING = [name for name in NAMES if name not in ("random-search", "nelder-mead")]


def make(name: str, n: int = 3, seed: int = 1, target: float | None = None) -> Solver:
    return registry.factory(name)(
        np.full(n, 2.0), 1.0, population_size=None, seed=seed, target=target
    )


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 3, X.shape[1])
    return values


@pytest.mark.parametrize("name", SEARCHING)
def test_it_reaches_the_target(name: str) -> None:
    solver = make(name, target=1e-9)
    while not solver.stop():
        X = solver.ask()
        # solvers without a population may ask for the points of a finite difference or of a test
        assert 1 <= len(X) <= max(solver.population_size, 4)
        assert X.shape[1:] == (3,)
        solver.tell(X, ellipsoid(X))
        assert solver.evaluations < 5000
    assert StopReason.TARGET in solver.stop()
    assert solver.best_y <= 1e-9
    # BLAS may sum one row in another order than many
    assert ellipsoid(solver.best_x[np.newaxis])[0] == pytest.approx(solver.best_y, rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sigma0", [Decimal(100), Fraction(100), np.int8(100), np.array(100.0)])
def test_any_real_number_is_a_step_size(name: str, sigma0: Any) -> None:
    solvers = [
        registry.factory(name)(np.ones(2), s, population_size=None, seed=1, target=None)
        for s in (sigma0, 100.0)
    ]
    for _ in range(2):
        X, theirs = (solver.ask() for solver in solvers)
        assert (X == theirs).all()
        for solver in solvers:
            solver.tell(X, ellipsoid(X))


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
