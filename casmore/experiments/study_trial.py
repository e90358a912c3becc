"""Runs of a study, which are traced and end when the value at the mean reaches the target."""

from casmore.algorithms.stopping import StopReason
from casmore.experiments.store.checksums import check_before_use
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit
from casmore.problems.analytic import AnalyticFunction
from casmore.solvers.restarts import Restarting
from casmore.trace import Trace

FILE = "trace.npz"


def load_trace(folder: RunFolder, unit: Unit) -> Trace:
    """Return the trace of a published unit.

    Raises
    ------
    BrokenDataError
        If the unit is damaged; the message says what to do.
    """
    check_before_use(folder.unit(unit), folder.root)
    return Trace.load(folder.unit(unit) / FILE)


def minimize(
    solver: Restarting, f: AnalyticFunction, *, budget: int, target: float
) -> tuple[Trace, dict[StopReason, float]]:
    """Run ``solver`` until it reaches the target, spends the budget, or stops.

    Parameters
    ----------
    solver
        A new solver.
    f
        The objective, with the optimal value 0.
    budget
        Number of evaluations; those at the mean, which the solver does not see, do not count.
    target
        Value at the mean that ends the run.

    Returns
    -------
    trace : Trace
        The trace of all iterations.
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
