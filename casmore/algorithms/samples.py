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
    """

    def __init__(self, dimension: int, capacity: int) -> None:
        self.capacity = capacity
        self._points = np.empty((capacity, dimension))
        self._values = np.empty(capacity)
        self.total = 0  # number of samples ever added; sample i is in row i % capacity

    def __len__(self) -> int:
        return min(self.total, self.capacity)

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

    def rows_since(self, total: int) -> NDArray[np.intp]:
        """Return the rows written since ``total`` had this value, oldest first, each once."""
        first = max(total, self.total - self.capacity)
        return np.arange(first, self.total) % self.capacity


def _read_only(view: Array) -> Array:
    view.flags.writeable = False
    return view
