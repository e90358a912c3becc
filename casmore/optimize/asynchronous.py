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
    The caller adds a row to the trace after each iteration; its value at the mean is evaluated in
    turn with the points, and set when it arrives.
    """
    solver = run.solver
    assert isinstance(solver, Restarting)  # which gives any number of points
    under_way: dict[int, Array] = {}
    means = _MeansOfTrace(run)
    key = 0
    resumed, run.under_way = run.under_way, []
    values: list[float] = []
    before = _iteration(run)
    while not run.stop():
        while len(under_way) + means.under_way < pool.capacity:
            if means.waiting:
                means.submit(pool, key)
            elif run.evaluations + len(under_way) < run.budget and not (
                solver.run_ended() and under_way
            ):
                u = resumed.pop(0) if resumed else solver.ask(1)[0]
                pool.submit(key, run.space.to_user(u[np.newaxis])[0])
                under_way[key] = u
            else:
                break
            key += 1
        for outcome in pool.wait(run.time_left()):
            value = read(outcome)
            if outcome.key not in under_way:
                means.set(outcome.key, value)
                continue
            U = under_way.pop(outcome.key)[np.newaxis]
            values.append(value)
            run.tell(U, run.space.to_user(U), np.array([value]), log)
        if _iteration(run) != before or run.stop():
            before = _iteration(run)
            run.iterations += 1
            run.under_way = [*under_way.values(), *resumed]
            yield np.array(values)
            means.add()
            values = []
    means.finish(pool, key, read, len(under_way))


class _MeansOfTrace:
    """The evaluations at the mean: a row of the trace each, which may be set later."""

    def __init__(self, run: SearchRun) -> None:
        self._run = run
        self.waiting: list[tuple[int, Array]] = []
        self._rows: dict[int, int] = {}  # of those under way

    @property
    def under_way(self) -> int:
        """How many are under way."""
        return len(self._rows)

    def add(self) -> None:
        """Add the present mean, of the last row of the trace."""
        trace = self._run.trace
        if trace is not None and trace.f_at_mean:
            mean = self._run.space.to_user(self._run.solver.mean[np.newaxis])[0]
            self.waiting.append((len(trace) - 1, mean))

    def submit(self, pool: Pool, key: int) -> None:
        """Begin the one that has waited longest."""
        self._rows[key], mean = self.waiting.pop(0)
        pool.submit(key, mean)

    def set(self, key: int, value: float) -> None:
        """Set the value of one that has ended."""
        assert self._run.trace is not None
        self._run.trace.set_f_mean(self._rows.pop(key), value)

    def finish(self, pool: Pool, key: int, read: OutcomeReader, others: int) -> None:
        """Evaluate those that are left, while there is time, beside others under way."""
        while (self.waiting or self._rows) and self._run.time_left() != 0:
            while self.waiting and others + self.under_way < pool.capacity:
                self.submit(pool, key)
                key += 1
            for outcome in pool.wait(self._run.time_left()):
                if outcome.key in self._rows:
                    self.set(outcome.key, read(outcome))
                else:
                    others -= 1  # the run is over


def _iteration(run: SearchRun) -> tuple[int, int]:
    """Return a value that changes with each iteration of the solver."""
    return run.solver.restarts, int(getattr(run.solver.solver, "iterations", 0))
