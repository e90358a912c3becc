"""The update by ranks is that of CMA-ES."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.gaussian import SearchDistribution, kl_divergence
from casmore.algorithms.rank_update import RankUpdate

Array = NDArray[np.float64]


def cma(mean: Array, sigma: float, samples: list[tuple[Array, Array]]) -> SearchDistribution:
    """Return the distribution of the package cmaes after these populations.

    Their steps are short: after long ones, CMA-ES leaves out a part of its update.
    """
    cmaes = pytest.importorskip("cmaes")
    peer = cmaes.CMA(mean=mean, sigma=sigma, population_size=len(samples[0][1]))
    peer._weights = np.maximum(peer._weights, 0.0)  # without its negative weights
    for X, y in samples:
        peer.tell([(x.copy(), float(value)) for x, value in zip(X, y, strict=True)])
    return SearchDistribution(peer._mean, peer._sigma * np.linalg.cholesky(peer._C))


def populations(n: int, k: int, count: int, scale: float = 1.0) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(n)
    return [(scale * rng.standard_normal((k, n)), rng.standard_normal(k)) for _ in range(count)]


@pytest.mark.parametrize(("n", "k"), [(2, 4), (2, 6), (5, 8), (20, 12), (3, 100)])
def test_one_update_is_that_of_cmaes(n: int, k: int) -> None:
    mean, sigma, samples = np.full(n, 0.1), 1.5, populations(n, k, 1)
    expected = cma(mean, sigma, samples)
    found = RankUpdate(n).update(SearchDistribution.isotropic(mean, sigma), *samples[0])
    assert found.mean == pytest.approx(expected.mean, rel=1e-12)
    assert kl_divergence(expected, found) == pytest.approx(0.0, abs=1e-12)


def test_the_shape_after_several_updates_is_that_of_cmaes() -> None:
    """The step size is not compared: its path is in coordinates of another root of Sigma."""
    n, k = 5, 8
    mean, samples = np.zeros(n), populations(n, k, 6)
    expected = cma(mean, 1.5, samples)
    found, update = SearchDistribution.isotropic(mean, 1.5), RankUpdate(n)
    for X, y in samples:
        found = update.update(found, X, y)
    assert found.mean == pytest.approx(expected.mean, rel=1e-10)
    assert found.entropy == pytest.approx(expected.entropy, abs=1.0)
    shapes = [d.covariance / math.exp(2 * d.log_det_factor / n) for d in (found, expected)]
    assert shapes[0] == pytest.approx(shapes[1], rel=1e-1)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_it_does_not_depend_on_the_scale(scale: float) -> None:
    found = []
    for unit in (1.0, scale):
        distribution, update = SearchDistribution.isotropic(np.zeros(3), unit), RankUpdate(3)
        for X, y in populations(3, 6, 5, unit):
            distribution = update.update(distribution, X, y)
        found.append(distribution.factor / unit)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_values_count_by_their_order() -> None:
    (X, y), *_ = populations(4, 8, 1)
    start = SearchDistribution.isotropic(np.zeros(4), 1.0)
    factors = [RankUpdate(4).update(start, X, v).factor for v in (y, np.exp(3 * y))]
    assert (factors[0] == factors[1]).all()
    y[np.argmax(y)] = np.inf
    assert (RankUpdate(4).update(start, X, y).factor == factors[0]).all()
