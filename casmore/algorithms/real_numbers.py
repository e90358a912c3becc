"""Conversion of numbers given by the user to arrays of floats.

NumPy's own conversion turns None into NaN and masked values into 0, and drops imaginary parts, at
most with a warning. Here each of these is an error.
"""

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60
_REAL_KINDS = "biuf"


def real_array(values: Any, name: str) -> Array:
    """Return ``values`` as a new array of floats of the same shape.

    Parameters
    ----------
    values
        A real number, or an array or nested sequence of real numbers. NaN and infinity are
        numbers.
    name
        Name of the values in error messages: ``"x0"``, ``"the value of f"``.

    Raises
    ------
    TypeError
        If an element is not a real number: None, text, a date, a masked or a complex value.
    ValueError
        If a sequence is ragged, or a number exceeds the range of double precision.
    """
    if type(values) is np.ndarray and values.dtype == np.float64:  # the usual case
        return values.copy()
    try:
        with np.errstate(over="ignore"):  # large long doubles become infinity
            array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
            if np.ma.is_masked(array):
                raise TypeError(f"{name} has masked elements: {shortened(values)}")
            in_list = isinstance(values, list | tuple) and array.dtype.kind == "f"
            if in_list and np.isnan(array).any():  # a masked element in a list becomes NaN
                array = np.asarray(values, dtype=object)
            if array.dtype.kind in _REAL_KINDS:
                return np.array(array, dtype=np.float64, subok=False)
    except TypeError:
        raise
    except Exception as error:  # the array conversion of an object may raise anything
        raise ValueError(f"{name} can't be read as real numbers: {shortened(values)}") from error
    if array.dtype == object:
        return _from_objects(array, name)
    raise TypeError(f"{name} must be real, not {shortened(values)}")


def _from_objects(array: NDArray[Any], name: str) -> Array:
    """Convert the elements of an array of Python objects: fractions, decimals, large integers."""
    result = np.empty(array.shape)
    for index, element in np.ndenumerate(array):
        result[index] = _from_object(element, name)
    return result


def _from_object(element: Any, name: str) -> float:
    if type(element) is float:
        return element
    if isinstance(element, np.ndarray | np.generic):
        values = real_array(element, name)
        if values.size == 1:
            return float(values.item())
    elif hasattr(type(element), "__float__"):
        try:
            return float(element)
        except Exception as error:  # an integer beyond the range, a signalling NaN, ...
            raise ValueError(f"{name} is not a double: {shortened(element)} ({error})") from error
    raise TypeError(f"{name} must be real, not {shortened(element)}")


def shortened(value: Any) -> str:
    """Return the representation of any object, cut to a length that fits an error message."""
    try:
        return _REPR.repr(value)
    except Exception:  # __repr__ of the object fails
        return f"<{type(value).__name__}>"
