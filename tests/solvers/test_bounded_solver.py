"""The solver in a search space keeps the contract and its bounds, by ask and tell."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import casmore
from casmore.solvers.bounded_solver import BoundedSolver
from casmore.solvers.conformance import check_solver
from casmore.solvers.random_search import RandomSearch


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bounds": [(-1, 4), (None, 2.5), (0, None)]},
        {"bounds": [(-1, 4), (1.5, 1.5), (0, None)]},
    ],
)
def test_it_keeps_the_contract(settings: dict[str, Any]) -> None:
    def factory(x0: Any, sigma0: float, **arguments: Any) -> BoundedSolver:
        bounds = settings.get("bounds", [(-1, 4)])
        # the suite asks for other dimensions, too
        more: dict[str, Any] = (
            {"bounds": [bounds[i % len(bounds)] for i in range(len(x0))]} if settings else {}
        )
        return BoundedSolver(casmore.CasMore, x0, sigma0, **more, **arguments)

    assert [f.message for f in check_solver(factory) if f.broken] == []


def test_it_runs_as_fmin_does() -> None:
    def f(x: Any) -> float:
        return float(((x - 1.2) ** 2).sum())

    call: dict[str, Any] = {"bounds": [(-1, 1), (0, 3), (None, 1)], "seed": 4}
    # fmin hands a seed of its own to each restart
    seed = np.random.default_rng(4).spawn(1)[0]
    solver = casmore.BoundedSolver(casmore.CasMore, [0.5] * 3, 0.4, **{**call, "seed": seed})
    while solver.evaluations < 140:
        for x in solver.ask():
            solver.tell([x], [f(x)])
    result = casmore.fmin(f, [0.5] * 3, 0.4, **call, budget=140)
    assert (solver.best_x == result.x).all()
    assert (solver.mean == result.mean).all()


def test_any_solver_will_do() -> None:
    solver = BoundedSolver(
        partial(RandomSearch, lower=-9, upper=9), [0.0, 0.0], 0.3, bounds=[(-1, 1)] * 2, seed=1
    )
    X = solver.ask()
    assert np.abs(X).max() <= 1
    solver.tell(X, X.sum(axis=1))
    assert solver.best_y == X.sum(axis=1).min()


def test_points_outside_count_as_the_nearest_inside() -> None:
    solver = BoundedSolver(
        casmore.CasMore, [0.5] * 3, 0.3, bounds=[(0, 1)] * 3, fixed={2: 0.25}, seed=1
    )
    solver.tell([[5.0, 0.5, 7.0]], [-10.0])
    assert solver.best_x.tolist() == [1.0, 0.5, 0.25]
    assert solver.best_y == -10
