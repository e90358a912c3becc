"""A run of `fmin`: its state between iterations, and the ask-and-tell loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.optimize.evaluation import Evaluator
from casmore.solvers.auto import Auto
from casmore.solvers.restarts import Restarting
from casmore.solvers.search_space import SearchSpace
from casmore.trace import Trace

Array = NDArray[np.float64]
Log = Callable[[Array, Array], None]


class SearchRun:
    """The state of a run, which checkpoints store.

    Parameters
    ----------
    solver
        The solver, in its own coordinates.
    space
        The map from the solver's coordinates to the user's.
    x0
        The starting point in the user's coordinates, shape (n,); the initial best point.
    budget, max_seconds, target
        When to stop; None: no limit.
    trace
        Records each iteration, if given.

    Attributes
    ----------
    best_x, best_y
        The best point evaluated, in the user's coordinates, shape (n,), and its value.
    last_x
        The last point told, shape (n,); the starting point at first.
    iterations, failures : int
        Numbers of iterations, and of evaluations that failed in workers.
    under_way : list of ndarray
        Points in evaluation by workers, in the solver's coordinates.
    """

    def __init__(
        self,
        solver: Restarting | Auto,
        space: SearchSpace,
        x0: Array,
        *,
        budget: int,
        max_seconds: float | None = None,
        target: float | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.solver, self.space = solver, space
        self.budget, self.max_seconds, self.target = budget, max_seconds, target
        self.trace = trace
        self.best_x, self.best_y = x0.copy(), math.inf
        self.last_x = self.best_x
        self.iterations = self.failures = 0
        self.under_way: list[Array] = []
        self.callback_stopped = False
        self._seconds_before = 0.0
        self._began = time.monotonic()

    @property
    def evaluations(self) -> int:
        """Number of evaluations, over all restarts."""
        return self.solver.evaluations

    @property
    def seconds(self) -> float:
        """Wall time so far, including the time before a checkpoint."""
        return self._seconds_before + time.monotonic() - self._began

    @property
    def out_of_time(self) -> bool:
        """Whether ``max_seconds`` have passed."""
        return self.time_left() == 0

    def time_left(self) -> float | None:
        """Return the seconds up to ``max_seconds``, 0 or more; None: no limit."""
        return None if self.max_seconds is None else max(0.0, self.max_seconds - self.seconds)

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop; empty: continue."""
        stop = self.solver.stop()
        if self.evaluations >= self.budget:
            stop[StopReason.BUDGET] = float(self.budget)
        if self.out_of_time:
            stop[StopReason.TIME] = self.seconds
        if self.callback_stopped:
            stop[StopReason.CALLBACK] = float(self.iterations)
        return stop

    def iterate(self, evaluate: Evaluator, log: Log) -> Array:
        """Ask, evaluate and tell; return the values.

        Values that arrived before an exception are told.
        """
        U = self.solver.ask()[: self.budget - self.evaluations]
        X = self.space.to_user(U)
        y, known = np.full(len(X), math.nan), np.zeros(len(X), dtype=bool)
        try:
            values: Iterator[tuple[int, float]] = evaluate(X.copy(), self.time_left)
            for i, value in values:
                y[i], known[i] = value, True
        finally:
            self.tell(U[known], X[known], y[known], log)
        self.iterations += 1
        return y[known]

    def tell(self, U: Array, X: Array, y: Array, log: Log) -> None:
        """Tell the values of points given in both coordinate systems.

        They are noted and logged first: the solver's part is long and may be interrupted.
        """
        self.note(X, y)
        if len(y) > 0:
            self.last_x = X[-1].copy()
        try:
            log(X, y)
        finally:
            self.solver.tell(U, y)

    def note(self, X: Array, y: Array) -> None:
        """Update the best point from these points in the user's coordinates."""
        known = np.flatnonzero(~np.isnan(y))
        if len(known) > 0:
            best = known[int(np.argmin(y[known]))]
            if y[best] < self.best_y:
                self.best_x, self.best_y = X[best].copy(), float(y[best])

    def record(self, y: Array | None, f_at: Callable[[Array], float]) -> None:
        """Add the current state to the trace, if there is one."""
        if self.trace is None:
            return
        f_mean = math.nan
        if self.trace.f_at_mean:
            f_mean = f_at(self.space.to_user(self.solver.mean[np.newaxis])[0])
        self.trace.record(
            self.solver.solver,
            y,
            f_mean=f_mean,
            evaluations=self.evaluations,
            best_y=self.best_y,
            restart=self.solver.restarts,
        )

    def continued_by(self, call: SearchRun) -> SearchRun:
        """Adopt the budget, the time limit and the trace of a call; return this run."""
        self.budget, self.max_seconds = call.budget, call.max_seconds
        self.callback_stopped = False
        if self.trace is not None and call.trace is not None:
            call.trace.continue_from(self.trace)
        self.trace = call.trace
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_seconds_before": self.seconds, "_began": 0.0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._began = time.monotonic()
