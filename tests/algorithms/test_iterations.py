"""An iteration is K new samples, however they arrive."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.more import More
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.xnes import Xnes

Array = NDArray[np.float64]
ALGORITHMS: list[Callable[..., Any]] = [
    CasMore,
    partial(CasMore, richest_model="diagonal"),
    LeanCasMore,
    More,
    Xnes,
    partial(Xnes, adaptation_sampling=True),
]
every_algorithm = pytest.mark.parametrize(
    "make", ALGORITHMS, ids=["cas-more", "diagonal", "lean", "more", "xnes", "xnes-as"]
)


def ellipsoid(X: Array) -> Array:
    # not a matrix product, whose rounding depends on the number of points
    values: Array = ((X - 1) ** 2 * 10.0 ** np.arange(X.shape[1])).sum(axis=1)
    return values


def recorded(make: Callable[..., Any], iterations: int) -> tuple[Any, Array, Array]:
    """Return a solver run by populations, and all that it was told."""
    solver = make(np.zeros(3), 0.5, seed=1)
    told = []
    for _ in range(iterations):
        X = solver.ask()
        solver.tell(X, ellipsoid(X))
        told.append(X)
    X = np.concatenate(told)
    return solver, X, ellipsoid(X)


def assert_same(a: Any, b: Any) -> None:
    assert a.iterations == b.iterations
    assert a.evaluations == b.evaluations
    assert (a.mean == b.mean).all()
    assert (a.distribution.factor == b.distribution.factor).all()
    assert a.best_y == b.best_y
    assert (a.best_x == b.best_x).all()


@every_algorithm
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_split_of_the_samples_gives_the_same_run(
    make: Callable[..., Any], data: st.DataObject
) -> None:
    whole, X, y = recorded(make, 12)
    cuts = data.draw(st.lists(st.integers(0, len(y)), max_size=20))
    parts = make(np.zeros(3), 0.5, seed=1)
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(y)], strict=True):
        if data.draw(st.booleans()):
            parts = pickle.loads(pickle.dumps(parts))
        parts.tell(X[start:end], y[start:end])
    assert_same(parts, whole)


@every_algorithm
def test_within_a_population_the_order_of_the_samples_does_not_matter(
    make: Callable[..., Any],
) -> None:
    """If a queue holds whole populations; of a part, the first ones told leave it first."""
    K = make(np.zeros(3), 0.5).population_size
    queue = {"queue_size": 5 * K} if hasattr(make(np.zeros(3), 0.5), "queue") else {}
    in_order = make(np.zeros(3), 0.5, seed=1, **queue)
    shuffled = make(np.zeros(3), 0.5, seed=1, **queue)
    for i in range(15):
        X = in_order.ask()
        order = np.random.default_rng(i).permutation(len(X))
        in_order.tell(X, ellipsoid(X))
        for j in order:
            shuffled.tell(X[[j]], ellipsoid(X[[j]]))
    assert shuffled.mean == pytest.approx(in_order.mean, rel=1e-6, abs=1e-8)
    assert shuffled.distribution.covariance == pytest.approx(
        in_order.distribution.covariance, rel=1e-6, abs=1e-12
    )


@every_algorithm
def test_points_told_one_at_a_time_are_no_population_each(make: Callable[..., Any]) -> None:
    solver = make(np.zeros(3), 0.5, seed=1)
    X = solver.ask()
    for x in X[:-1]:
        solver.tell([x], ellipsoid(x[np.newaxis]))
    assert solver.iterations == 0
    assert solver.evaluations == len(X) - 1
    assert (solver.mean == 0).all()
    solver.tell(X[-1:], ellipsoid(X[-1:]))
    assert solver.iterations == 1


@every_algorithm
@pytest.mark.parametrize(("under_way", "ratio"), [(1, 1.1), (4, 1.8), (16, 3.0)])
def test_steady_state_with_points_under_way(
    make: Callable[..., Any], under_way: int, ratio: float
) -> None:
    """The bounds are above what `benchmarks/steady_state.py` has measured."""
    batches = make(np.zeros(4), 0.5, seed=1, target=1e-8)
    while not batches.stop():
        X = batches.ask()
        batches.tell(X, ellipsoid(X))
    rng = np.random.default_rng(1)
    solver = make(np.zeros(4), 0.5, seed=1, target=1e-8)
    points = solver.ask(under_way)
    while not solver.stop() and solver.evaluations < 20_000:
        back = [rng.integers(under_way)]
        solver.tell(points[back], ellipsoid(points[back]))
        points[back] = solver.ask(1)
    assert StopReason.TARGET in solver.stop()
    assert solver.evaluations <= ratio * batches.evaluations + 20


@every_algorithm
def test_other_points_among_the_own_are_used_and_do_no_harm(make: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    solver = make(np.zeros(3), 0.5, seed=1, target=1e-8)
    while not solver.stop() and solver.evaluations < 20_000:
        for x in solver.ask():
            other = solver.mean + 0.3 * rng.standard_normal(3) * solver.distribution.deviations()
            points = np.array([x, other]) if rng.random() < 0.3 else x[np.newaxis]
            solver.tell(points, ellipsoid(points))
    assert StopReason.TARGET in solver.stop()


def test_the_target_is_noticed_before_a_population_is_complete() -> None:
    solver = CasMore(np.zeros(3), 0.5, seed=1, target=0.0)
    solver.tell(np.ones((1, 3)), [0.0])
    assert StopReason.TARGET in solver.stop()


@every_algorithm
def test_a_reason_to_stop_outlasts_late_points(make: Callable[..., Any]) -> None:
    solver = make(np.zeros(3), 0.5, seed=1, tolerance_f=1e9)
    while not solver.stop():
        X = solver.ask()
        solver.tell(X, ellipsoid(X))
    solver.tell(X[:1], ellipsoid(X[:1]))
    assert StopReason.NO_PROGRESS in solver.stop()


def test_no_progress_counts_iterations_not_tells() -> None:
    """10 + 30 n / K iterations of equal values end a run."""
    solver = CasMore(np.zeros(3), 0.5, seed=1)
    while not solver.stop():
        for x in solver.ask():
            solver.tell([x], [1.0])
    K = solver.population_size
    assert solver.evaluations == K * (10 + -(-90 // K))


@every_algorithm
def test_what_was_told_is_the_callers_again(make: Callable[..., Any]) -> None:
    """An array may be used anew after it was told, and a point after it was asked for."""
    plain, reused = make(np.zeros(3), 0.5, seed=1), make(np.zeros(3), 0.5, seed=1)
    buffer = np.empty((1, 3))
    for _ in range(8):
        X, V = plain.ask(), reused.ask()
        plain.tell(X, ellipsoid(X))
        for x in V:
            buffer[0] = x
            reused.tell(buffer, ellipsoid(buffer))
            buffer[:] = 1e3
        V[:] = 1e3
    assert_same(reused, plain)


def test_the_lean_variant_hands_its_models_optimum_out_once() -> None:
    solver = LeanCasMore(np.zeros(3), 0.5, seed=1)
    for _ in range(8):
        X = solver.ask()
        solver.tell(X, ellipsoid(X) + np.abs(X).sum(axis=1))
    points = np.concatenate([solver.ask(1), solver.ask(), solver.ask(2)])
    assert len(np.unique(points, axis=0)) == len(points)
    other = LeanCasMore(np.zeros(3), 0.5, seed=2)
    assert len(other.ask(0)) == 0
