"""The method for ``scipy.optimize.minimize``, with SciPy's conventions."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, OptimizeWarning

from casmore.algorithms.lean_cas_more import LeanCasMoreParameters
from casmore.optimize.fmin_arguments import read_count
from casmore.optimize.minimizer import fmin
from casmore.solvers.space_arguments import read_bounds, reusable_bounds

_OPTIONS = {
    name
    for name in inspect.signature(fmin).parameters
    if name not in ("f", "x0", "settings", "args", "bounds", "callback")
} | {field.name for field in fields(LeanCasMoreParameters)}
_SETS_BOTH = ("tolerance_f", "tolerance_step")


def minimize_method(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    *,
    sigma0: ArrayLike | None = None,
    tol: float | None = None,
    maxfev: float | None = None,
    maxiter: float | None = None,
    disp: bool = False,
    **options: Any,
) -> OptimizeResult:
    """Run CAS-MORE as ``scipy.optimize.minimize(f, x0, method=casmore.minimize_method)``.

    Parameters
    ----------
    fun, x0, args, bounds
        See ``scipy.optimize.minimize``.
    jac, hess, hessp
        Ignored; the method does not use derivatives.
    constraints
        Not supported; must be empty.
    callback
        Called after each iteration: ``callback(intermediate_result=result)`` if that is its only
        parameter's name, else ``callback(xk)``, with the best point so far. It may raise
        ``StopIteration`` or return True to end the run.
    sigma0
        Initial standard deviation, see `casmore.fmin`; default 1, or a quarter of the distance
        between the bounds if that is less.
    tol
        Sets ``tolerance_f``, an absolute difference of values, and ``tolerance_step``, a fraction
        of ``sigma0``, unless these are given.
    maxfev, maxiter
        Largest numbers of evaluations and of iterations.
    disp
        Whether to print a summary at the end.
    **options
        Further arguments of `casmore.fmin`. ``budget`` is another name of ``maxfev``; unknown
        options give an ``OptimizeWarning``, as with SciPy's methods.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of `casmore.fmin`, with ``status``: 0 if ``success``, else 1.

    Raises
    ------
    ValueError
        If there are constraints, both ``budget`` and ``maxfev`` are given, or an argument is out of
        its range.
    TypeError
        If an argument has the wrong type.
    """
    bounds = reusable_bounds(bounds)
    if _given(constraints):
        raise ValueError("CAS-MORE takes bounds but no other constraints")
    if maxfev is not None:
        if options.get("budget") is not None:
            raise ValueError("maxfev and budget are the same option; give one of them")
        options["budget"] = read_count("maxfev", maxfev)
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        warnings.warn(
            f"Unknown solver options: {', '.join(unknown)}", OptimizeWarning, stacklevel=3
        )
    known = {name: value for name, value in options.items() if name in _OPTIONS}
    if tol is not None:
        known = {**dict.fromkeys(_SETS_BOTH, tol), **known}
    if maxiter is not None:
        maxiter = read_count("maxiter", maxiter)
    if sigma0 is None and known.get("cov0") is None:
        sigma0 = _default_step_size(bounds, np.size(x0))
    result = fmin(
        fun,
        x0,
        sigma0,
        args=args,
        bounds=bounds,
        callback=_after_iterations(callback, maxiter),
        **known,
    )
    if maxiter is not None and result.nit >= maxiter and not result.success:
        result.message = "largest number of iterations reached"
    result.status = 0 if result.success else 1
    if disp:
        print(f"{result.message}: f = {result.fun:.6g} after {result.nfev} evaluations")
    return result


def _given(constraints: Any) -> bool:
    """Return whether there are constraints; without any, SciPy passes (), [] or None."""
    return constraints is not None and not (
        hasattr(constraints, "__len__") and len(constraints) == 0
    )


def _default_step_size(bounds: Any, n: int) -> Any:
    lower, upper = read_bounds(bounds, n)
    span = np.where(upper > lower, upper - lower, np.inf)
    sizes = np.minimum(1.0, span / 4)
    return 1.0 if (sizes == 1.0).all() else sizes


def _after_iterations(
    callback: Callable[..., Any] | None, maxiter: float | None
) -> Callable[[OptimizeResult], bool] | None:
    """Return the callback of `fmin` that calls the user's, and counts iterations."""
    if callback is None and maxiter is None:
        return None

    def after_iteration(result: OptimizeResult) -> bool:
        stop = callback is not None and bool(_called(callback, result))
        return stop or (maxiter is not None and result.nit >= maxiter)

    return after_iteration


def _called(callback: Callable[..., Any], result: OptimizeResult) -> Any:
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):  # raised for some compiled functions
        names = set()
    if names == {"intermediate_result"}:
        return callback(intermediate_result=result)
    return callback(np.copy(result.x))
