"""Bounds, scales and fixed coordinates in fmin: found where they should be, never left."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize, rosen

import casmore

Array = NDArray[np.float64]


class Watched:
    """A function that refuses points outside of a box."""

    def __init__(self, f: Any, lower: Any, upper: Any) -> None:
        self.f, self.lower, self.upper = f, np.asarray(lower), np.asarray(upper)

    def __call__(self, x: Array) -> float:
        assert (x >= self.lower).all()
        assert (x <= self.upper).all()
        return float(self.f(x))


def ellipsoid(x: Array) -> float:
    return float(np.logspace(0, 4, len(x)) @ x**2)


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize(
    ("f", "lower", "upper"),
    [
        (ellipsoid, [-1.0] * 4, [1.0] * 4),  # far inside
        (ellipsoid, [0.5, -1, -1, 0.25], [1.0] * 4),  # on two bounds
        (ellipsoid, [0.5] * 4, [1.5] * 4),  # in a corner
        (rosen, [-2.0] * 4, [0.7, 0.4, 2.0, 2.0]),
        (lambda x: x.sum(), [-1.0] * 4, [3.0] * 4),  # a slope that ends in a corner
        (rosen, [-math.inf, 0.0, 0.0, 1.2], [math.inf] * 4),
    ],
)
def test_the_optimum_of_a_box_is_found(f: Any, lower: Any, upper: Any, lean: bool) -> None:
    box = list(zip(lower, upper, strict=True))
    start = np.clip(0.3, lower, np.minimum(upper, 5.0))
    truth = min(
        (minimize(f, np.clip(s, lower, upper), method="L-BFGS-B", bounds=box, tol=1e-14)
         for s in (start, np.full(4, 0.9), np.full(4, -0.5))),
        key=lambda result: result.fun,
    )  # fmt: skip
    result = casmore.fmin(
        Watched(f, lower, upper), start, 0.2, bounds=box, seed=2, budget=20_000, lean=lean,
        target=truth.fun + 1e-6,
    )  # fmt: skip
    assert result.success, result.fun - truth.fun
    assert np.isfinite(result.cov).all()
    assert ((result.mean >= lower) & (result.mean <= upper)).all()


def test_restarts_stay_inside() -> None:
    f = Watched(lambda x: np.cos(9 * x).sum(), [0, 0], [1, 1])
    result = casmore.fmin(
        f, [0.1, 0.9], 0.3, bounds=[(0, 1)] * 2, restarts="bipop", budget=3000, target=-3.0, seed=1
    )
    assert result.restarts > 1


def test_a_step_size_for_each_coordinate_undoes_the_scales() -> None:
    scales = np.array([1e-3, 1.0, 1e4])
    scaled, plain = (
        casmore.fmin(lambda x, s=s: rosen(x / s), np.zeros(3), 0.5 * s, target=1e-9, seed=1)
        for s in (scales, np.ones(3))
    )
    assert scaled.nfev == plain.nfev
    assert scaled.x / scales == pytest.approx(plain.x, rel=1e-3)
    assert scaled.cov / np.outer(scales, scales) == pytest.approx(plain.cov, rel=0.1)


def test_equal_step_sizes_are_one_step_size() -> None:
    one, each = (casmore.fmin(rosen, np.zeros(3), s, budget=200, seed=1) for s in (0.5, [0.5] * 3))
    assert (one.x == each.x).all()


def test_fixed_coordinates_make_the_problem_smaller() -> None:
    fixed = casmore.fmin(
        lambda x: rosen(x), [0.0, 7.0, 0.0], 0.5, fixed={1: 0.5}, budget=300, seed=1
    )
    small = casmore.fmin(
        lambda z: rosen(np.array([z[0], 0.5, z[1]])), [0.0, 0.0], 0.5, budget=300, seed=1
    )
    assert fixed.x[1] == fixed.mean[1] == 0.5
    assert (fixed.x[[0, 2]] == small.x).all()
    assert (fixed.cov[1] == 0).all()
    by_bounds = casmore.fmin(
        rosen, [0.0, 7.0, 0.0], 0.5, bounds=[(None, None), (0.5, 0.5), (None, None)],
        budget=300, seed=1,
    )  # fmt: skip
    assert (by_bounds.x == fixed.x).all()


def test_an_initial_covariance_is_used() -> None:
    C = np.array([[1.0, 0.99], [0.99, 1.0]])
    result = casmore.fmin(
        lambda x: x @ np.linalg.solve(C, x), [3.0, 3.0], cov0=C, target=1e-9, seed=1
    )
    assert result.success
    with_sigma = casmore.fmin(
        lambda x: x @ np.linalg.solve(C, x), [3.0, 3.0], 1.0, target=1e-9, seed=1
    )
    assert result.nfev < with_sigma.nfev


@pytest.mark.filterwarnings("error")
def test_bounds_at_the_ends_of_the_floats_are_as_good_as_none() -> None:
    result = casmore.fmin(ellipsoid, [1.0, 1.0], 1.0, bounds=[(-1e308, 1e308)] * 2, seed=1)
    assert result.success
    assert result.fun < 1e-12
