"""The asynchronous loop: evaluations are always in progress, and each is told as it ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from casmore.optimize.pool_evaluation import OutcomeReader
from casmore.optimize.search_run import Log, SearchRun
from casmore.optimize.worker_pool import Pool
from casmore.solvers.restarts import Restarting

Array = NDArray[np.float64]


def iterations(run: SearchRun, pool: Pool, read: OutcomeReader, log: Log) -> Iterator[Array]:
    """Run until a reason to stop; after each iteration yield the values told since the last one.

    Before a restart the loop waits for the evaluations in progress, which belong to the old run.
    """
    solver = run.solver
    assert isinstance(solver, Restarting)  # which gives any number of points
    under_way: dict[int, Array] = {}
    key = 0
    resumed, run.under_way = run.under_way, []
    values: list[float] = []
    before = _iteration(run)
    while not run.stop():
        while len(under_way) < pool.capacity and (
            run.evaluations + len(under_way) < run.budget and not (solver.run_ended() and under_way)
        ):
            u = resumed.pop(0) if resumed else solver.ask(1)[0]
            pool.submit(key, run.space.to_user(u[np.newaxis])[0])
            under_way[key] = u
            key += 1
        for outcome in pool.wait(run.time_left()):
            u = under_way.pop(outcome.key)
            value = read(outcome)
            values.append(value)
            U = u[np.newaxis]
            run.tell(U, run.space.to_user(U), np.array([value]), log)
        if _iteration(run) != before or run.stop():
            before = _iteration(run)
            run.iterations += 1
            run.under_way = [*under_way.values(), *resumed]
            yield np.array(values)
            values = []


def _iteration(run: SearchRun) -> tuple[int, int]:
    """Return a value that changes with each iteration of the solver."""
    return run.solver.restarts, int(getattr(run.solver.solver, "iterations", 0))
