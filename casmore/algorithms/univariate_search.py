"""Global search along one coordinate: parabolic interpolation and STEP.

Near the best sample, the next sample is the minimum of the parabola through it and its neighbors,
as in Brent's method. Elsewhere, STEP chooses the interval between two samples that needs the least
curvature to contain an improvement: the parabola that ends in the two samples and touches, in
between, the best value minus a small amount. The interval is halved.

References
----------
Langerman, Seront and Bersini, "S.T.E.P.: the easiest way to optimize a function", ICEC 1994.

Baudiš and Pošík, "Global line search algorithm hybridized with quadratic interpolation and its
extension to separable functions", GECCO 2015.
"""

from __future__ import annotations

import bisect
import math

# All fractions of values are relative to the difference of the largest and smallest value.
# A parabola that promises more than this is followed at once;
_WORTHWHILE = 1e-6
# one that promises less but more than this, in every second sample. The others are chosen by STEP.
_NEGLIGIBLE = 1e-20
# STEP: the improvement that an interval has to allow
_IMPROVEMENT = 1e-3
# Distance of an interpolated sample from its neighbors, as a fraction of their distance
_MARGIN = 0.1
# Intervals narrower than this fraction of the search interval are not divided
_RESOLUTION = 1e-13
# How far the search extends beyond the interval, in its widths, if it may
_FARTHEST = 100.0


class UnivariateSearch:
    """The samples of a function of one variable, and where to sample next.

    Parameters
    ----------
    lower, upper
        The interval of the search.
    first, step
        The first sample is at ``first``, and the next ones are a ``step`` to either side, which may
        be negative. The ends of the interval follow.
    limits
        No sample is outside of them. If the best sample is at an end of the interval, the search
        extends beyond it.

    Attributes
    ----------
    t, values : list of float
        The samples in ascending order, and their values, which may be relative to any constant.
    """

    def __init__(
        self,
        lower: float,
        upper: float,
        first: float,
        step: float,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        # not scalars of NumPy, which warn of an overflow
        lower, upper, first, step = map(float, (lower, upper, first, step))
        self.t: list[float] = []
        self.values: list[float] = []
        self._width = upper - lower
        reach = _FARTHEST * self._width
        self._limits = max(float(limits[0]), lower - reach), min(float(limits[1]), upper + reach)
        sides = [min(max(first + d, lower), upper) for d in (step, -step)]
        self._planned = [first, *sides, lower, upper]
        self._turn = 0

    def add(self, t: float, value: float) -> None:
        """Add a sample; it replaces a previous sample at the same place."""
        i = bisect.bisect_left(self.t, t)
        if i < len(self.t) and self.t[i] == t:
            self.values[i] = value
        else:
            self.t.insert(i, t)
            self.values.insert(i, value)

    def value(self, t: float) -> float | None:
        """Return the value of the sample at ``t``; None if there is none."""
        i = bisect.bisect_left(self.t, t)
        return self.values[i] if i < len(self.t) and self.t[i] == t else None

    @property
    def best(self) -> float:
        """The best sample's place."""
        return self.t[self._best()]

    def parabola(self) -> tuple[float, float] | None:
        """Return minimum and promise of the parabola through the best sample and its neighbors.

        Returns
        -------
        vertex : float
            Where its minimum is, within the interval.
        promise : float
            How much less than the best value it is there. Instead of both, None is returned if
            there are no three samples, or the parabola has no minimum.
        """
        if len(self.t) < 3:
            return None
        b = min(max(self._best(), 1), len(self.t) - 2)
        t0, t1, t2 = self.t[b - 1 : b + 2]
        y0, y1, y2 = self.values[b - 1 : b + 2]
        left, right = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
        curvature = (right - left) / (t2 - t0)
        if not 0 < curvature < math.inf:
            return None
        vertex = 0.5 * (t0 + t1) - 0.5 * left / curvature
        vertex = min(max(vertex, self._limits[0]), self._limits[1])
        least = y1 + (vertex - t1) * (left + curvature * (vertex - t0))
        return vertex, min(self.values) - least

    def propose(self) -> float | None:
        """Return the place of the next sample; None if no interval can be divided further."""
        while self._planned:
            t = self._planned.pop(0)
            if self.value(t) is None:
                return t
        self._turn += 1
        for find in (self._beyond, self._interpolated, self._step):
            found = find()
            if found is not None:
                return found
        return None

    def _best(self) -> int:
        return min(range(len(self.t)), key=self.values.__getitem__)

    def _range(self) -> float:
        finite = [value for value in self.values if math.isfinite(value)]
        return max(finite) - min(finite) if finite else 0.0

    def _beyond(self) -> float | None:
        """Return a sample beyond an end, at twice the distance, if the best sample is there."""
        first, last = self.t[0], self.t[-1]
        lower, upper = self._limits
        if self.best == first and first > lower:
            return max(first - (last - first), lower)
        if self.best == last and last < upper:
            return min(last + (last - first), upper)
        return None

    def _interpolated(self) -> float | None:
        """Return the parabola's minimum, if it promises enough."""
        b, found = self._best(), self.parabola()
        if found is None or b in (0, len(self.t) - 1):
            return None
        vertex, promise = found
        least = _WORTHWHILE if self._turn % 2 else _NEGLIGIBLE
        if promise <= least * self._range():
            return None
        a, c = (b - 1, b) if vertex < self.t[b] else (b, b + 1)
        margin = _MARGIN * (self.t[c] - self.t[a])
        t = min(max(vertex, self.t[a] + margin), self.t[c] - margin)
        wide = self.t[c] - self.t[a] > _RESOLUTION * self._width
        return t if wide and self.value(t) is None else None

    def _step(self) -> float | None:
        """Return the middle of the interval that needs the least curvature to be better."""
        level = min(self.values) - _IMPROVEMENT * self._range()
        heights = [math.sqrt(max(value - level, 0.0)) for value in self.values]
        narrowest = _RESOLUTION * self._width
        flattest, place = math.inf, None
        for i, (a, b) in enumerate(zip(self.t, self.t[1:], strict=False)):
            # the parabola's second derivative is twice the square of this
            steepness = (heights[i] + heights[i + 1]) / (b - a)
            middle = 0.5 * (a + b)
            if (steepness < flattest or place is None) and b - a > narrowest and a < middle < b:
                flattest, place = steepness, middle
        return place
