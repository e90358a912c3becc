"""Validation of the options of wrapped solvers.

The wrapped packages check an option only when they use it, after some iterations or never, and may
take ``"false"`` as true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from casmore.algorithms.arguments import known_settings


@dataclass(frozen=True)
class OptionType:
    """The values that an option may have."""

    wanted: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_matrix(value: Any) -> bool:
    try:
        matrix = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return matrix.ndim == 2 and bool(np.isfinite(matrix).all())


BOOLEAN = OptionType("True or False", lambda value: isinstance(value, bool | np.bool_))
COUNT = OptionType("an integer of at least 1", _is_count)
MATRIX = OptionType("a matrix of finite numbers", _is_matrix)
POSITIVE = OptionType("a positive number", lambda value: _is_number(value) and value > 0)
TOLERANCE = OptionType(
    "a number that is not negative", lambda value: _is_number(value) and value >= 0
)


def one_of(*choices: str) -> OptionType:
    """Return the type of an option that is one of some strings."""
    return OptionType(" or ".join(map(repr, choices)), lambda value: value in choices)


def either(*types: OptionType) -> OptionType:
    """Return the type of an option that has one of several."""
    return OptionType(
        ", or ".join(kind.wanted for kind in types),
        lambda value: any(kind.holds(value) for kind in types),
    )


def check_options(given: Mapping[str, Any], known: Mapping[str, OptionType], solver: str) -> None:
    """Refuse options that the solver does not have, or of the wrong type.

    Raises
    ------
    TypeError
        If there is no such option.
    ValueError
        If its value is not of its type.
    """
    known_settings(given, tuple(known), solver)
    for name, value in given.items():
        if not known[name].holds(value):
            raise ValueError(f"{name} = {value!r} must be {known[name].wanted}")
