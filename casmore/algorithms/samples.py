"""The queue of evaluated samples, first in, first out."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SampleQueue:
    """The last ``capacity`` samples and their function values.

    A ring buffer: newcomers overwrite the oldest in place, nothing is moved. The rows stand in no
    particular order, which least squares does not mind.

    Parameters
    ----------
    dimension
        The dimension n of the points.
    capacity
        ``Q_max``, the largest number of samples kept.
    """

    def __init__(self, dimension: int, capacity: int) -> None:
        self.capacity = capacity
        self._points = np.empty((capacity, dimension))
        self._values = np.empty(capacity)
        self._next = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def points(self) -> Array:
        """View of the samples, shape (q, n)."""
        return self._points[: self._size]

    @property
    def values(self) -> Array:
        """View of their function values, shape (q,)."""
        return self._values[: self._size]

    def add(self, X: Array, y: Array) -> NDArray[np.intp]:
        """Append samples in order; return the rows they took, shape (k,).

        Of more samples than the queue holds, the last ones stay.
        """
        X, y = X[-self.capacity :], y[-self.capacity :]
        rows = (self._next + np.arange(len(y))) % self.capacity
        self._points[rows] = X
        self._values[rows] = y
        self._next = (self._next + len(y)) % self.capacity
        self._size = min(self._size + len(y), self.capacity)
        return rows
