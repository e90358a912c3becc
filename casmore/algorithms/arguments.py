"""Validation of arguments and settings, common to all algorithms."""

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import cache
from numbers import Integral, Real
from typing import get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.real_numbers import real_array, shortened

Array = NDArray[np.float64]


def valid_start(x0: ArrayLike, sigma0: float) -> Array:
    """Return the initial mean as a new array, shape (n,).

    Raises
    ------
    ValueError
        If ``x0`` is not a finite vector, or ``sigma0`` not one number, positive and finite.
    TypeError
        If one of them is not real.
    """
    mean = real_array(x0, "x0")
    if mean.ndim != 1 or len(mean) == 0:
        raise ValueError(f"x0 must be a vector of at least one number, not of shape {mean.shape}")
    if not np.isfinite(mean).all():
        raise ValueError(f"x0 must be finite, not {mean}")
    given = real_array(sigma0, "sigma0")
    if given.ndim > 0:
        raise ValueError(f"sigma0 must be one number, not {shortened(sigma0)}")
    if not 0 < given < math.inf:
        raise ValueError(f"sigma0 must be positive and finite, not {sigma0!r}")
    return mean


def valid_samples(X: ArrayLike, y: ArrayLike, n: int) -> tuple[Array, Array]:
    """Return points, shape (k, n), and values, shape (k,), as new arrays, NaN as infinity.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a point is not finite.
    TypeError
        If a point or a value is not real.
    """
    X, y = real_array(X, "X"), real_array(y, "y")
    if X.ndim != 2 or X.shape[1] != n:
        raise ValueError(f"X must have shape (k, {n}), not {X.shape}")
    if y.shape != (len(X),):
        raise ValueError(f"y must have shape ({len(X)},), one value a point, not {y.shape}")
    check_finite(X, "X")
    y[np.isnan(y)] = math.inf
    return X, y


def check_finite(X: Array, name: str) -> None:
    """Raise an error if a point of ``X``, shape (k, n), is not finite.

    Raises
    ------
    ValueError
        With the first such point.
    """
    if not np.isfinite(X).all():
        i = int(np.argmin(np.isfinite(X).all(axis=1)))
        point = shortened(X[i].tolist())
        raise ValueError(f"{name} holds a point that is not finite: {name}[{i}] = {point}")


def valid_target(target: object) -> float | None:
    """Return the target as a float; None: there is no target.

    Raises
    ------
    TypeError
        If it is not real.
    ValueError
        If it is NaN, or not one number.
    """
    if target is None:
        return None
    value = real_array(target, "target")
    if value.ndim > 0 or np.isnan(value):
        raise ValueError(f"target must be one number, not {shortened(target)}")
    return float(value)


def known_settings(given: Iterable[str], known: Sequence[str], solver: str) -> None:
    """Raise an error for names that are not settings of the solver.

    Raises
    ------
    TypeError
        The message names the first such name, and the closest setting or all settings.
    """
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise TypeError(f"{solver} has no setting {name!r}; {hint}")


class CheckedSettings:
    """Base class of the frozen dataclasses of settings; checks types and ranges.

    The ``__post_init__`` of a subclass first calls ``_check_types``, then checks the ranges. Fields
    have the type int, float, bool, or a StrEnum, whose members may be given as strings.
    """

    def _require(self, name: str, holds: bool, wanted: str) -> None:
        """Raise an error if a setting is out of its range."""
        if not holds:
            raise ValueError(f"{name} = {getattr(self, name)!r} must be {wanted}")

    def _check_types(self) -> None:
        """Convert each setting to its field's type; refuse NaN and values of other types.

        Raises
        ------
        ValueError
            With the name of the first invalid setting, its value, and what is allowed.
        """
        for name, kind in _field_types(type(self)).items():  # type: ignore[arg-type]
            given = getattr(self, name)
            if issubclass(kind, StrEnum):
                self._require(
                    name,
                    isinstance(given, str) and given in list(kind),
                    " or ".join(map(repr, map(str, kind))),
                )
            elif kind is bool:
                self._require(name, isinstance(given, bool | np.bool_), "True or False")
            elif kind is int:
                self._require(
                    name,
                    isinstance(given, Integral) and not isinstance(given, bool),
                    "an integer",
                )
            else:
                is_number = isinstance(given, Real) and not isinstance(given, bool)
                self._require(name, is_number and given == given, "a number")
            try:
                value = kind(given)
            except OverflowError:  # an integer beyond the largest double
                value = math.copysign(math.inf, given)
            object.__setattr__(self, name, value)  # frozen: once, while being built


@cache
def _field_types(settings: type) -> dict[str, type]:
    hints = get_type_hints(settings)
    return {field.name: hints[field.name] for field in fields(settings)}
