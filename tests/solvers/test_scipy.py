"""SciPy's solvers behind the bridge: SciPy's own runs, evaluation by evaluation."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from casmore.algorithms.stopping import StopReason
from casmore.solvers import registry
from casmore.solvers.bridge import Bridge

Array = NDArray[np.float64]
METHODS = {
    "nelder-mead": "Nelder-Mead",
    "powell": "Powell",
    "l-bfgs-b": "L-BFGS-B",
    "slsqp": "SLSQP",
}


def rosenbrock(x: Array) -> float:
    return float(optimize.rosen(x))


def make(name: str, x0: Array, **settings: Any) -> Bridge:
    arguments: dict[str, Any] = {"population_size": None, "seed": 3, "target": None, **settings}
    solver = registry.factory(name)(x0, 1.0, **arguments)
    assert isinstance(solver, Bridge)
    return solver


def drive(solver: Bridge) -> Array:
    asked = []
    while not solver.stop():
        X = solver.ask()
        solver.tell(X, np.array([rosenbrock(x) for x in X]))
        asked.append(X)
    return np.concatenate(asked)


def recorded(seen: list[Array]) -> Any:
    def f(x: Array) -> float:
        seen.append(x.copy())
        return rosenbrock(x)

    return f


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("bounds", [None, (-2.0, 0.9)])
def test_a_local_method_runs_as_scipy_runs_it(name: str, bounds: Any) -> None:
    x0 = np.array([-1.2, 0.7, 0.5])
    seen: list[Array] = []
    result = optimize.minimize(
        recorded(seen), x0, method=METHODS[name], bounds=bounds and [bounds] * 3
    )
    solver = make(name, x0, bounds=bounds)
    assert np.array_equal(drive(solver), np.array(seen))
    assert solver.best_y <= result.fun
    assert solver.stop() == {StopReason.NO_PROGRESS: 0.0}
    assert solver.population_size == 0


def test_differential_evolution_runs_as_scipy_runs_it() -> None:
    seen: list[Array] = []
    optimize.differential_evolution(
        recorded(seen), [(-5, 5)] * 2, rng=np.random.default_rng(3), popsize=7, maxiter=30
    )
    solver = make("differential-evolution", np.zeros(2), popsize=7, maxiter=30)
    assert np.array_equal(drive(solver), np.array(seen))
    assert solver.population_size == 14


def test_differential_evolution_by_generations() -> None:
    solver = make("differential-evolution", np.zeros(2), vectorized=True, population_size=20)
    batches = []
    for _ in range(5):
        X = solver.ask()
        solver.tell(X, np.array([rosenbrock(x) for x in X]))
        batches.append(X)
    assert [X.shape for X in batches] == [(20, 2)] * 5
    assert np.abs(np.concatenate(batches)).max() <= 5


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("nelder-mead", {"xtol": 1}, "Nelder-Mead has no setting 'xtol'; did you mean 'xatol'"),
        ("powell", {"population_size": 5}, "Powell has no population"),
        ("differential-evolution", {"pop": 5}, "did you mean 'popsize'"),
        ("differential-evolution", {"lower": 6}, r"box \[6, 5.0\]"),
    ],
)
def test_bad_settings_are_refused(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(name, np.zeros(2), **settings)
