"""Convert ``x0``, ``sigma0``, bounds and fixed coordinates to a search space, with checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_start
from casmore.algorithms.real_numbers import real_array, shortened
from casmore.solvers.search_space import SearchSpace

Array = NDArray[np.float64]

# A tenth of the relative step size at which a run ends due to rounding, to leave room for a search
_SMALLEST_MOVE = 0.02
_WANTED = "cov0 must be finite, symmetric and positive definite"


class SearchStart(NamedTuple):
    """A search space with a starting point.

    Attributes
    ----------
    space
        The search space.
    u0
        The starting point in the solver's coordinates, shape (m,).
    sigma
        The initial step size in the solver's coordinates.
    """

    space: SearchSpace
    u0: Array
    sigma: float


def read_start(
    x0: ArrayLike,
    sigma0: ArrayLike | None,
    *,
    bounds: Any = None,
    fixed: Mapping[int, float] | None = None,
    cov0: ArrayLike | None = None,
) -> SearchStart:
    """Check the arguments that define the search space.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial standard deviation, one for all coordinates or one for each, shape (n,).
    bounds
        See `read_bounds`; a coordinate with equal bounds is fixed.
    fixed
        Values of coordinates that are not searched, by index.
    cov0
        Initial covariance, shape (n, n), instead of ``sigma0``.

    Raises
    ------
    ValueError
        If an argument is out of its range, or arguments contradict each other.
    TypeError
        If a number is not real.
    """
    mean = valid_start(x0, 1.0)
    n = len(mean)
    lower, upper = read_bounds(bounds, n)
    values = _read_fixed(fixed, lower, upper)
    free = np.isnan(values)
    mean[~free] = values[~free]
    _check_inside(mean, lower, upper)
    factor, deviations, sigma = _read_scales(sigma0, cov0, free)
    _check_scales(mean, deviations, lower, upper, free)
    space = SearchSpace.make(lower, upper, values, deviations, factor)
    return SearchStart(space, space.to_solver(mean[np.newaxis])[0], sigma)


def _read_fixed(fixed: Mapping[int, float] | None, lower: Array, upper: Array) -> Array:
    """Return the values of fixed coordinates, NaN for the others."""
    n = len(lower)
    values = np.where(lower == upper, lower, math.nan)
    for i, given in (fixed or {}).items():
        if not isinstance(i, int | np.integer) or isinstance(i, bool) or not 0 <= i < n:
            raise ValueError(f"fixed: there is no coordinate {i!r}; indices go from 0 to {n - 1}")
        value = real_array(given, f"fixed[{i}]")
        if value.ndim > 0 or not np.isfinite(value):
            raise ValueError(f"fixed[{i}] must be one finite number, not {shortened(given)}")
        if not lower[i] <= value <= upper[i]:
            raise ValueError(
                f"fixed[{i}] = {value} is outside of its bounds [{lower[i]}, {upper[i]}]"
            )
        values[i] = value
    if not np.isnan(values).any():
        raise ValueError("all coordinates are fixed: there is nothing to search")
    return values


def _check_inside(mean: Array, lower: Array, upper: Array) -> None:
    for i in np.flatnonzero((mean < lower) | (mean > upper)):
        raise ValueError(
            f"x0[{i}] = {mean[i]} is outside of its bounds [{lower[i]}, {upper[i]}]; "
            "the search has to start inside"
        )


def _read_scales(
    sigma0: ArrayLike | None, cov0: ArrayLike | None, free: NDArray[np.bool_]
) -> tuple[Array | None, Array, float]:
    """Return the space's factor, all standard deviations, shape (n,), and the solver's sigma."""
    n = len(free)
    if cov0 is not None:
        if sigma0 is not None:
            raise ValueError("give sigma0 or cov0, not both: cov0 is the whole covariance")
        return _read_covariance(cov0, free)
    if sigma0 is None:
        raise ValueError(
            "sigma0 is missing: give the initial standard deviation, about a third "
            "of the distance within which you expect the minimum"
        )
    sigma = real_array(sigma0, "sigma0")
    if sigma.ndim > 0 and sigma.shape != (n,):
        raise ValueError(
            f"sigma0 must be one number or one for each of the {n} coordinates, "
            f"not of shape {sigma.shape}"
        )
    if not (np.isfinite(sigma) & (sigma > 0)).all():
        raise ValueError(f"sigma0 must be positive and finite, not {shortened(sigma0)}")
    deviations = np.broadcast_to(sigma, n).copy()
    if (deviations[free] == deviations[free][0]).all():
        return None, deviations, float(deviations[free][0])
    return deviations[free], deviations, 1.0


def _read_covariance(cov0: ArrayLike, free: NDArray[np.bool_]) -> tuple[Array | None, Array, float]:
    n = len(free)
    covariance = real_array(cov0, "cov0")
    if covariance.shape != (n, n):
        raise ValueError(f"cov0 must have shape ({n}, {n}), not {covariance.shape}")
    deviations = np.ones(n)
    variances = np.diag(covariance)[free]
    if not (np.isfinite(covariance).all() and (variances > 0).all()):
        raise ValueError(f"{_WANTED}, with positive variances, not {variances}")
    deviations[free] = np.sqrt(variances)
    scales = deviations[free]
    correlation = covariance[np.ix_(free, free)] / np.outer(scales, scales)
    if not np.allclose(correlation, correlation.T, rtol=0, atol=1e-8):
        raise ValueError(f"{_WANTED}; it is not symmetric")
    if np.count_nonzero(correlation) == len(scales):  # only scales
        return scales, deviations, 1.0
    try:
        factor = np.linalg.cholesky(0.5 * (correlation + correlation.T))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{_WANTED}; it is not positive definite") from error
    return np.asarray(scales[:, np.newaxis] * factor, dtype=float), deviations, 1.0


def _check_scales(
    mean: Array, deviations: Array, lower: Array, upper: Array, free: NDArray[np.bool_]
) -> None:
    for i in np.flatnonzero(free):
        x, sigma, span = mean[i], deviations[i], float(upper[i]) - float(lower[i])
        if x + _SMALLEST_MOVE * sigma == x:
            raise ValueError(
                f"sigma0 = {sigma} is lost in rounding beside x0[{i}] = {x}, where neighboring "
                f"numbers are {np.spacing(abs(x))} apart; subtract an offset from this coordinate"
            )
        if sigma > span / 2:
            raise ValueError(
                f"sigma0 = {sigma} is too large for the bounds [{lower[i]}, {upper[i]}] of "
                f"coordinate {i}; a third of their distance or less is right, at most half"
            )


def reusable_bounds(bounds: Any) -> Any:
    """Return bounds that can be read more than once: those of an iterator as a list."""
    return list(bounds) if isinstance(bounds, Iterator) else bounds


def read_bounds(bounds: Any, n: int) -> tuple[Array, Array]:
    """Return lower and upper bounds, shape (n,) each, infinite where there are none.

    Parameters
    ----------
    bounds
        None; ``scipy.optimize.Bounds``; a sequence of n pairs (lower, upper) in which None stands
        for no bound; or an array of shape (n, 2).
    n
        The dimension.

    Raises
    ------
    ValueError
        If there are not n pairs, or a lower bound is greater than the upper one, or is NaN.
    TypeError
        If a bound is not real.
    """
    if bounds is None:
        return np.full(n, -math.inf), np.full(n, math.inf)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = real_array(bounds.lb, "bounds.lb"), real_array(bounds.ub, "bounds.ub")
        try:
            lower, upper = np.broadcast_to(lower, n).copy(), np.broadcast_to(upper, n).copy()
        except ValueError as error:
            raise ValueError(f"bounds must hold {n} lower and {n} upper bounds") from error
    else:
        pairs = _pairs(bounds, n)
        lower = real_array([-math.inf if a is None else a for a, _ in pairs], "lower bounds")
        upper = real_array([math.inf if b is None else b for _, b in pairs], "upper bounds")
    for i, (a, b) in enumerate(zip(lower, upper, strict=True)):
        if not a <= b or a == math.inf or b == -math.inf:
            raise ValueError(f"bounds of coordinate {i}: lower = {a} must be <= upper = {b}")
    return lower, upper


def _pairs(bounds: Any, n: int) -> list[tuple[Any, Any]]:
    wanted = f"bounds must be {n} pairs (lower, upper), or scipy.optimize.Bounds"
    try:
        pairs = [tuple(pair) for pair in bounds]
    except TypeError as error:
        raise ValueError(f"{wanted}, not {shortened(bounds)}") from error
    if len(pairs) != n or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{wanted}, not {shortened(bounds)}")
    return [(a, b) for a, b in pairs]
