"""`minimize`, which chooses by itself: its defaults, bounds, results and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.optimize import Bounds, rosen

import casmore

Array = NDArray[np.float64]
LARGEST = float(np.finfo(float).max)


def ripples(x: Array) -> float:
    """Many minima, not additive; the best one is at 1.5."""
    z = x - 1.5
    return float(z @ z + z.sum() ** 2 + 2 * (1 - np.cos(4 * z)).sum())


def test_bounds_alone_are_enough() -> None:
    result = casmore.minimize(ripples, [(-5, 5)] * 3, seed=1, target=1e-8)
    assert result.success
    assert result.message == "target reached"
    assert result.x == pytest.approx(np.full(3, 1.5), abs=1e-3)


def test_scales_and_bounds_may_differ_by_orders_of_magnitude() -> None:
    scale = np.array([1e-3, 1.0, 1e6])
    seen: list[Array] = []

    def f(x: Array) -> float:
        seen.append(x)
        return ripples(x / scale)

    bounds = Bounds(-5 * scale, 4 * scale)
    result = casmore.minimize(f, bounds, seed=2, target=1e-8)
    assert result.success
    assert result.x / scale == pytest.approx(np.full(3, 1.5), abs=1e-3)
    X = np.array(seen)
    assert ((X >= bounds.lb) & (X <= bounds.ub)).all()
    assert (X[0] == -0.5 * scale).all()  # the center


def test_a_minimum_at_the_bounds_is_found_exactly() -> None:
    slopes = np.array([1.0, -2.0, 30.0])
    result = casmore.minimize(lambda x: float(slopes @ x), [(-1, 2)] * 3, seed=1, budget=100)
    assert (result.x == [-1, 2, -1]).all()


@pytest.mark.filterwarnings("error")
def test_the_center_of_bounds_near_the_largest_double_is_finite() -> None:
    result = casmore.minimize(lambda x: 0.0, [(1.2e308, 1.6e308)] * 2, seed=1, budget=1)
    assert result.x == pytest.approx(np.full(2, 1.4e308))


@pytest.mark.filterwarnings("error")
def test_sums_of_values_near_the_largest_double_do_not_overflow() -> None:
    def f(x: Array) -> float:
        return float(0.55 * LARGEST * np.tanh(x).sum())

    result = casmore.minimize(f, [(-1.0, 1.5)] * 2, seed=1, budget=400)
    assert result.fun == pytest.approx(-1.1 * np.tanh(1) * LARGEST, rel=1e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("penalty", [LARGEST, np.inf, np.nan])
def test_a_penalty_may_be_the_largest_double(penalty: float) -> None:
    def f(x: Array) -> float:
        return penalty if x[0] < -0.5 else float(np.square(x - 0.3).sum())

    result = casmore.minimize(f, [(-1.0, 1.5)] * 3, seed=1, target=1e-12, budget=2000)
    assert result.success
    assert result.x == pytest.approx(np.full(3, 0.3), abs=1e-5)


def test_without_bounds_it_starts_at_x0() -> None:
    seen: list[Array] = []

    def f(x: Array) -> float:
        seen.append(x)
        return float(rosen(x))

    result = casmore.minimize(f, x0=[-1.0, 2.0, 0.5], sigma0=0.5, seed=3, target=1e-9)
    assert result.success
    assert seen[0].tolist() == [-1.0, 2.0, 0.5]
    assert result.x == pytest.approx(np.ones(3), abs=1e-3)


def test_a_bound_on_one_side_and_a_fixed_coordinate() -> None:
    result = casmore.minimize(
        lambda x: float(((x - [3.0, 0.0, 7.0]) ** 2).sum() + x[0] * x[2]),
        [(None, 1.0), (-1.0, None), (2.0, 2.0)],
        x0=[0.5, 0.3, 2.0],
        sigma0=0.5,
        seed=1,
        budget=400,
    )
    # with x2 = 2 the first coordinate wants 2, beyond its bound
    assert result.x == pytest.approx([1.0, 0.0, 2.0], abs=1e-6)


def test_the_result_is_that_of_fmin() -> None:
    ours = casmore.minimize(ripples, [(-5, 5)] * 2, seed=1, budget=600)
    fmin = casmore.fmin(ripples, [0, 0], 2.0, seed=1, budget=60)
    assert set(ours) == set(fmin)
    assert ours.nfev == 600
    assert ours.success == (ours.restarts > 0)
    assert ours.cov.shape == (2, 2)
    # before the first run of the Gaussian search there is a result as well
    early = casmore.minimize(ripples, [(-5, 5)] * 2, seed=1, budget=3)
    assert (early.nfev, early.success, early.fun < np.inf) == (3, False, True)


def test_a_checkpoint_and_a_pool_give_the_run_of_one_process(tmp_path: Path) -> None:
    def run(**changes: Any) -> tuple[list[float], float]:
        result = casmore.minimize(ripples, [(-5, 5)] * 2, seed=5, **{"budget": 300, **changes})
        return result.x.tolist(), result.fun

    whole = run()
    for budget in (7, 30, 300):
        resumed = run(checkpoint=tmp_path / "run", budget=budget)
    # SLSQP was rewritten in SciPy 1.16; with 1.9 a repeated run differs in its last digits
    exact = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 16)
    for x, value in (resumed, run(workers=map)):
        np.testing.assert_allclose(x, whole[0], rtol=0, atol=0 if exact else 1e-9)
        assert value == pytest.approx(whole[1], rel=0, abs=0 if exact else 1e-15)
    with pytest.raises(ValueError, match="belongs to a call with method = auto, not cas-more"):
        casmore.fmin(ripples, [0, 0], 2.0, bounds=[(-5, 5)] * 2, checkpoint=tmp_path / "run")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_function_without_values_is_no_success(value: float) -> None:
    result = casmore.minimize(lambda x: value, [(-5, 5)] * 2, budget=3000, seed=1)
    assert result.restarts > 0
    assert not result.success


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give bounds, or x0 and sigma0"),
        ({"x0": [1.0, 2.0]}, "sigma0 is missing: coordinate 0 has no two finite bounds"),
        ({"bounds": [(0, 1), (0, None)]}, "x0 is missing: coordinate 1 has no two finite bounds"),
        ({"bounds": [(0, 1)] * 2, "x0": [0.5, 1.5]}, r"x0\[1\] = 1.5 is outside of its bounds"),
        ({"bounds": 3}, r"bounds must be pairs \(lower, upper\), .* not 3"),
        ({"bounds": []}, "x0 must be a vector of at least one number"),
        ({"bounds": [(0, 1)], "budget": 0}, "budget must be at least 1, not 0"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        casmore.minimize(lambda x: 0.0, **arguments)
