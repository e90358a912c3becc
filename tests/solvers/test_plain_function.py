"""Optimizers that are plain functions run as solvers, without a bridge to write."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers import plain_function, registry
from casmore.solvers.conformance import check_solver
from casmore.solvers.plain_function import PlainFunction
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart

Array = NDArray[np.float64]


def random_walk(
    f: Callable[[Array], float],
    x0: Array,
    budget: int,
    rng: np.random.Generator,
    step: float = 1.0,
) -> Array:
    """Accept what is better; the budget is the function's own business."""
    x, y = x0, f(x0)
    for _ in range(budget - 1):
        candidate = x + step * rng.standard_normal(len(x))
        if (value := f(candidate)) < y:
            x, y = candidate, value
    return x


def gives_up(f: Callable[[Array], float], x0: Array, budget: int, rng: Any) -> None:
    """End after 5 evaluations."""
    for _ in range(5):
        f(x0 + rng.standard_normal(len(x0)))


def sphere(x: Array) -> float:
    return float(x @ x)


def test_the_function_sees_the_start_the_budget_and_seeded_randomness() -> None:
    seen: list[Any] = []

    def look(f: Any, x0: Array, budget: int, rng: np.random.Generator) -> None:
        seen.append((x0.tolist(), budget, rng.random(), f(x0)))

    for budget, expected in ((None, 30_000), (60, 60)):
        solver = PlainFunction(look, budget)([1.0, 2.0, 3.0], 0.5, seed=7)
        solver.run_through(lambda X: np.array([sphere(x) for x in X]))
        assert seen[-1] == ([1.0, 2.0, 3.0], expected, np.random.default_rng(7).random(), 14.0)


def test_asked_and_told_it_is_the_function_called_directly() -> None:
    asked: list[Array] = []

    def noted(x: Array) -> float:
        asked.append(np.array(x))
        return sphere(x)

    random_walk(noted, np.ones(2), 50, np.random.default_rng(3), step=0.3)
    solver = PlainFunction(random_walk, 50)(np.ones(2), 1.0, seed=3, step=0.3)
    told: list[Array] = []
    while not solver.stop():
        X = solver.ask()
        told.extend(X)
        solver.tell(X, [sphere(x) for x in X])
        solver = pickle.loads(pickle.dumps(solver)) if len(told) == 20 else solver
    np.testing.assert_array_equal(told, asked)
    assert solver.best_y == min(map(sphere, asked))


def test_what_ends_early_is_restarted() -> None:
    solver = Restarting(
        PlainFunction(gives_up, 40),
        UniformStart(2, -4.0, 4.0),
        2.0,
        policy=RestartPolicy.IPOP,
        population_size=None,
        seed=np.random.SeedSequence(1),
        target=None,
        settings={},
    )
    for _ in range(40):
        X = solver.ask()
        solver.tell(X, np.array([sphere(x) for x in X]))
    assert solver.restarts == 7


def test_it_keeps_the_contract() -> None:
    findings = check_solver(PlainFunction(random_walk))
    assert [str(finding) for finding in findings if finding.broken] == []


class Class:
    def __init__(self, x0: Any, sigma0: float, *, population_size: Any, seed: Any, target: Any):
        pass


class NeedsSetting(Class):
    def __init__(self, *arguments: Any, size: int, **others: Any):
        super().__init__(*arguments, **others)


def many(f: Any, x0: Any, budget: Any, rng: Any, more: Any) -> None: ...


def test_a_factory_is_told_from_a_plain_function() -> None:
    for solver in (Class, NeedsSetting):
        made: object = plain_function.adapt(solver, "m:Class")
        assert made is solver
    assert isinstance(plain_function.adapt(random_walk, "m:f"), PlainFunction)
    ours = registry.factory("cma")
    assert plain_function.with_budget(ours, 5) is ours
    for wrong in (many, Class.__init__, "text"):
        with pytest.raises(TypeError, match=r"m:x is no solver.*sigma0.*f, x0, budget, rng"):
            plain_function.adapt(wrong, "m:x")


def test_the_registry_finds_both() -> None:
    name = f"{__name__}:random_walk"
    factory = registry.factory(name)
    assert isinstance(factory, PlainFunction)
    assert factory.function is random_walk
    found: object = registry.factory(f"{__name__}:Class")
    assert found is Class
    with pytest.raises(registry.UnknownSolverError, match=r"many.* is no solver"):
        registry.factory(f"{__name__}:many")


def test_a_function_that_never_calls_f_is_refused() -> None:
    def idle(f: Any, x0: Array, budget: int, rng: Any) -> Array:
        return x0

    with pytest.raises(RuntimeError, match="idle has returned without calling f once"):
        PlainFunction(idle)(np.ones(2), 1.0).run_through(lambda X: None)


def test_an_error_that_only_ends_the_run_is_a_warning() -> None:
    def breaks(f: Any, x0: Array, budget: int, rng: Any) -> None:
        f(x0)
        f(x0)
        raise ValueError("shapes (3,) and (2,) differ")

    solver = PlainFunction(breaks)(np.ones(2), 1.0)
    with pytest.warns(UserWarning, match=r"breaks raised ValueError: shapes \(3,\) and \(2,\)"):
        solver.run_through(lambda X: np.sum(X**2, axis=1))
    assert solver.stop() == {StopReason.UPDATE_FAILED: 2.0}
