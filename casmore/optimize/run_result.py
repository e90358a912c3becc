"""The result of a run, and attaching it to an exception."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import OptimizeResult

from casmore.algorithms.models import Complexity
from casmore.algorithms.stopping import StopReason
from casmore.solvers.restarts import Restarting

if TYPE_CHECKING:
    from casmore.optimize.search_run import SearchRun

# Reasons that count as convergence if there is no target
_CONVERGED = {StopReason.NO_PROGRESS, StopReason.STEP_TOO_SMALL, StopReason.STAGNATION}
_MARK = "_has_result_of_casmore"


def build_result(
    run: SearchRun, stop: dict[StopReason, float], *, with_trace: bool = True
) -> OptimizeResult:
    """Return the result of the run; all arrays are copies."""
    if run.target is None:
        success = _has_converged(run, stop) and math.isfinite(run.best_y)
    else:
        success = StopReason.TARGET in stop
    distribution, space = run.solver.solver.distribution, run.space  # type: ignore[attr-defined]
    estimate = run.solver.solver.estimate_at_mean()  # type: ignore[attr-defined]
    recorded = {} if run.trace is None or not with_trace else {"trace": run.trace}
    with np.errstate(all="ignore"):  # variances of tiny and huge steps may leave the doubles
        covariance = space.covariance(distribution.mean, distribution.covariance)
    return OptimizeResult(
        **recorded,
        x=run.best_x.copy(),
        fun=run.best_y,
        nfev=run.evaluations,
        nit=run.iterations,
        restarts=run.solver.restarts,
        failures=run.failures,
        success=success,
        message=_message(run, stop, is_noisy=estimate.is_noisy),
        stop=dict(stop),
        mean=space.to_user(np.array([distribution.mean]))[0],
        mean_value=estimate.value,
        mean_error=estimate.error,
        cov=covariance,
    )


def _has_converged(run: SearchRun, stop: dict[StopReason, float]) -> bool:
    """Return whether the search, or one of its runs before a restart, has converged."""
    ended = run.solver.ended if isinstance(run.solver, Restarting) else []
    return any(_CONVERGED & set(reasons) for reasons in (stop, *ended))


def _message(run: SearchRun, stop: dict[StopReason, float], *, is_noisy: bool) -> str:
    message = "; ".join(str(reason) for reason in stop) or "running"
    if is_noisy:
        message += (
            " (the values look noisy, or f is rugged; if f is noisy, 'fun' is a lucky value, and "
            "'mean' is the recommended point, with the estimate 'mean_value')"
        )
    richest = run.solver.solver.parameters.richest_model  # type: ignore[attr-defined]
    if richest is Complexity.FULL or "richest_model" in run.solver.settings:
        return message
    why = "queue_size is too small" if "queue_size" in run.solver.settings else "n is too large"
    return f"{message} (the model was {richest}: {why} for a full one; see 'richest_model')"


def attach_result(error: BaseException, run: SearchRun) -> None:
    """Attach the result to an exception as its attribute ``result``, and add a note.

    An existing attribute ``result`` is not overwritten. An exception that accepts no attributes or
    notes is left unchanged.
    """
    with suppress(Exception):
        result = build_result(run, {})
        ours = getattr(error, _MARK, False)
        attached = ours or not hasattr(error, "result")
        if attached:
            # not setattr, which a frozen dataclass refuses
            BaseException.__setattr__(error, "result", result)
            BaseException.__setattr__(error, _MARK, True)
        if math.isfinite(result.fun):
            where = "; this exception's attribute 'result' has the whole result" if attached else ""
            error.add_note(
                f"casmore.fmin: best value so far {result.fun!r} after {result.nfev} evaluations, "
                f"at x = {result.x.tolist()}{where}"
            )
