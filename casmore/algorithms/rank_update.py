"""The update of CMA-ES, by ranks alone, for a search whose surrogate misleads it.

Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772, 2016, with its default learning
rates, without negative weights, and without the pause of the rank-one update after long steps. The
covariance is updated through its factor: in coordinates whitened by the distribution, it is I
before the update.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.gaussian import SearchDistribution

Array = NDArray[np.float64]


class _Rates(NamedTuple):
    """The tutorial's table 1."""

    weights: Array
    effective: float  # number of samples of the weighted mean, mu_eff
    path_sigma: float
    damping: float
    path_covariance: float
    rank_one: float
    rank_mu: float


@cache
def _rates(n: int, count: int) -> _Rates:
    parents = count // 2
    weights = math.log((count + 1) / 2) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    effective = 1 / float(weights @ weights)
    path_sigma = (effective + 2) / (n + effective + 5)
    rank_one = 2 / ((n + 1.3) ** 2 + effective)
    rank_mu = 2 * (effective - 2 + 1 / effective) / ((n + 2) ** 2 + effective)
    return _Rates(
        weights,
        effective,
        path_sigma,
        damping=1 + 2 * max(0.0, math.sqrt((effective - 1) / (n + 1)) - 1) + path_sigma,
        path_covariance=(4 + effective / n) / (n + 4 + 2 * effective / n),
        rank_one=rank_one,
        rank_mu=min(1 - rank_one, rank_mu),
    )


class RankUpdate:
    """Successive updates of a search distribution, and their two evolution paths.

    Parameters
    ----------
    dimension
        The dimension n of the search space.
    """

    def __init__(self, dimension: int) -> None:
        self._path_sigma = np.zeros(dimension)
        self._path_covariance = np.zeros(dimension)  # in the coordinates of the last distribution

    def update(self, distribution: SearchDistribution, X: Array, y: Array) -> SearchDistribution:
        """Return the distribution after an update by samples of it.

        Parameters
        ----------
        distribution
            That of the last update; its covariance is not diagonal.
        X
            The samples, shape (K, n), K at least 2.
        y
            Their values, of which only the order counts, shape (K,); not NaN.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the update leaves the range of double precision.
        """
        n, r = X.shape[1], _rates(X.shape[1], len(y))
        order = np.argsort(y, kind="stable")[: len(r.weights)]
        Z = distribution.whiten(X[order])
        step = r.weights @ Z

        self._path_sigma = _smoothed(self._path_sigma, step, r.path_sigma, r.effective)
        length = math.sqrt(float(self._path_sigma @ self._path_sigma))
        expected = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))  # of N(0, I)
        growth = math.exp(min(1.0, r.path_sigma / r.damping * (length / expected - 1)))

        path = _smoothed(self._path_covariance, step, r.path_covariance, r.effective)
        C = (1 - r.rank_one - r.rank_mu) * np.eye(n)
        C += r.rank_one * np.outer(path, path) + r.rank_mu * (Z.T * r.weights) @ Z
        # Eigenvalues are at least 1 - rank_one - rank_mu, far from 0 unless populations are huge,
        # and a failure to update is then reported
        basis = Eigenbasis.of(C)
        if not basis.d[0] > 0:
            raise np.linalg.LinAlgError("the covariance of the best samples is singular")
        scales = np.sqrt(basis.d)
        new = distribution.updated(step, basis, growth * scales)
        # in the new coordinates; its length in units of the step size stays the same
        self._path_covariance = basis.back(basis.along(path) / scales)
        return new


def _smoothed(path: Array, step: Array, rate: float, effective: float) -> Array:
    smoothed: Array = (1 - rate) * path + math.sqrt(rate * (2 - rate) * effective) * step
    return smoothed
