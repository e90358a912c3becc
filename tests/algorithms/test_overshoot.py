"""When the surrogate of lean CAS-MORE counts as misleading, and what follows from it."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.lean_cas_more import LeanCasMore, LeanCasMoreParameters
from casmore.algorithms.overshoot import Overshoot
from casmore.problems.analytic import AnalyticFunction, AttractiveSector, Rosenbrock

Array = NDArray[np.float64]

LIMIT = LeanCasMoreParameters.overshoot_limit  # the default


def test_the_average_is_that_of_the_logarithms() -> None:
    overshoot = Overshoot(0.5)
    for ratio in (3.0, 0.1, 20.0):
        overshoot.observe(1 + 2 * ratio, np.array([3.0, 1.0, 2.0]))
    expected = 0.1 * math.log10(20) + 0.1 * 0.9**2 * math.log10(3)  # 0.1 does not overshoot
    assert overshoot.average == pytest.approx(expected)
    for value in (math.inf, -math.inf, math.nan):  # say nothing about by how much
        overshoot.observe(value, np.array([1.0, 2.0]))
        overshoot.observe(1.0, np.array([1.0, value]))
    overshoot.observe(1.0, np.array([1.0, 1.0]))
    assert overshoot.average == pytest.approx(expected)


def test_one_iteration_counts_for_at_most_a_factor_of_100() -> None:
    overshoot = Overshoot(0.5)
    overshoot.observe(1e300, np.array([0.0, 1e-10]))
    assert overshoot.average == pytest.approx(0.1 * 2)
    overshoot.observe(-1e300, np.array([0.0, 1e-10]))
    assert overshoot.average == pytest.approx(0.9 * 0.1 * 2)


def test_bad_predictions_and_overshoot_together_are_misleading() -> None:
    overshoot = Overshoot(0.7)
    overshoot.average = 0.8
    overshoot.judge(0.4)
    assert not overshoot.is_misleading
    overshoot.judge(0.3)
    assert overshoot.is_misleading
    overshoot.judge(0.6)
    assert overshoot.is_misleading  # until predictions are good
    overshoot.judge(0.61)
    assert not overshoot.is_misleading
    overshoot.judge(0.3)  # and overshoots count anew
    assert not overshoot.is_misleading


def run(f: AnalyticFunction, limit: float, seed: int) -> LeanCasMore:
    start = np.random.default_rng(seed).uniform(-4, 4, f.dimension)
    solver = LeanCasMore(start, 2.0, seed=seed, target=1e-8, overshoot_limit=limit)
    while not solver.stop() and solver.evaluations < 30_000:
        X = solver.ask()
        solver.tell(X, f.batch(X))
    assert solver.best_y <= 1e-8
    return solver


def test_an_asymmetric_function_takes_fewer_evaluations() -> None:
    f = AttractiveSector(10, instance=7)
    with_limit, without = (
        [run(f, limit, seed).evaluations for seed in range(2)] for limit in (LIMIT, math.inf)
    )
    assert np.mean(with_limit) < 0.75 * np.mean(without)


def test_the_sides_are_noticed_whatever_the_order_of_the_samples() -> None:
    f = AttractiveSector(10)
    solver = LeanCasMore(np.full(10, 2.0), 2.0, seed=1)
    while not solver.overshoot.is_misleading:
        assert solver.evaluations < 3000
        X = solver.ask()[::-1]
        solver.tell(X, f.batch(X))


def test_a_surrogate_that_predicts_well_is_kept() -> None:
    f = Rosenbrock(5)
    with_limit, without = (run(f, limit, 1) for limit in (LIMIT, math.inf))
    assert with_limit.evaluations == without.evaluations
    assert (with_limit.mean == without.mean).all()
