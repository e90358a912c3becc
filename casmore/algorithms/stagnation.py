"""The end of a run in noise: the values of new samples no longer decrease.

Noisy values never agree to the digits that the other criteria require. Therefore, as in pycma
(``tolstagnation``), the last iterations are compared with those before them: if neither the median
of their medians nor that of their best values is lower, the run has stagnated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Stagnation:
    """Records the values of a run.

    Parameters
    ----------
    dimension
        The dimension n.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._medians: list[float] = []
        self._best: list[float] = []
        self._population = 1

    def update(self, y: Array) -> None:
        """Include the values of an iteration, shape (k,)."""
        self._medians.append(float(np.median(y)))
        self._best.append(float(y.min()))
        self._population = len(y)

    def found(self) -> float | None:
        """Return the median of the last values, if the run has stagnated."""
        done, k, n = len(self._medians), self._population, self._dimension
        window = math.ceil(max(10 + 10 * math.pow(n, 1.5) / k, 0.1 * done))
        if done < max(2 * window, 100, n * (5 + 100 / k)):
            return None
        for values in (self._best, self._medians):
            median = float(np.median(values[-window:]))
            if median < np.median(values[-2 * window : -window]):
                return None
        return median
