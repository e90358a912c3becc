"""Warm starts: evaluations that were made before become the first samples of the model."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.stopping import StopReason
from casmore.optimize.evaluation import ranked
from casmore.optimize.search_run import SearchRun
from casmore.solvers.restarts import Restarting

Array = NDArray[np.float64]


def add_known_points(run: SearchRun, X: Array, y: Array) -> None:
    """Tell known evaluations to a run that has not begun.

    The solver is told them in the given order, as if it had asked for them: models are fitted, and
    the search distribution moves within its trust regions. (benchmarks/warm_start.py compares this
    with samples that only wait in the queue for the first new ones.) If they would end the run
    without reaching the target, as the evaluations of a converged run may, they only fill the
    queue, those nearest to the starting point last. Known points do not count as evaluations. The
    best known point counts as the run's best. Points outside the bounds, or with other values in
    fixed coordinates, are not used.

    Parameters
    ----------
    run
        The run.
    X, y
        Points in the user's coordinates, shape (k, n), and values, shape (k,); NaN: failed.
    """
    space = run.space
    inside = ((space.lower <= X) & (space.upper >= X)).all(axis=1)
    inside &= (X[:, ~space.free] == space.fixed[~space.free]).all(axis=1)
    X, y = X[inside], y[inside]
    if len(y) == 0:
        return
    run.note(X, y)
    restarting = run.solver
    assert isinstance(restarting, Restarting)
    solver = restarting.solver
    assert isinstance(solver, CasMore)
    U, values = space.to_solver(X), ranked(y)
    fresh = copy.deepcopy(solver)
    solver.tell(U, values)
    reasons = set(solver.stop())
    if reasons and not reasons & {StopReason.TARGET, StopReason.UNBOUNDED}:
        distances = np.square(U - fresh.mean).sum(axis=1)
        nearest = np.argsort(-distances, kind="stable")[-fresh.queue.capacity :]
        fresh.queue.add(U[nearest], values[nearest])
        solver = restarting.solver = fresh
    solver.evaluations = solver.iterations = 0
