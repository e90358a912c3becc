"""The queue of evaluated samples, first in, first out."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SampleQueue:
    """The last ``capacity`` samples and their function values.

    A ring buffer: new samples overwrite the oldest in place. The rows have no particular order,
    which does not matter for least squares.

    Parameters
    ----------
    dimension
        The dimension n of the points.
    capacity
        ``Q_max``, the largest number of samples kept.

    Attributes
    ----------
    total : int
        Number of samples ever added.
    resized : int
        How often the capacity has changed, which moves all samples to other rows.
    """

    def __init__(self, dimension: int, capacity: int) -> None:
        self.capacity = capacity
        self._points = np.empty((capacity, dimension))
        self._values = np.empty(capacity)
        self.total = self.resized = 0
        self._first = 0  # sample i is in row (i - first) % capacity

    def __len__(self) -> int:
        return min(self.total - self._first, self.capacity)

    @property
    def points(self) -> Array:
        """Read-only view of the samples, shape (q, n)."""
        return _read_only(self._points[: len(self)])

    @property
    def values(self) -> Array:
        """Read-only view of their function values, shape (q,)."""
        return _read_only(self._values[: len(self)])

    def add(self, X: Array, y: Array) -> None:
        """Append samples in order; if there are more than the capacity, the last ones are kept."""
        before = self.total
        self.total += len(y)
        rows = self.rows_since(before)
        self._points[rows] = X[-self.capacity :]
        self._values[rows] = y[-self.capacity :]

    def resize(self, capacity: int) -> None:
        """Change the capacity; the last samples are kept, as many as it holds."""
        if capacity == self.capacity:
            return
        kept = self.rows_since(self.total - min(len(self), capacity))
        X, y = self._points[kept], self._values[kept]
        self.capacity = capacity
        self._points, self._values = np.empty((capacity, X.shape[1])), np.empty(capacity)
        self._points[: len(y)], self._values[: len(y)] = X, y
        self._first = self.total - len(y)
        self.resized += 1

    def rows_since(self, total: int) -> NDArray[np.intp]:
        """Return the rows written since ``total`` had this value, oldest first, each once."""
        first = max(total, self.total - self.capacity, self._first)
        return (np.arange(first, self.total) - self._first) % self.capacity


def _read_only(view: Array) -> Array:
    view.flags.writeable = False
    return view
