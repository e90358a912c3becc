"""The search space: maps and their inverses, bounds kept, covariances against differences."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds, approx_fprime

from casmore.solvers.space_arguments import read_bounds, read_start

Array = NDArray[np.float64]
INF = math.inf
BOXES = [(-1.0, 3.0), (0.0, INF), (-INF, 2.0), (-INF, INF)]


def space_of(bounds: Any, sigma0: Any = 0.5, **more: Any) -> Any:
    return read_start(np.full(len(bounds), 0.5), sigma0, bounds=bounds, **more).space


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4))
def test_all_points_are_inside_and_mapped_back_to_a_point_with_the_same_image(u: Any) -> None:
    space = space_of(BOXES)
    X = space.to_user(np.array([u]))
    for x, (low, high) in zip(X[0], BOXES, strict=True):
        assert low <= x <= high
    assert space.to_user(space.to_solver(X)) == pytest.approx(X, rel=1e-7, abs=1e-7)


def test_it_is_the_identity_away_from_the_bounds() -> None:
    space = space_of(BOXES)
    inside = np.array([[1.0, 5.0, -3.0, 100.0]])
    assert (space.to_user(inside) == inside).all()
    assert (space.to_solver(inside) == inside).all()


def test_the_map_is_continuously_differentiable() -> None:
    space = space_of([(-1.0, 3.0)])
    u = np.linspace(-8, 8, 200_001)
    x = space.to_user(u[:, np.newaxis])[:, 0]
    slopes = np.diff(x) / np.diff(u)
    assert np.abs(slopes).max() <= 1 + 1e-9
    # the largest curvature is 1 / (2 w) with w = 0.2
    assert np.abs(np.diff(slopes)).max() <= (u[1] - u[0]) / (2 * 0.2) * 1.001
    assert x.min() == -1.0
    assert x.max() == 3.0


@pytest.mark.parametrize("sigma0", [0.5, [0.5, 0.1, 0.2, 0.4]])
@pytest.mark.parametrize("u", [[0.1, 0.2, 0.3, 0.4], [-1.3, -0.4, 2.6, 1.0], [3.3, 9.0, -4.0, 0.0]])
def test_the_covariance_is_mapped_by_the_derivative(sigma0: Any, u: list[float]) -> None:
    space = space_of(BOXES, sigma0)
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 4))
    J = np.array(
        [
            approx_fprime(np.array(u), lambda v, i=i: space.to_user(v[np.newaxis])[0, i], 1e-7)
            for i in range(4)
        ]
    )
    expected = J @ A @ A.T @ J.T
    found = space.covariance(np.array(u), A @ A.T)
    assert found == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(("x", "sigma0"), [(2.0**53, 60.0), (1e9, 1e-5), (-1e6, 1e-8)])
def test_the_covariance_is_kept_beside_a_large_offset(x: float, sigma0: float) -> None:
    start = read_start([x, 500.0], sigma0, bounds=[(None, None), (0, 999)])
    covariance = start.space.covariance(start.u0, sigma0**2 * np.eye(2))
    assert covariance == pytest.approx(sigma0**2 * np.eye(2), rel=1e-12)


def test_fixed_coordinates_are_inserted() -> None:
    start = read_start(
        [9.0, 1.0, 2.0, 9.0], 0.5, bounds=[(3, 3), *[(None, None)] * 3], fixed={3: -1.0}
    )
    assert start.space.dimension == len(start.u0) == 2
    assert start.space.to_user(np.array([[5.0, 6.0]])).tolist() == [[3.0, 5.0, 6.0, -1.0]]
    C = start.space.covariance(np.zeros(2), np.array([[2.0, 1.0], [1.0, 3.0]]))
    assert C.tolist() == [[0] * 4, [0, 2, 1, 0], [0, 1, 3, 0], [0] * 4]


def test_an_initial_covariance_is_that_of_the_samples() -> None:
    C = np.array([[4.0, 1.0], [1.0, 9.0]])
    start = read_start([1.0, 2.0], None, cov0=C)
    U = start.u0 + start.sigma * np.random.default_rng(1).standard_normal((200_000, 2))
    X = start.space.to_user(U)
    assert np.cov(X.T) == pytest.approx(C, abs=0.1)
    assert X.mean(axis=0) == pytest.approx([1, 2], abs=0.03)
    assert start.space.covariance(start.u0, np.eye(2)) == pytest.approx(C)


@pytest.mark.parametrize(
    ("given", "lower", "upper"),
    [
        (None, [-INF, -INF], [INF, INF]),
        ([(0, 1), (None, 2.5)], [0, -INF], [1, 2.5]),
        (np.array([[0, 1], [-1, INF]]), [0, -1], [1, INF]),
        (Bounds(0, [1, 2]), [0, 0], [1, 2]),
        (Bounds([-INF, 0]), [-INF, 0], [INF, INF]),
    ],
)
def test_bounds_come_in_scipys_forms(given: Any, lower: list[float], upper: list[float]) -> None:
    low, high = read_bounds(given, 2)
    assert low.tolist() == lower
    assert high.tolist() == upper
