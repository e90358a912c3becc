"""The test of additivity on functions whose structure is known."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.additivity import AdditivityTest

Array = NDArray[np.float64]


def passes(f: object, n: int, seed: int, offset: float = 0.0) -> bool:
    rng = np.random.default_rng(seed)
    test = AdditivityTest(rng.uniform(-1, 1, n), rng.choice([-2.5, 2.5], n), rng)
    assert callable(f)
    first, single = (np.array([f(x) for x in X]) + offset for X in (test.first, test.single))
    return test.is_additive(first, single)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
def test_sums_over_coordinates_are_additive(n: int) -> None:
    scales = np.logspace(0, 6, n)
    for seed in range(10):
        assert passes(lambda x: (scales * np.abs(x) ** 1.5 + np.cos(3 * x)).sum(), n, seed)
        assert passes(lambda x: np.exp(x).sum(), n, seed, offset=1e5)


def test_a_coupling_of_any_two_coordinates_is_noticed() -> None:
    """Also within a half, where the first four points show nothing."""
    unnoticed_at_first = 0
    for i, j in itertools.combinations(range(5), 2):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            test = AdditivityTest(np.zeros(5), np.full(5, 2.5), rng)

            def f(x: Array, i: int = i, j: int = j) -> float:
                return float((x**2).sum() + 1e-3 * x[i] * x[j])

            first, single = (np.array([f(x) for x in X]) for X in (test.first, test.single))
            unnoticed_at_first += test.may_be_additive(first)
            assert not test.is_additive(first, single)
    assert 0 < unnoticed_at_first < 100


def test_noise_missing_values_and_a_plateau_are_not_additive() -> None:
    rng = np.random.default_rng(3)
    assert not passes(lambda x: (x**2).sum() + 1e-6 * rng.standard_normal(), 4, 1)
    assert not passes(lambda x: np.nan, 4, 1)
    assert not passes(lambda x: np.inf if x[0] > 0 else 0.0, 4, 1)
    assert not passes(lambda x: 7.0, 4, 1)


@pytest.mark.parametrize("n", [2, 10])
def test_of_the_bbob_functions_the_separable_ones_are_additive(n: int) -> None:
    cocoex = pytest.importorskip("cocoex", reason="the library's tests run without COCO as well")
    suite = cocoex.Suite("bbob", "instances:1-3", f"dimensions:{n}")
    rng = np.random.default_rng(7)
    for problem in suite:
        test = AdditivityTest(np.zeros(n), rng.choice([-2.5, 2.5], n), rng)
        first, single = ([problem(x) for x in X] for X in (test.first, test.single))
        found = test.is_additive(np.array(first), np.array(single))
        assert found == (problem.id_function <= 5), problem.id
        problem.free()
