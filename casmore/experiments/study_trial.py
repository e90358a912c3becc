"""Runs of a study: every iteration recorded, over when the value at the mean is at the target."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.restarts import Restarting
from casmore.trace import Trace

Array = NDArray[np.float64]

FILE = "trace.npz"


class Objective(Protocol):
    """What a run of a study minimises."""

    def __call__(self, x: Array, /) -> float:
        """Return the value at a mean, shape (n,)."""

    def batch(self, X: Array, /) -> Array:
        """Return the values of samples, shape (k, n) -> (k,)."""


def minimise(
    solver: Restarting, f: Objective, *, budget: int, target: float
) -> tuple[Trace, dict[StopReason, float]]:
    """Run ``solver`` until the target, the end of the budget or its own wish to stop.

    Parameters
    ----------
    solver
        A fresh one.
    f
        It is called at the mean after each iteration.
    budget
        Evaluations; those at the mean do not count, as no solver sees them.
    target
        Value at the mean that ends the run.

    Returns
    -------
    trace : Trace
        Of all iterations.
    reasons : dict
        Why the run ended.
    """
    trace = Trace()
    trace.record(solver.solver, f_mean=f(solver.mean))
    while not (reasons := solver.stop()):
        X = solver.ask()[: budget - solver.evaluations]
        y = f.batch(X)
        solver.tell(X, y)
        f_mean = f(solver.mean)
        trace.record(
            solver.solver,
            y,
            f_mean=f_mean,
            evaluations=solver.evaluations,
            best_y=solver.best_y,
            restart=solver.restarts,
        )
        if f_mean <= target:
            return trace, {StopReason.TARGET: f_mean}
        if solver.evaluations >= budget:
            return trace, {StopReason.BUDGET: float(budget)}
    return trace, reasons
