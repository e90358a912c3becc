"""Multi-level single linkage: which of many random points local searches start from.

Rinnooy Kan and Timmer, "Stochastic global optimization methods part II: Multi level methods",
Mathematical Programming 39, 1987. A random point starts a local search unless a better one is
within a critical distance, since the search would probably end in the same minimum. The distance
shrinks with the number of points, so that in the end all minima are found, each a few times.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from casmore.algorithms.arguments import valid_samples
from casmore.algorithms.region import Region
from casmore.algorithms.stopping import StopReason

Array = NDArray[np.float64]

# of the critical distance, as recommended by the authors
_SIGMA = 4.0
# points of a round, in units of n + 1
_POINTS = 5
# points that are kept, the best ones
_KEPT = 2000


class SingleLinkage:
    """Rounds of random points, each of which gives the starting point of one local search.

    The starting point is the best of all rounds' points that is not linked to a better one, and
    from which no search has started. If there is none, it is the best of the round. Only the best
    2000 points are kept: a link depends on better points alone.

    Parameters
    ----------
    region
        The box in which points are uniform; distances are in units of its sides.
    rng
        Draws the points.

    Attributes
    ----------
    evaluations : int
        Number of points told so far.
    """

    def __init__(self, region: Region, rng: np.random.Generator) -> None:
        n = len(region.lower)
        self._region, self._rng = region, rng
        self._half_side = 0.5 * region.upper - 0.5 * region.lower  # a difference may overflow
        self.evaluations = 0
        # in the order of their values
        self._X, self._y = np.empty((0, n)), np.empty(0)
        self._distance = np.empty(0)  # to the nearest better point
        self._is_used = np.empty(0, dtype=bool)
        self._begin_round()

    def _begin_round(self) -> None:
        self._told = 0
        self._best, self._best_value = self._region.center, math.inf  # of the round

    @property
    def population_size(self) -> int:
        """Number of points of a round, 5 (n + 1)."""
        return _POINTS * (self._X.shape[1] + 1)

    @property
    def mean(self) -> Array:
        """The best point of the round, shape (n,); the box's center before the first one."""
        return self.best_x

    @property
    def best_x(self) -> Array:
        """Copy of the best point of the round, shape (n,)."""
        return self._best.copy()

    @property
    def best_y(self) -> float:
        """The smallest value of the round."""
        return self._best_value

    def ask(self) -> Array:
        """Return random points, shape (5 (n + 1), n)."""
        return self._region.uniform(self._rng, self.population_size)

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values ``y``, shape (k,), of the points ``X``, shape (k, n).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = valid_samples(X, y, self._X.shape[1])
        if len(y) == 0:
            return
        self.evaluations += len(y)
        self._told += len(y)
        best = int(np.argmin(y))
        if y[best] < self._best_value:
            self._best, self._best_value = X[best].copy(), float(y[best])

        all_X, all_y = np.concatenate([self._X, X]), np.concatenate([self._y, y])
        is_used = np.concatenate([self._is_used, np.zeros(len(y), dtype=bool)])
        apart = 0.5 * cdist(X / self._half_side, all_X / self._half_side)  # (k, all)
        to_better = np.where(all_y < y[:, np.newaxis], apart, math.inf).min(axis=1)
        to_new = np.where(y[:, np.newaxis] < all_y, apart, math.inf).min(axis=0)
        distance = np.minimum(np.concatenate([self._distance, to_better]), to_new)

        order = np.argsort(all_y, kind="stable")[:_KEPT]
        self._X, self._y = all_X[order], all_y[order]
        self._distance, self._is_used = distance[order], is_used[order]

    def stop(self) -> dict[StopReason, float]:
        """Return no reason to stop: there is always another round."""
        return {}

    @property
    def is_complete(self) -> bool:
        """Whether all points of the round have been told."""
        return self._told >= self.population_size

    @property
    def critical_distance(self) -> float:
        """The distance below which points are linked, in units of the box's sides.

        ``pi^-1/2 (Gamma(1 + n/2) sigma log(N) / N)^(1/n)`` for N points, with sigma = 4.
        """
        n, N = self._X.shape[1], max(self.evaluations, 2)
        volume = math.lgamma(1 + n / 2) + math.log(_SIGMA * math.log(N) / N)
        return math.exp(volume / n) / math.sqrt(math.pi)

    def start(self) -> tuple[Array, float]:
        """End the round; return where a search shall start, shape (n,), and the value there."""
        is_unlinked = self._distance >= self.critical_distance
        found = np.flatnonzero(is_unlinked & ~self._is_used)
        if len(found) > 0:
            x, value = self._X[found[0]].copy(), float(self._y[found[0]])
        else:
            x, value = self._best, self._best_value
        self._is_used |= (x == self._X).all(axis=1)
        self._begin_round()
        return x, value
