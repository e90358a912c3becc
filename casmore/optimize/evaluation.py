"""Calling the user's function, and converting its return values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.real_numbers import real_array, shortened

Array = NDArray[np.float64]


# Returns the seconds that are left, 0 or more; None: no limit
TimeLeft = Callable[[], float | None]


class Evaluator(Protocol):
    """Evaluates the points of an iteration."""

    def __call__(self, X: Array, time_left: TimeLeft) -> Iterator[tuple[int, float]]:
        """Yield the index and the value of each row of ``X``, shape (k, n), as they arrive.

        Evaluations that have not begun, or run elsewhere, are abandoned when no time is left.
        """


class Call:
    """``f(x, *args)`` on a copy of x, for workers; the caller converts the value.

    As in SciPy, ``args`` that is not a tuple is a single argument.
    """

    def __init__(self, f: Callable[..., Any], args: Any) -> None:
        self.f, self.args = f, args if isinstance(args, tuple) else (args,)

    def __call__(self, x: Array) -> Any:
        """Return the unconverted return value of f."""
        return self.f(x.copy(), *self.args)


class SerialEvaluator:
    """One point after the other, in this thread."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __call__(self, X: Array, time_left: TimeLeft) -> Iterator[tuple[int, float]]:
        """Yield the values in the order of the points."""
        for i, x in enumerate(X):
            yield i, one_value(self._call(x))
            if time_left() == 0:
                return


class BatchEvaluator:
    """All points in one call of a function that accepts a batch."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __call__(self, X: Array, time_left: TimeLeft) -> Iterator[tuple[int, float]]:
        """Yield the values of one call."""
        returned = self._call(X)
        values = real_array(returned, "what f returns")
        if values.shape != (len(X),):
            raise ValueError(
                f"f must return {len(X)} values for {len(X)} points (vectorized=True), "
                f"not an array of shape {values.shape}"
            )
        yield from enumerate(values.tolist())


class MapEvaluator:
    """A map-like callable given by the user: ``map(call, points)``."""

    def __init__(self, call: Call, map_like: Callable[..., Any]) -> None:
        self._call, self._map = call, map_like

    def __call__(self, X: Array, time_left: TimeLeft) -> Iterator[tuple[int, float]]:
        """Yield the values in the order of the points, as the map returns them."""
        count = 0
        for count, value in enumerate(self._map(self._call, list(X)), start=1):
            if count > len(X):
                raise ValueError(f"workers returned more than {len(X)} values for {len(X)} points")
            yield count - 1, one_value(value)
        if count < len(X):
            raise ValueError(f"workers returned {count} values for {len(X)} points")


def one_value(returned: Any) -> float:
    """Return what f returned for one point as a float.

    Raises
    ------
    TypeError
        If it is not real: None, text, a masked or a complex value.
    ValueError
        If it is more than one number, or exceeds the range of double precision.
    """
    if type(returned) is float:
        return returned
    if returned is None:
        raise TypeError("f returned None; it must return one real number (is a return missing?)")
    value = real_array(returned, "what f returns")
    if value.size != 1:
        raise ValueError(
            f"f must return one number for one point, not {shortened(returned)}, "
            f"of shape {value.shape}"
        )
    return float(value.item())


def ranked(y: Array) -> Array:
    """Return values with NaN as infinity: both rank last."""
    return np.where(np.isnan(y), math.inf, y)
