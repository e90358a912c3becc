"""The solvers of cmaes behind the adapter: the library's own runs, point by point."""

import math
import pickle
from types import SimpleNamespace
from typing import Any

import cmaes
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers import registry
from casmore.solvers.cmaes import CmaesSolver, library_seed

Array = NDArray[np.float64]
CLASSES = {
    "cmaes": (cmaes.CMA, {}),
    "sep-cma": (cmaes.SepCMA, {}),
    "lra-cma": (cmaes.CMA, {"lr_adapt": True}),
    "dx-nes-ic": (cmaes.DXNESIC, {}),
}


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 3, X.shape[1])
    return values


def make(name: str, x0: Any = (2.0, 2.0, 2.0), **arguments: Any) -> CmaesSolver:
    given = {"population_size": None, "seed": 9, "target": None, **arguments}
    solver = registry.factory(name)(np.array(x0), 1.0, **given)
    assert isinstance(solver, CmaesSolver)
    return solver


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("population_size", [None, 9])
def test_it_runs_as_the_library_runs_itself(
    name: str, population_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the square root of an array of one element, which NumPy 2.4 refuses
    scalar = {**vars(math), "sqrt": lambda x: math.sqrt(np.asarray(x).item())}
    monkeypatch.setattr("cmaes._dxnesic.math", SimpleNamespace(**scalar))
    ours = make(name, population_size=population_size)
    kind, settings = CLASSES[name]
    theirs = kind(
        mean=np.full(3, 2.0),
        sigma=1.0,
        seed=library_seed(9),
        population_size=population_size,
        **settings,
    )
    for _ in range(80):
        X = ours.ask()
        points = np.array([theirs.ask() for _ in range(theirs.population_size)])
        assert np.array_equal(X, points)
        ours.tell(X, ellipsoid(X))
        theirs.tell(list(zip(points, ellipsoid(points).tolist(), strict=True)))
        assert bool(ours.stop()) == theirs.should_stop()
    assert np.array_equal(ours.mean, theirs._mean)


@pytest.mark.parametrize("name", CLASSES)
def test_its_distribution_is_what_it_samples(name: str) -> None:
    solver = make(name)
    for _ in range(15):
        X = solver.ask()
        solver.tell(X, ellipsoid(X))
    white = solver.distribution.whiten(pickle.loads(pickle.dumps(solver)).ask(20_000))
    assert np.abs(white.mean(axis=0)).max() < 0.05  # of a standard error of 0.007
    assert np.abs(white.T @ white / len(white) - np.eye(3)).max() < 0.06


@pytest.mark.parametrize("name", CLASSES)
def test_it_stops_when_the_library_says_so_and_names_the_reason(name: str) -> None:
    solver = make(name)
    while not solver.stop():
        X = solver.ask()
        solver.tell(X, np.ones(len(X)))
        assert solver.iterations < 1000
    assert set(solver.stop()) <= {StopReason.NO_PROGRESS, StopReason.CONDITION}
    diverging = make(name)
    while not diverging.stop():
        X = diverging.ask()
        diverging.tell(X, X[:, 0])
        assert diverging.iterations < 5000
    assert set(diverging.stop()) & {StopReason.STEP_TOO_LARGE, StopReason.CONDITION}


@pytest.mark.parametrize("name", CLASSES)
def test_values_that_are_not_finite_end_no_run(name: str) -> None:
    solver = make(name, target=1e-8)
    while not solver.stop() and solver.evaluations < 5000:
        X = solver.ask()
        y = ellipsoid(X)
        y[X[:, 0] > 2.5] = np.nan
        y[X[:, 1] > 2.5] = np.inf
        solver.tell(X, y)
    assert StopReason.TARGET in solver.stop()


def test_a_point_that_the_library_refuses_ends_the_run() -> None:
    solver = make("cmaes")
    X = solver.ask()
    X[0] = 1e33
    solver.tell(X, ellipsoid(X / 1e33))
    assert StopReason.UPDATE_FAILED in solver.stop()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("dx-nes-ic", {"x0": [1.0]}, "at least two dimensions"),
        ("sep-cma", {"x0": [1.0]}, "at least two dimensions"),
        ("cmaes", {"x0": [1e32, 0.0]}, "smaller than 1e\\+32"),
        ("cmaes", {"population_size": 3}, "at least 4, not 3"),
        ("cmaes", {"lr_adapt": "yes"}, "lr_adapt = 'yes' must be True or False"),
        ("sep-cma", {"lr_adapt": True}, "SepCMA of cmaes has no setting 'lr_adapt'"),
        ("lra-cma", {"bounds": 1}, "CMA of cmaes has no setting 'bounds'"),
    ],
)
def test_what_the_library_does_not_support_is_refused(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(name, **arguments)


def test_all_kinds_of_seeds_give_a_seed_of_the_library() -> None:
    seeds = [library_seed(s) for s in (1, np.random.SeedSequence(1), np.random.default_rng(1))]
    assert seeds[0] == seeds[1] == seeds[2]
    assert library_seed(2) != seeds[0]
    assert 0 <= seeds[0] < 2**32
