"""The region that a global search covers: a box, or the surroundings of the starting point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_start
from casmore.algorithms.real_numbers import real_array, shortened

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Region:
    """A box in which a search starts, within bounds that may be wider.

    Attributes
    ----------
    lower, upper
        The box, shape (n,) each.
    bounds
        No point outside of them is evaluated, shape (2, n); infinite: none.
    """

    lower: Array
    upper: Array
    bounds: Array

    @classmethod
    def around(
        cls,
        x0: ArrayLike,
        sigma0: float,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> Self:
        """Return the box between the bounds; where there is none, its side is 2 sigma0 from x0.

        Parameters
        ----------
        x0, sigma0
            Starting point, shape (n,), and step size.
        lower, upper
            Bounds, one for all coordinates or one for each, shape (n,); None or infinite: none.

        Raises
        ------
        ValueError
            If bounds do not fit, or ``x0`` is not between them.
        """
        start = valid_start(x0, sigma0)
        low = _bounds("lower", lower, -np.inf, len(start))
        high = _bounds("upper", upper, np.inf, len(start))
        for i in np.flatnonzero(~(low < high)):
            raise ValueError(f"lower[{i}] = {low[i]} must be less than upper[{i}] = {high[i]}")
        for i in np.flatnonzero((start < low) | (start > high)):
            raise ValueError(f"x0[{i}] = {start[i]} must be within [{low[i]}, {high[i]}]")
        radius = 2 * float(sigma0)
        return cls(
            np.where(np.isfinite(low), low, np.minimum(start, high) - radius),
            np.where(np.isfinite(high), high, np.maximum(start, low) + radius),
            np.array([low, high]),
        )

    @property
    def center(self) -> Array:
        """The center of the box, shape (n,)."""
        center: Array = 0.5 * self.lower + 0.5 * self.upper  # a sum may overflow
        return center

    def uniform(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """Return a random point of the box, shape (n,); or ``count`` points, shape (count, n)."""
        size = None if count is None else (count, len(self.lower))
        return rng.uniform(self.lower, self.upper, size)

    def steps(self, start: Array, rng: np.random.Generator) -> Array:
        """Return a step along each coordinate: in a random direction, about a quarter of the box.

        The lengths differ, so that couplings of coordinates do not cancel in a joint step. A step
        that leaves the box is reversed.
        """
        n = len(start)
        lengths = rng.uniform(0.2, 0.3, n) * (self.upper - self.lower)
        steps: Array = lengths * rng.choice([-1.0, 1.0], n)
        leaves = (start + steps < self.lower) | (start + steps > self.upper)
        steps[leaves] *= -1
        return steps


def _bounds(name: str, given: ArrayLike | None, default: float, n: int) -> Array:
    bounds = real_array(default if given is None else given, name)
    if bounds.ndim > 0 and bounds.shape != (n,):
        raise ValueError(
            f"{name} must be one number or one for each of the {n} coordinates, not "
            f"{shortened(given)}"
        )
    return np.broadcast_to(bounds, n).copy()
