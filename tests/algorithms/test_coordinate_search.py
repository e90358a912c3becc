"""The search along coordinates on functions whose minimum is known."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.coordinate_search import CoordinateSearch
from casmore.algorithms.region import Region
from casmore.algorithms.stopping import StopReason

Array = NDArray[np.float64]
F = Callable[[Array], float]


def run(search: CoordinateSearch, f: F, target: float, limit: int) -> int:
    """Return the number of evaluations until the target is reached."""
    while search.best_y > target and not search.stop() and search.evaluations < limit:
        X = search.ask()
        search.tell(X, np.array([f(x) for x in X]))
    return search.evaluations


def in_box(n: int, **changes: object) -> CoordinateSearch:
    return CoordinateSearch(np.zeros(n), 2.0, seed=3, lower=-5, upper=5, **changes)  # type: ignore[arg-type]


OPTIMUM = np.array([1.3, -2.2, 3.9, 0.4, -4.1])


def rastrigin(x: Array) -> float:
    z = x - OPTIMUM
    return float((z**2 + 10 * (1 - np.cos(2 * np.pi * z))).sum())


def test_a_linear_function_ends_in_its_corner_after_n_plus_5_evaluations() -> None:
    slopes = np.array([3.0, -1.0, 0.2, -20.0, 7.0])
    search = in_box(5)
    assert run(search, lambda x: float(slopes @ x), -5 * np.abs(slopes).sum() + 1e-12, 99) == 10
    assert (search.best_x == -5 * np.sign(slopes)).all()


def test_a_separable_quadratic_function_ends_after_2_n_plus_6_evaluations() -> None:
    scales = np.logspace(0, 3, 5)
    search = in_box(5)
    assert run(search, lambda x: float(scales @ (x - OPTIMUM) ** 2), 1e-20, 99) == 16
    assert search.best_x == pytest.approx(OPTIMUM, rel=1e-12)


def test_it_finds_the_best_of_10_to_the_5_minima() -> None:
    search = in_box(5)
    assert run(search, rastrigin, 1e-8, 500) < 500
    assert search.best_x == pytest.approx(OPTIMUM, abs=1e-5)


def test_without_bounds_it_leaves_the_region_of_the_start() -> None:
    search = CoordinateSearch(np.zeros(3), 0.5, seed=1)
    assert run(search, lambda x: float(np.cosh(x - 9.0).sum()), 3 + 1e-8, 150) < 150


def test_it_stays_between_bounds_that_differ_by_coordinate() -> None:
    lower, upper = np.array([-1.0, -np.inf, 0.5]), np.array([0.0, 3.0, np.inf])
    search = CoordinateSearch([-0.2, 1.0, 0.5], 0.3, seed=4, lower=lower, upper=upper)
    while search.evaluations < 200:
        X = search.ask()
        assert ((lower <= X) & (upper >= X)).all()
        search.tell(X, np.array([np.cos(x).sum() + 0.1 * (x**2).sum() for x in X]))


def test_it_stops_where_f_is_not_additive() -> None:
    search = in_box(4)
    spent = run(search, lambda x: float((x**2).sum() + x.sum() ** 2), -1, 99)
    assert (spent, set(search.stop())) == (4, {StopReason.NOT_ADDITIVE})
    # later as well, when a told point contradicts the samples
    search = in_box(2)
    run(search, lambda x: float(((x - 1.2) ** 2).sum()), 1e-3, 99)
    t = [s.t[0] for s in search._searches]
    search.tell([t], [1e3])
    assert set(search.stop()) == {StopReason.NOT_ADDITIVE}


def test_points_that_others_evaluated_are_used() -> None:
    """All points of a run, told to another one, save it all evaluations but the first."""
    whole, rested = in_box(5), in_box(5)
    asked = []
    while whole.evaluations < 60:
        X = whole.ask()
        whole.tell(X, np.array([rastrigin(x) for x in X]))
        asked.append(X)
    X = np.concatenate(asked)
    for part in np.array_split(X, 7):
        rested.tell(part, np.array([rastrigin(x) for x in part]))
    assert np.array_equal(rested.ask(), whole.ask())
    assert (rested.mean == whole.mean).all()


def test_it_goes_on_after_pickling_in_the_middle_of_a_batch() -> None:
    whole = in_box(5)
    part = in_box(5)
    X = part.ask()
    part.tell(X[:2], np.array([rastrigin(x) for x in X[:2]]))
    part = pickle.loads(pickle.dumps(part))
    assert np.array_equal(part.ask(), X[2:])
    for search in (whole, part):
        run(search, rastrigin, 1e-8, 300)
    assert (whole.evaluations, whole.best_y) == (part.evaluations, part.best_y)


def test_the_limit_is_in_evaluations_per_coordinate() -> None:
    search = in_box(3, evaluations_per_coordinate=20)
    run(search, lambda x: float(np.cos(9 * x).sum() + 0.01 * (x**4).sum()), -99, 999)
    assert (search.evaluations, search.stop()) == (60, {StopReason.BUDGET: 60.0})


def test_wrong_bounds_are_named() -> None:
    for lower, upper, message in (
        (1.0, 0.0, r"lower\[0\] = 1.0 must be less than upper\[0\] = 0.0"),
        (1.0, 2.0, r"x0\[0\] = 0.0 must be within \[1.0, 2.0\]"),
        ([1.0, 2.0, 3.0], 5.0, "lower must be one number or one for each of the 2 coordinates"),
    ):
        with pytest.raises(ValueError, match=message):
            Region.around([0.0, 0.0], 1.0, lower, upper)
    with pytest.raises(ValueError, match="no population"):
        in_box(2, population_size=4)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        in_box(2, evaluations_per_coordinate=0)
