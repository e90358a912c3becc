"""Foreign solvers for the bridge's tests: they call the objective themselves."""

from typing import Any

import numpy as np

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Objective


def coordinate_search(
    start: list[float], steps: int, objective: Objective
) -> dict[StopReason, float]:
    """Move along one coordinate after the other, by half the step where that is no better."""
    x, step, i = np.array(start), 1.0, 0
    best = objective(x)
    for _ in range(steps):
        i = (i + 1) % len(x)
        for sign in (1, -1):
            x[i] += sign * step
            value = objective(x)
            if value < best:
                best = value
                break
            x[i] -= sign * step
        else:
            step *= 0.7
    return {StopReason.STEP_TOO_SMALL: step}


def in_batches(n: int, objective: Objective) -> dict[StopReason, float]:
    """Ask for batches of 1, 2, 3, ... points for ever, the sum of the last values in each."""
    total = 0.0
    for k in range(1, 1000):
        total = float(np.sum(objective(np.full((k, n), total) + np.arange(k)[:, np.newaxis])))
        total = total % 1.0
    return {StopReason.NO_PROGRESS: 0.0}


def raises(what: type[Exception], after: int, objective: Objective) -> dict[StopReason, float]:
    """Fail after some evaluations."""
    for i in range(after):
        objective(np.array([float(i), 0.0]))
    raise what("as asked for")


def swallows(log: list[Any], objective: Objective) -> dict[StopReason, float]:
    """Catch every exception there is, and note that it had to end."""
    while True:
        try:
            objective(np.zeros(2))
        except Exception:
            log.append("exception")
        except BaseException:
            log.append("end")
            raise


def forgetful(start: float, objective: Objective) -> dict[StopReason, float]:
    """Ask for other points in each run: not to be pickled."""
    while True:
        objective(np.random.default_rng().standard_normal(2) + start)
