"""Multi-level single linkage, compared with the definition evaluated point by point."""

import math
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms import single_linkage
from casmore.algorithms.region import Region
from casmore.algorithms.single_linkage import SingleLinkage

Array = NDArray[np.float64]


def make(n: int, seed: int = 1, sigma0: float = 2.0) -> SingleLinkage:
    return SingleLinkage(Region.around(np.ones(n), sigma0), np.random.default_rng(seed))


def waves(x: Array) -> float:
    return float((x**2).sum() / 50 + np.cos(3 * x).sum())


def rounds(linkage: SingleLinkage, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    """Return the points and the starting point of each round, and the values of all points."""
    points, values, starts = [], [], []
    for _ in range(count):
        X = linkage.ask()
        y = np.array([waves(x) for x in X])
        linkage.tell(X, y)
        assert linkage.is_complete
        x, value = linkage.start()
        assert value == waves(x)
        points.append(X)
        values.append(y)
        starts.append(x)
    return points, values, starts


@pytest.mark.parametrize("n", [1, 2, 4])
def test_searches_start_from_the_best_points_without_a_better_neighbor(n: int) -> None:
    points, values, starts = rounds(make(n), 30)
    used: list[tuple[float, ...]] = []
    linked = 0
    for i, start in enumerate(starts):
        X, y = np.concatenate(points[: i + 1]), np.concatenate(values[: i + 1])
        # the ball of this radius has the volume sigma log(N) / N of the unit box, sigma = 4
        N = len(y)
        unit_ball = math.pi ** (n / 2) / math.gamma(1 + n / 2)
        radius = (4 * math.log(N) / N / unit_ball) ** (1 / n)

        def is_free(j: int, X: Array, y: Array, radius: float) -> bool:
            near = np.sqrt((((X - X[j]) / 8.0) ** 2).sum(axis=1)) < radius
            return not (near & (y < y[j])).any() and tuple(X[j]) not in used

        free = [j for j in np.argsort(y) if is_free(j, X, y, radius)]
        linked += len(y) - len(free)
        expected = X[free[0]] if free else points[i][int(np.argmin(values[i]))]
        assert (start == expected).all()
        used.append(tuple(start))
    assert linked > 100


def test_without_an_unlinked_point_the_best_of_the_round_is_next() -> None:
    linkage = make(2)
    # all but the best one are within the critical distance of better ones, about half the box
    first, second = 1 + 0.01 * np.random.default_rng(0).normal(size=(2, 15, 2))
    linkage.tell(first, np.arange(15.0))
    assert (linkage.start()[0] == first[0]).all()
    linkage.tell(second, 100 + np.arange(15.0))
    assert (linkage.start()[0] == second[0]).all()


def test_points_are_uniform_in_the_region() -> None:
    linkage = make(3)
    X = np.concatenate([linkage.ask() for _ in range(100)])
    assert linkage.ask().shape == (20, 3) == (linkage.population_size, 3)
    assert X.min() > -3
    assert X.max() < 5
    assert np.histogram(X, bins=4, range=(-3, 5))[0] == pytest.approx(1500, rel=0.1)


def test_a_round_ends_with_its_last_value() -> None:
    linkage = make(1)
    X = linkage.ask()
    for i in range(10):
        assert not linkage.is_complete
        linkage.tell(X[i : i + 1], [math.nan if i == 0 else -i])
    assert linkage.is_complete
    assert linkage.best_y == -9
    assert (linkage.best_x == X[9]).all()
    assert (linkage.start()[0] == X[9]).all()
    assert not linkage.is_complete
    assert linkage.best_y == math.inf


def test_only_the_best_points_are_kept_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make(1)
    starts = rounds(whole, 30)[2]
    monkeypatch.setattr(single_linkage, "_KEPT", 100)
    few = make(1)
    assert np.array_equal(rounds(few, 30)[2], starts)
    assert len(few._y) == 100 < len(whole._y)


def test_distances_are_relative_to_the_region() -> None:
    for sigma0 in (1e-150, 1e150):
        linkage = SingleLinkage(Region.around(np.zeros(2), sigma0), np.random.default_rng(1))
        unit = SingleLinkage(Region.around(np.zeros(2), 1.0), np.random.default_rng(1))
        for _ in range(20):
            X, x = linkage.ask(), unit.ask()
            y = np.array([waves(u) for u in x])
            linkage.tell(X, y)
            unit.tell(x, y)
            assert linkage.start()[0] / sigma0 == pytest.approx(unit.start()[0])


def test_pickled_it_continues() -> None:
    linkage = make(2)
    rounds(linkage, 5)
    copy = pickle.loads(pickle.dumps(linkage))
    assert np.array_equal(rounds(copy, 5)[2], rounds(linkage, 5)[2])
