"""The reasons to stop that every solver's ``stop()`` uses."""

import math
from enum import StrEnum


class StopReason(StrEnum):
    """A reason to stop; ``stop()`` maps each one that applies to the value that triggered it.

    The values of the algorithms of this package are: the best value (``TARGET``, ``UNBOUNDED``),
    the budget, the condition number of the covariance, the standard deviation along the longest
    axis (``STEP_TOO_SMALL``, ``STEP_TOO_LARGE``), the difference of the latest values
    (``NO_PROGRESS``), how often the queue has been replaced without progress (``STAGNATION``, with
    ``noise="auto"``), and the number of consecutive failures (``UPDATE_FAILED``). Of `casmore.fmin`
    also the seconds (``TIME``) and the iterations (``CALLBACK``).
    """

    TARGET = "target reached"
    BUDGET = "budget exhausted"
    CONDITION = "condition number of the covariance too large"
    STEP_TOO_SMALL = "step size too small"
    STEP_TOO_LARGE = "step size too large"
    NO_PROGRESS = "no progress in f"
    STAGNATION = "noisy values no longer decrease"
    NOT_ADDITIVE = "f is not a sum of functions of single coordinates"
    UPDATE_FAILED = "the update failed repeatedly"
    TIME = "time limit reached"
    CALLBACK = "stopped by the callback"
    UNBOUNDED = "f is minus infinity, which no other point can improve"


def reached(best_y: float, target: float | None) -> dict[StopReason, float]:
    """Return the reason to stop due to the best value; empty if there is none.

    A target of infinity is reached by the first finite value. Without a target, minus infinity ends
    the run, but does not count as reaching a target.
    """
    if target is not None and best_y <= target and best_y < math.inf:
        return {StopReason.TARGET: best_y}
    if best_y == -math.inf:
        return {StopReason.UNBOUNDED: best_y}
    return {}
