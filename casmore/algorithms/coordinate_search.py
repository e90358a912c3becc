"""Global search along each coordinate, for additive functions: f is a sum over its coordinates.

The search of an additive function in n dimensions is n searches in one dimension. A test of four
evaluations, and n more if it passes, decides whether f is additive; if not, the search stops. The
coordinates take turns. Two joint moves end the search of simple functions early: if the corner to
which f descends has the value that the single steps predict, f is linear; if the minimum of the
parabolas along all coordinates has the predicted value, f is quadratic.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.additivity import AdditivityTest
from casmore.algorithms.arguments import valid_samples, valid_target
from casmore.algorithms.region import Region
from casmore.algorithms.stopping import StopReason, reached
from casmore.algorithms.univariate_search import UnivariateSearch

Array = NDArray[np.float64]


# Largest absolute value that is used: sums and differences of such values do not overflow
_LARGEST = 1e300


class _Stage(IntEnum):
    """What the values of the pending points are for."""

    TEST = 1  # four points
    SINGLE = 2  # the test's single steps
    CORNER = 3  # the joint move to the corner of a linear function
    SIDES = 4  # the other side of each coordinate
    MINIMUM = 5  # the joint move to the minimum of a quadratic function
    SEARCH = 6


class CoordinateSearch:
    """The search along the coordinates, a minimizer with an ask-and-tell interface.

    ``ask`` returns a batch during the test and one point afterwards. Any other point told is used
    if at most one of its coordinates is new.

    Parameters
    ----------
    x0
        The starting point, shape (n,).
    sigma0
        Where there are no bounds, the search covers ``x0 +- 2 sigma0`` at first.
    population_size
        Must be None, since there is no population.
    seed
        Seeds the run's own random generator, which draws directions and the halves of the test.
    target
        Stop once a value is at most this.
    lower, upper
        Bounds, one for all coordinates or one for each, shape (n,); default: none.
    evaluations_per_coordinate
        The search stops after this number times n evaluations.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of its range or of a wrong type.
    """

    def __init__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: int | np.random.SeedSequence | np.random.Generator | None = None,
        target: float | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        evaluations_per_coordinate: int = 300,
    ) -> None:
        if population_size is not None:
            raise ValueError("the coordinate search has no population; leave population_size out")
        if not evaluations_per_coordinate >= 1:
            raise ValueError(
                f"evaluations_per_coordinate must be at least 1, not {evaluations_per_coordinate}"
            )
        region = Region.around(x0, sigma0, lower, upper)
        start = np.array(x0, dtype=float)
        rng = np.random.default_rng(seed)
        steps = region.steps(start, rng)
        self._limit = evaluations_per_coordinate * len(start)
        self._target = valid_target(target)
        self._test = AdditivityTest(start, steps, rng)
        self._region = region
        self._searches = [
            UnivariateSearch(
                region.lower[i], region.upper[i], start[i], steps[i], tuple(region.bounds[:, i])
            )
            for i in range(len(start))
        ]
        self.population_size = 0
        self.evaluations = 0
        self._best_x, self.best_y = start.copy(), math.inf
        self._base, self._value = start.copy(), math.inf  # the best of each coordinate, and f there
        self._largest = 0.0  # absolute value of f seen
        self._stage = _Stage.TEST
        self._first: Array = np.empty(0)  # values of the test's first points
        self._turn = 0  # of the coordinates
        self._joint: Array = np.empty(0)  # predicted values of the coordinates of a joint move
        self._stop: dict[StopReason, float] = {}
        self._request(self._test.first)

    @property
    def mean(self) -> Array:
        """Combination of the best samples of all coordinates, shape (n,)."""
        return self._base.copy()

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,); the initial point at first."""
        return self._best_x.copy()

    def ask(self) -> Array:
        """Return the next points, except those told already, shape (k, n)."""
        missing: Array = self._pending[np.isnan(self._answers)]
        return missing

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values ``y``, shape (k,), of any points ``X``, shape (k, n).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = valid_samples(X, y, len(self._base))
        self.evaluations += len(y)
        for x, value in zip(X, y, strict=True):
            if value < self.best_y:
                self._best_x, self.best_y = x.copy(), float(value)
            if abs(value) <= _LARGEST:
                self._largest = max(self._largest, abs(float(value)))
                self._take(x, float(value))
            elif value > 0:
                self._take(x, math.inf)
            else:
                self._require(False)

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop with the values that caused them; empty: continue."""
        stop = dict(self._stop)
        if self.evaluations >= self._limit:
            stop[StopReason.BUDGET] = float(self._limit)
        return stop | reached(self.best_y, self._target)

    def _request(self, points: Array) -> None:
        self._pending: Array = points
        self._answers: Array = np.full(len(points), math.nan)

    def _take(self, x: Array, value: float) -> None:
        open_ = np.isnan(self._answers) & (self._pending == x).all(axis=1)
        if not open_.any():
            self._learn(x, value)
            return
        self._answers[np.argmax(open_)] = value
        if not np.isnan(self._answers).any():
            self._proceed(self._answers)

    def _proceed(self, answers: Array) -> None:
        """Use the values of the points that were asked for; choose the next ones."""
        x, value = self._pending[0], float(answers[0])
        if self._stage is _Stage.TEST:
            self._first = answers
            self._require(self._test.may_be_additive(answers))
            self._stage = _Stage.SINGLE
            self._request(self._test.single)
        elif self._stage is _Stage.SINGLE:
            self._require(self._test.is_additive(self._first, answers))
            if not self._stop:
                self._begin(self._first[0], answers)
                self._stage = _Stage.CORNER
                self._request_corner()
        else:
            if self._stage in (_Stage.CORNER, _Stage.MINIMUM):
                self._accept_joint(x, value)
                self._stage = _Stage(self._stage + 1)
            else:
                self._learn(x, value)
            self._next()

    def _require(self, additive: bool) -> None:
        if not additive:
            self._stop = {StopReason.NOT_ADDITIVE: float(self.evaluations)}

    def _begin(self, value: float, single: Array) -> None:
        """Start the searches with the values of the test; those of each are relative."""
        self._value = value
        for i, search in enumerate(self._searches):
            search.add(float(self._base[i]), 0.0)
            search.add(float(self._test.single[i, i]), float(single[i] - value))

    def _next(self) -> None:
        """Ask for the next sample of the next coordinate, or for a joint move."""
        n = len(self._base)
        if self._stage is _Stage.SIDES and self._turn >= n:
            self._stage = _Stage.MINIMUM
            if self._request_minimum():
                return
            self._stage = _Stage.SEARCH
        for _ in range(n):
            i = self._turn % n
            self._turn += 1
            t = self._searches[i].propose()
            if t is not None:
                x = self._base.copy()
                x[i] = t
                self._request(x[np.newaxis])
                return
        self._stop = {StopReason.NO_PROGRESS: 0.0}  # no interval is left

    def _learn(self, x: Array, value: float) -> None:
        """Use the value of a point of which at most one coordinate is new."""
        if self._stage < _Stage.CORNER:
            return
        relative = [s.value(float(t)) for s, t in zip(self._searches, x, strict=True)]
        new = [i for i, known in enumerate(relative) if known is None]
        if len(new) > 1:
            return
        expected = self._predicted([0.0 if v is None else v for v in relative])
        if not new:
            self._require(abs(value - expected) <= self._tolerance)
            return
        (i,) = new
        self._searches[i].add(float(x[i]), value - expected)
        if value < self._value and np.count_nonzero(x != self._base) == 1:
            self._base, self._value = x.copy(), value  # exact, where a sum is rounded
        else:
            self._move_base()

    def _move_base(self) -> None:
        """Move the base to the best sample of each coordinate."""
        best = np.array([search.best for search in self._searches])
        if (best != self._base).any():
            self._value = self._predicted([min(search.values) for search in self._searches])
            self._base = best

    def _predicted(self, relative: list[float]) -> float:
        """Return the value of a point from the relative values of its coordinates."""
        return self._value + math.fsum(
            value - _known(search, t)
            for value, search, t in zip(relative, self._searches, self._base, strict=True)
        )

    @property
    def _tolerance(self) -> float:
        return self._test.tolerance(np.array([self._largest]))

    def _request_corner(self) -> None:
        """Ask for the corner that single steps point to, with the values of a linear function."""
        start, sides = self._test.first[0], np.diag(self._test.single)
        differences = [_known(s, t) for s, t in zip(self._searches, sides, strict=True)]
        slopes = np.array(differences) / (sides - start)
        corner = np.where(slopes < 0, self._region.upper, self._region.lower)
        self._joint = slopes * (corner - start)
        self._move_base()
        self._request(corner[np.newaxis])

    def _request_minimum(self) -> bool:
        """Ask for the minimum of all parabolas, with their values; return whether it exists."""
        vertices, least = [], []
        for search in self._searches:
            parabola = search.parabola()
            if parabola is None:
                return False
            vertex, promise = parabola
            vertices.append(vertex)
            least.append(min(search.values) - promise)
        self._joint = np.array(least)
        self._request(np.array([vertices]))
        return True

    def _accept_joint(self, x: Array, value: float) -> None:
        """Add the predicted samples of a joint move if their sum is right."""
        if abs(value - self._predicted(list(self._joint))) <= self._tolerance:
            for search, t, relative in zip(self._searches, x, self._joint, strict=True):
                search.add(float(t), float(relative))
            self._move_base()


def _known(search: UnivariateSearch, t: float) -> float:
    value = search.value(float(t))
    assert value is not None  # the base consists of samples
    return value
