"""One-dimensional searches against closed forms, a fine grid, and a root finder."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from casmore.algorithms.univariate_search import UnivariateSearch


def run(search: UnivariateSearch, f: Callable[[float], float], samples: int) -> float:
    """Return the best value of so many samples."""
    for _ in range(samples):
        t = search.propose()
        if t is None:
            break
        search.add(t, f(t))
    return min(search.values)


def rippled(t: float) -> float:
    return (t - 1.3) ** 2 + 10 * (1 - math.cos(2 * math.pi * (t - 1.3))) + 0.3 * abs(t - 1.3)


def test_three_samples_of_a_parabola_give_its_minimum() -> None:
    search = UnivariateSearch(-5.0, 5.0, 0.0, 2.5)
    for t in (0.0, 2.5, -2.5):
        search.add(t, 3 * (t - 1.7) ** 2 + 4)
    found = search.parabola()
    assert found is not None
    assert found == pytest.approx((1.7, 3 * (2.5 - 1.7) ** 2), rel=1e-12)


def test_the_minimum_of_a_concave_or_linear_function_is_no_vertex() -> None:
    functions: list[Callable[[float], float]] = [
        lambda t: -(t**2),
        lambda t: 2 * t,
        lambda t: math.inf if t < 0 else t,
    ]
    for f in functions:
        search = UnivariateSearch(-5.0, 5.0, 0.0, 2.5)
        for t in (0.0, 2.5, -2.5):
            search.add(t, f(t))
        assert search.parabola() is None


@pytest.mark.parametrize("first", [-4.2, 0.0, 3.1])
def test_the_best_of_many_minima_is_found_exactly(first: float) -> None:
    grid = min(map(rippled, np.linspace(-5, 5, 100_001)))
    assert run(UnivariateSearch(-5.0, 5.0, first, 2.5), rippled, 100) <= grid + 1e-9


def test_a_smooth_minimum_takes_about_as_many_samples_as_brent_s_method() -> None:
    def f(t: float) -> float:
        return math.cosh(t - 0.7) + 0.1 * (t - 0.7) ** 3

    theirs = minimize_scalar(f, bounds=(-5, 5), method="bounded", options={"xatol": 1e-6})
    ours = run(UnivariateSearch(-5.0, 5.0, 0.0, 2.5), f, 2 * theirs.nfev)
    assert ours <= theirs.fun + 1e-12


def test_step_halves_the_interval_that_needs_the_least_curvature() -> None:
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(-5, 5, 12))
    values = rng.uniform(1, 9, 12)
    values[6] = values[5] = values[7] = 9.0  # the best sample is none of them: no parabola there
    values[0] = 0.5  # at an end: nothing to interpolate
    search = UnivariateSearch(t[0], t[-1], t[0], 0.1, limits=(t[0], t[-1]))
    for place, value in zip(t, values, strict=True):
        search.add(float(place), float(value))
    level = values.min() - 1e-3 * np.ptp(values)

    def curvature(i: int) -> float:
        """Of the parabola through samples i and i + 1 with this level as its minimum."""
        (a, b), (u, v) = t[i : i + 2], values[i : i + 2] - level
        touch = brentq(lambda m: u * (b - m) ** 2 - v * (m - a) ** 2, a, b, xtol=1e-14)
        return float(u / (touch - a) ** 2)

    flattest = min(range(11), key=curvature)
    assert run_to_step(search) == pytest.approx(t[flattest : flattest + 2].mean(), abs=1e-12)


def run_to_step(search: UnivariateSearch) -> float:
    """Return the first proposal after the planned samples, which are known already."""
    search._planned.clear()
    t = search.propose()
    assert t is not None
    return t


def test_the_search_extends_beyond_the_interval_up_to_the_limits() -> None:
    def far(t: float) -> float:
        return (t - 37.0) ** 2

    assert run(UnivariateSearch(-1.0, 1.0, 0.0, 0.5), far, 30) < 1e-9
    limited = UnivariateSearch(-1.0, 1.0, 0.0, 0.5, limits=(-2.0, 20.0))
    assert run(limited, far, 60) == far(20.0)
    assert max(limited.t) == 20.0


def test_all_samples_are_within_the_limits_and_differ() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        search = UnivariateSearch(-3.0, 2.0, -0.5, 1.25, limits=(-3.0, 2.0))
        for _ in range(80):
            t = search.propose()
            assert t is not None
            assert -3.0 <= t <= 2.0
            assert search.value(t) is None
            search.add(t, float(rng.choice([rng.standard_normal(), math.inf])))


def test_without_an_interval_to_divide_there_is_no_sample() -> None:
    """Between 1 and the eighth next number there are nine numbers."""
    last = 1 + 8 * math.ulp(1.0)
    search = UnivariateSearch(1.0, last, 1.0, 2 * math.ulp(1.0), limits=(1.0, last))
    assert run(search, lambda t: abs(t - 1 - 3 * math.ulp(1.0)), 20) == 0.0
    assert search.propose() is None
    assert len(search.t) == 9
