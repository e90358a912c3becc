"""`minimize`: minimize a function without choosing an algorithm or its settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeResult

from casmore.algorithms.arguments import valid_target
from casmore.algorithms.real_numbers import real_array
from casmore.optimize import fmin_arguments
from casmore.optimize.evaluation import Call
from casmore.optimize.minimizer import Callback, execute
from casmore.optimize.search_run import SearchRun
from casmore.solvers.auto import Auto
from casmore.solvers.protocol import Seed
from casmore.solvers.space_arguments import SearchStart, read_bounds, read_start, reusable_bounds

Array = NDArray[np.float64]

# sigma0 as a fraction of the distance of the bounds, that of the BBOB experiments
_SIGMA_IN_BOUNDS = 0.2


def minimize(
    f: Callable[..., Any],
    bounds: Any = None,
    x0: ArrayLike | None = None,
    sigma0: ArrayLike | None = None,
    *,
    args: tuple[Any, ...] = (),
    budget: float | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    seed: Seed = None,
    callback: Callback | None = None,
    vectorized: bool = False,
    workers: int | Callable[..., Any] | None = None,
    timeout: float | None = None,
    checkpoint: str | Path | None = None,
    history: str | Path | None = None,
    progress: bool = False,
) -> OptimizeResult:
    """Minimize ``f`` globally, within bounds or around a starting point.

    The solver is `casmore.solvers.auto.Auto`: a search along the coordinates if ``f`` is a sum of
    functions of single coordinates, a quasi-Newton method otherwise, then lean CAS-MORE with
    restarts. It restarts until the budget is spent, the time is over, or the target is reached. It
    is not for noisy functions; for these use `casmore.fmin` with ``noise="auto"``.

    Parameters
    ----------
    f
        Takes a point, shape (n,), and returns its value. NaN and infinity rank last.
    bounds
        ``scipy.optimize.Bounds``, or a pair (lower, upper) for each coordinate, with None or an
        infinity where there is no bound. Points outside are never evaluated.
    x0
        The starting point, shape (n,); default: the center of the bounds. Required if a coordinate
        does not have two finite bounds.
    sigma0
        Initial standard deviation, one for all coordinates or one for each, shape (n,): about a
        third of the distance from ``x0`` within which you expect the minimum. Default: a fifth of
        the distance between the bounds. Required if a coordinate does not have two finite bounds.
    args
        Further arguments of ``f``.
    budget
        Largest number of evaluations; default 10000 n.
    max_seconds
        Stop after this wall time.
    target
        Stop once a value is at most this.
    seed
        The same seed gives the same run.
    callback, vectorized, workers, timeout, checkpoint, history, progress
        As in `casmore.fmin`. Only some parts of the solver evaluate several points at a time.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of `casmore.fmin`. ``x``, ``fun``: the best point of all parts and its value. ``mean``,
        ``cov``, ``mean_value``, ``mean_error``: those of the latest run of lean CAS-MORE, which may
        be elsewhere. ``success``: whether the target was reached or, without a target, whether at
        least one run of lean CAS-MORE has ended before the budget was spent.

    Raises
    ------
    ValueError
        If an argument is out of its range, or ``f`` does not return one number per point.
    TypeError
        If an argument has the wrong type, or ``x0`` or ``sigma0`` is required and missing.

    Examples
    --------
    >>> import casmore
    >>> result = casmore.minimize(lambda x: ((x - 1) ** 2).sum(), [(-5, 5)] * 4, target=1e-9)
    >>> bool(result.fun <= 1e-9), result.nfev
    (True, 14)
    """
    fmin_arguments.check_callable("f", f)
    fmin_arguments.check_callable("callback", callback, optional=True)
    for name, flag in (("vectorized", vectorized), ("progress", progress)):
        fmin_arguments.check_flag(name, flag)
    target, start = valid_target(target), _read_start(bounds, x0, sigma0)
    lower, upper = _region(start)
    solver = Auto(
        start.u0,
        start.sigma,
        seed=fmin_arguments.read_seed(seed),
        target=target,
        lower=lower,
        upper=upper,
        center_first=False,
    )
    n = len(start.space.lower)
    run = SearchRun(
        solver,
        start.space,
        start.space.to_user(start.u0[np.newaxis])[0],
        budget=fmin_arguments.read_budget(budget, n),
        max_seconds=fmin_arguments.read_seconds("max_seconds", max_seconds),
        target=target,
    )
    result = execute(
        run,
        Call(f, args),
        method="auto",
        start=start,
        seed=seed,
        vectorized=vectorized,
        workers=workers,
        timeout=timeout,
        callback=callback,
        checkpoint=checkpoint,
        history=history,
        progress=progress,
    )
    if target is None:
        result.success = result.restarts > 0 and math.isfinite(result.fun)
    return result


def _read_start(bounds: Any, x0: ArrayLike | None, sigma0: ArrayLike | None) -> SearchStart:
    """Return the search space and the start, with the defaults that the bounds give."""
    if x0 is None and bounds is None:
        raise TypeError("give bounds, or x0 and sigma0: where is the minimum expected?")
    bounds = reusable_bounds(bounds)
    n = _dimension(bounds) if x0 is None else real_array(x0, "x0").size
    lower, upper = read_bounds(bounds, n)
    with np.errstate(over="ignore"):  # bounds at the ends of the floats: as if there were none
        width = upper - lower
    open_ = np.flatnonzero(~np.isfinite(width))
    for name, given in (("x0", x0), ("sigma0", sigma0)):
        if given is None and len(open_) > 0:
            raise TypeError(f"{name} is missing: coordinate {open_[0]} has no two finite bounds")
    if x0 is None:
        x0 = 0.5 * lower + 0.5 * upper
    if sigma0 is None:
        sigma0 = np.where(width > 0, _SIGMA_IN_BOUNDS * width, 1.0)  # a fixed coordinate has none
    return read_start(x0, sigma0, bounds=bounds)


def _dimension(bounds: Any) -> int:
    try:
        return int(np.size(bounds.lb)) if hasattr(bounds, "lb") else len(bounds)
    except TypeError:
        raise ValueError(
            f"bounds must be pairs (lower, upper), or scipy.optimize.Bounds, not {bounds!r}"
        ) from None


def _region(start: SearchStart) -> tuple[Array, Array]:
    """Return the bounds in the solver's coordinates, infinite where there are none."""
    space = start.space
    x = space.to_user(start.u0[np.newaxis])[0]
    sides = []
    for side in (space.lower, space.upper):
        finite = np.isfinite(side)
        u = space.to_solver(np.where(finite, side, x)[np.newaxis])[0]
        free = finite[space.free]
        sides.append(np.where(free, u, np.copysign(np.inf, side[space.free])))
    return sides[0], sides[1]
