"""A test of additivity: is f a sum of functions of single coordinates?

It compares mixed differences, as differential grouping does for pairs of coordinates, but for two
random halves of the coordinates at once. For steps a and b in the two halves, an additive function
satisfies

    f(c + a + b) - f(c + a) - f(c + b) + f(c) = 0

up to rounding, and most others do not. So four evaluations are enough to refuse. A coupling within
a half would go unnoticed. Therefore f is then evaluated after the single steps: the differences
along the coordinates of a half must sum up to the difference along the half's joint step.

References
----------
Omidvar, Li, Mei and Yao, "Cooperative co-evolution with differential grouping for large scale
optimization", IEEE Transactions on Evolutionary Computation 18(3), 2014.

Omidvar, Yang, Mei, Li and Yao, "DG2: a faster and more accurate differential grouping for
large-scale black-box optimization", same journal 21(6), 2017: the threshold from rounding errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Tolerance of the differences, relative to n times the largest value. Rounding errors of a sum of n
# terms are near 1e-16; those of f's own computations may be larger.
_TOLERANCE = 1e-11


class AdditivityTest:
    """The points of the test, and what their values show.

    Parameters
    ----------
    center
        ``c``, shape (n,).
    steps
        The step along each coordinate, shape (n,), not zero.
    rng
        Draws the halves.

    Attributes
    ----------
    first : ndarray
        ``c``, ``c + a``, ``c + b`` and ``c + a + b``, shape (4, n); in 1-D, shape (2, 1).
    single : ndarray
        The points after single steps, shape (n, n).
    """

    def __init__(self, center: Array, steps: Array, rng: np.random.Generator) -> None:
        n = len(center)
        order = rng.permutation(n)
        self._halves = [h for h in (np.sort(order[: n // 2]), np.sort(order[n // 2 :])) if len(h)]
        joint = np.zeros((len(self._halves), n))
        for row, half in zip(joint, self._halves, strict=True):
            row[half] = steps[half]
        both = [] if len(joint) == 1 else [center + joint.sum(axis=0)]
        self.first: Array = np.array([center, *(center + joint), *both])
        self.single: Array = center + np.diag(steps)

    def may_be_additive(self, first: Array) -> bool:
        """Return whether the values of ``first`` are those of an additive function.

        Values that are all equal show nothing, and count as not additive.
        """
        if not np.isfinite(first).all() or (first == first[0]).all():
            return False
        if len(self._halves) == 1:
            return True
        base, a, b, both = map(float, first)
        return bool(abs((both - a) - (b - base)) <= self.tolerance(first))

    def is_additive(self, first: Array, single: Array) -> bool:
        """Return whether the values of ``first`` and ``single`` are those of an additive function.

        Parameters
        ----------
        first, single
            The values, shapes (4,) and (n,).
        """
        if not (self.may_be_additive(first) and np.isfinite(single).all()):
            return False
        tolerance = self.tolerance(np.concatenate([first, single]))
        differences = single - first[0]
        return all(
            abs(float(joint - first[0]) - float(differences[half].sum())) <= tolerance
            for joint, half in zip(first[1:], self._halves, strict=False)
        )

    def tolerance(self, values: Array) -> float:
        """Return the largest difference that rounding explains."""
        return float(_TOLERANCE * len(self.single) * np.abs(values).max())
