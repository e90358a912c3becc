"""A run of a study on a task, traced with the expected return of the mean."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.problems.episodic.objective import EpisodicObjective
from casmore.solvers.restarts import Restarting
from casmore.trace import Trace

Array = NDArray[np.float64]
Columns = dict[str, NDArray[np.float32]]

_AT_A_TIME = 200  # episodes at the means


def minimize(
    solver: Restarting, objective: EpisodicObjective, *, budget: int, seeds: Sequence[int]
) -> tuple[Trace, Columns, dict[StopReason, float]]:
    """Run ``solver`` until it spends the budget or stops.

    Parameters
    ----------
    solver
        A new solver.
    objective
        The task.
    budget
        Number of episodes of samples; those at the mean, which the solver does not see, do not
        count.
    seeds
        Seeds of the episodes that estimate the expected return of the mean. They are the same in
        every iteration, so that noise does not hide the progress.

    Returns
    -------
    trace : Trace
        The trace of all iterations.
    columns : dict
        Further columns, each of shape (iterations + 1,): the average value of an iteration's
        samples, ``f_samples``, and the shares of episodes that succeeded or collided, of the
        samples and at the mean; and the means, ``mean``, shape (iterations + 1, n).
    reasons : dict
        Why the run ended.
    """
    trace, means = Trace(), [solver.mean]
    trace.record(solver.solver)
    samples = [(np.nan, np.nan, np.nan)]  # before the first iteration
    while not (reasons := solver.stop()):
        X = solver.ask()[: budget - solver.evaluations]
        y = objective.batch(X)
        solver.tell(X, y)
        episodes = objective.latest
        assert episodes is not None  # of the batch
        samples.append((y.mean(), episodes.success.mean(), episodes.collision.mean()))
        means.append(solver.mean)
        trace.record(
            solver.solver,
            y,
            evaluations=solver.evaluations,
            best_y=solver.best_y,
            restart=solver.restarts,
        )
        if solver.evaluations >= budget:
            reasons = {StopReason.BUDGET: float(budget)}
            break
    f_mean, success, collision = _at_means(objective, np.array(means), seeds)
    trace.fill_f_mean(f_mean)
    columns = dict(
        zip(("f_samples", "success_samples", "collision_samples"), np.array(samples).T, strict=True)
    )
    columns |= {"success_mean": success, "collision_mean": collision, "mean": np.array(means)}
    return trace, {name: values.astype(np.float32) for name, values in columns.items()}, reasons


def _at_means(
    objective: EpisodicObjective, means: Array, seeds: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Return value, success and collision of each mean, averaged over the seeds' episodes.

    This is done at the end, for many means at a time, which is faster.
    """
    X, each = np.repeat(means, len(seeds), axis=0), np.tile(seeds, len(means))
    parts = [
        objective.run(X[i : i + _AT_A_TIME], each[i : i + _AT_A_TIME])
        for i in range(0, len(X), _AT_A_TIME)
    ]
    value, success, collision = (
        np.concatenate(part).reshape(len(means), len(seeds)).mean(axis=1)
        for part in zip(*((-e.returns, e.success, e.collision) for e in parts), strict=True)
    )
    return value, success, collision
