"""The prospects of a run, judged by its latest values: may it still find a better one?"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Prospects:
    """The latest values of a run.

    Parameters
    ----------
    window
        Number of evaluations that are looked at, rounded up to whole batches.
    batches
        Smallest number of batches that are looked at.

    Attributes
    ----------
    best : float
        The smallest value of the run.
    idle : int
        Number of evaluations after the batch with the smallest value.
    """

    def __init__(self, window: int, batches: int = 1) -> None:
        self._window, self._batches = window, batches
        self._latest: deque[tuple[int, float, float]] = deque()  # count, smallest, largest value
        self._count = 0  # evaluations in these batches
        self.best, self.idle = math.inf, 0

    def tell(self, y: Array) -> None:
        """Take the values of a batch, shape (k,), k at least 1; NaN counts as infinity."""
        y = np.where(np.isnan(y), math.inf, y)
        smallest = float(y.min())
        self._latest.append((len(y), smallest, float(y.max())))
        self._count += len(y)
        while (
            len(self._latest) > self._batches and self._count - self._latest[0][0] >= self._window
        ):
            self._count -= self._latest.popleft()[0]
        self.idle += len(y)
        if smallest < self.best:
            self.best, self.idle = smallest, 0

    def is_hopeless(self, record: float) -> bool:
        """Return whether the latest values vary by a tenth of what the run is behind, or less.

        A tenth, since in a curved valley values decrease slowly, but over a long way.

        Parameters
        ----------
        record
            The smallest value of all runs.
        """
        if self._count < self._window or len(self._latest) < self._batches:
            return False
        smallest = min(low for _, low, _ in self._latest)
        largest = max(high for _, _, high in self._latest)
        return largest - smallest < 0.1 * (self.best - record)
