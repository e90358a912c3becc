"""Warm starts: evaluations that were made before become the first samples of the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.optimize.evaluation import ranked
from casmore.optimize.search_run import SearchRun

Array = NDArray[np.float64]


def add_known_points(run: SearchRun, X: Array, y: Array) -> None:
    """Put known evaluations into the queue of a run that has not begun.

    If the queue can't hold all, those nearest to the start stay, in units of the initial step
    size: the first models are to be right there. The nearest are the last to leave the queue.
    Nothing is counted as an evaluation. The best known point counts as the run's best, except
    for points outside of the bounds or with other values in fixed coordinates, which are not used.

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
    solver = run.solver.solver
    assert isinstance(solver, CasMore)
    U = space.to_solver(X)
    distances = np.square(U - solver.mean).sum(axis=1)
    nearest = np.argsort(-distances, kind="stable")[-solver.queue.capacity :]
    solver.queue.add(U[nearest], ranked(y[nearest]))
