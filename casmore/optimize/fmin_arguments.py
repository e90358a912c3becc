"""Validation of the arguments of `fmin`; errors name argument, value and what is allowed."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import check_finite
from casmore.algorithms.real_numbers import real_array, shortened
from casmore.optimize.evaluation_log import dimension_in, read_evaluations
from casmore.solvers.protocol import Seed
from casmore.solvers.restarts import RestartPolicy
from casmore.solvers.space_arguments import read_bounds

Array = NDArray[np.float64]

# Evaluations per dimension when no budget is given, as in the paper's benchmarks
_DEFAULT_BUDGET = 10_000


def read_budget(budget: Any, n: int) -> int:
    """Return the largest number of evaluations; whole floats such as 1e4 are accepted.

    Raises
    ------
    TypeError
        If it is not a whole number.
    ValueError
        If it is less than 1.
    """
    return _DEFAULT_BUDGET * n if budget is None else read_count("budget", budget)


def read_count(name: str, given: Any) -> int:
    """Return a whole number of at least 1.

    Raises
    ------
    TypeError
        If it is not a whole number.
    ValueError
        If it is less than 1.
    """
    is_number = isinstance(given, int | float | np.integer | np.floating)
    if isinstance(given, bool) or not is_number or given != given or abs(given) == math.inf:
        raise TypeError(f"{name} must be a whole number, not {shortened(given)}")
    if given != int(given):
        raise TypeError(f"{name} must be a whole number, not {given!r}")
    if given < 1:
        raise ValueError(f"{name} must be at least 1, not {given!r}")
    return int(given)


def read_seconds(name: str, given: Any) -> float | None:
    """Return a duration in seconds, None if there is no limit.

    Raises
    ------
    TypeError
        If it is not real.
    ValueError
        If it is not positive.
    """
    if given is None:
        return None
    value = real_array(given, name)
    if value.ndim > 0 or not value > 0:
        raise ValueError(f"{name} must be a positive number of seconds, not {shortened(given)}")
    return None if value == math.inf else float(value)


def read_policy(restarts: Any) -> RestartPolicy:
    """Return the restart policy.

    Raises
    ------
    ValueError
        If there is no such policy; the message lists them.
    """
    try:
        return RestartPolicy(restarts)
    except ValueError:
        choices = ", ".join(repr(str(policy)) for policy in RestartPolicy)
        raise ValueError(f"restarts must be one of {choices}, not {restarts!r}") from None


def read_seed(seed: Any) -> Seed:
    """Return the seed of the run; from legacy generators (``RandomState``), draw one.

    A ``SeedSequence`` is copied: it counts what is spawned from it, so that a second run with the
    same object would differ.

    Raises
    ------
    TypeError, ValueError
        If NumPy can't make a generator from it.
    """
    if isinstance(seed, np.random.RandomState):
        return np.random.SeedSequence(seed.randint(2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(seed, np.random.SeedSequence):
        return copy.deepcopy(seed)
    if isinstance(seed, np.random.Generator):
        # NumPy can't spawn from generators that were not made from a SeedSequence
        if not hasattr(seed.bit_generator.seed_seq, "spawn"):
            return np.random.SeedSequence(seed.integers(2**32, size=4).tolist())
        return seed
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        wanted = "None, a non-negative integer, or a generator of NumPy"
        raise type(error)(f"seed must be {wanted}, not {seed!r}") from error
    valid: Seed = seed
    return valid


def check_flag(name: str, given: Any) -> None:
    """Raise an error unless the value is True or False; the string "false" is not.

    Raises
    ------
    TypeError
        If it is not a bool.
    """
    if not isinstance(given, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {given!r}")


def check_file(name: str, given: Any) -> None:
    """Raise an error unless the value is None or the name of a file.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if given is not None and not isinstance(given, str | os.PathLike):
        raise TypeError(f"{name} must be the name of a file, not {shortened(given)}")


def check_callable(name: str, given: Any, *, optional: bool = False) -> None:
    """Raise an error unless the value is callable.

    Raises
    ------
    TypeError
        If it is not callable.
    """
    if not callable(given) and not (optional and given is None):
        raise TypeError(f"{name} must be a function, not {shortened(given)}")


def read_known(x_known: Any, y_known: ArrayLike | None, n: int) -> tuple[Array, Array]:
    """Return points and values of previous evaluations, shapes (k, n) and (k,).

    Parameters
    ----------
    x_known
        Points, or the name of a CSV file that holds the values as well; None: no points.
    y_known
        Their values; NaN: failed.
    n
        The dimension.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a point is not finite.
    TypeError
        If a number is not real, or one of the two is missing.
    """
    if x_known is None and y_known is None:
        return np.empty((0, n)), np.empty(0)
    if isinstance(x_known, str | Path):
        if y_known is not None:
            raise TypeError("x_known is a file, which holds the values; leave y_known out")
        X, y = read_evaluations(x_known, n)
    elif x_known is None or y_known is None:
        raise TypeError("give x_known and y_known together")
    else:
        X, y = real_array(x_known, "x_known"), real_array(y_known, "y_known")
    if X.size == y.size == 0:
        return np.empty((0, n)), np.empty(0)
    if X.ndim != 2 or X.shape[1] != n:
        raise ValueError(f"x_known must have shape (k, {n}), not {X.shape}")
    if y.shape != (len(X),):
        raise ValueError(f"y_known must have shape ({len(X)},), one value a point, not {y.shape}")
    check_finite(X, "x_known")
    return X, y


def dimension(x0: Any, x_known: Any) -> int:
    """Return the dimension n, from the first argument that determines it.

    Raises
    ------
    TypeError
        If there is neither of them.
    ValueError
        If the points are not an array of shape (k, n).
    """
    if x0 is not None:
        return max(1, real_array(x0, "x0").size)  # other shapes are refused later
    if x_known is None:
        raise TypeError("x0 is missing: give the point at which to start")
    if isinstance(x_known, str | Path):
        return dimension_in(x_known)
    shape = real_array(x_known, "x_known").shape
    if len(shape) != 2:
        raise ValueError(f"x_known must have shape (k, n), not {shape}")
    return int(shape[1])


def best_known(X: Array, y: Array, bounds: Any) -> Array:
    """Return the best known point that is inside the bounds, shape (n,).

    Raises
    ------
    ValueError
        If there is none with a value.
    """
    lower, upper = read_bounds(bounds, X.shape[1])
    known = np.flatnonzero(~np.isnan(y) & ((lower <= X) & (upper >= X)).all(axis=1))
    if len(known) == 0:
        raise ValueError(
            "x0 is missing, and x_known holds no point inside the bounds with a value to start at"
        )
    best: Array = X[known[np.argmin(y[known])]]
    return best


def read_fixed(fixed: Any) -> Mapping[int, float] | None:
    """Return the fixed coordinates.

    Raises
    ------
    TypeError
        If it is not a mapping of indices to values.
    """
    if fixed is not None and not isinstance(fixed, Mapping):
        raise TypeError(f"fixed must map indices to values, as in {{0: 1.5}}, not {fixed!r}")
    return fixed
