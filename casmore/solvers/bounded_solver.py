"""Bounds, scales and fixed coordinates for any solver with an ask-and-tell interface."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_samples
from casmore.algorithms.stopping import StopReason
from casmore.solvers.protocol import Seed, SolverFactory
from casmore.solvers.space_arguments import read_start

Array = NDArray[np.float64]

# Largest number of points asked for but not yet told that are remembered; the oldest are dropped
_MOST_REMEMBERED = 100_000


class BoundedSolver:
    """A solver with bounds and fixed coordinates, by ask and tell in your coordinates.

    ``casmore.BoundedSolver(casmore.CasMore, x0, sigma0, bounds=[(0, 1)] * 3, seed=1)``

    All points that ``ask`` returns are inside the bounds. Points that the solver asked for are told
    to it in its original coordinates, any other points in the nearest coordinates that map to them.
    Points outside the bounds, or with other values of fixed coordinates, count as the nearest
    points that ``ask`` could return.

    Parameters
    ----------
    factory
        Builds the solver: `casmore.CasMore`, `casmore.LeanCasMore`, or any other that implements
        `casmore.solvers.protocol.Solver`.
    x0, sigma0, bounds, fixed, cov0
        See `casmore.fmin`.
    population_size, seed, target, **settings
        Passed to the solver.

    Attributes
    ----------
    solver : Solver
        The solver, in its own coordinates; fixed coordinates are left out.
    space : SearchSpace
        The map between the coordinates.
    best_y : float
        The smallest value told so far; infinity at first.

    Raises
    ------
    ValueError
        If an argument is out of its range, or arguments contradict each other.
    TypeError
        If an argument has the wrong type, or the solver has no such setting.
    """

    def __init__(
        self,
        factory: SolverFactory,
        x0: ArrayLike,
        sigma0: ArrayLike | None = None,
        *,
        bounds: Any = None,
        fixed: Mapping[int, float] | None = None,
        cov0: ArrayLike | None = None,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        **settings: Any,
    ) -> None:
        start = read_start(x0, sigma0, bounds=bounds, fixed=fixed, cov0=cov0)
        self.space = start.space
        self.solver = factory(
            start.u0,
            start.sigma,
            population_size=population_size,
            seed=seed,
            target=target,
            **settings,
        )
        self.best_y = math.inf
        self._best_x: Array = self.space.to_user(start.u0[np.newaxis])[0]
        self._asked: OrderedDict[bytes, Array] = OrderedDict()

    @property
    def population_size(self) -> int:
        """Population size of the solver."""
        return self.solver.population_size

    @property
    def evaluations(self) -> int:
        """Number of points told so far."""
        return self.solver.evaluations

    @property
    def mean(self) -> Array:
        """The solver's mean in your coordinates, shape (n,)."""
        mean: Array = self.space.to_user(self.solver.mean[np.newaxis])[0]
        return mean

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,)."""
        return self._best_x.copy()

    def ask(self, count: int | None = None) -> Array:
        """Return the next points, shape (k, n), all inside the bounds.

        Parameters
        ----------
        count
            Number of points, if the solver's ``ask`` accepts it; default: the solver's own.
        """
        U = self.solver.ask() if count is None else self.solver.ask(count)  # type: ignore[call-arg]
        X = self.space.to_user(U)
        if not self.space.is_identity:
            for u, x in zip(U, X, strict=True):
                self._asked[x.tobytes()] = u.copy()
            while len(self._asked) > _MOST_REMEMBERED:
                self._asked.popitem(last=False)
        return X

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values ``y``, shape (k,), of any points ``X``, shape (k, n).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        TypeError
            If a point or a value is not real.
        """
        X, y = valid_samples(X, y, len(self._best_x))
        if len(y) == 0:
            return
        space = self.space
        X = np.where(space.free, X.clip(space.lower, space.upper), space.fixed)
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self._best_x, self.best_y = X[best].copy(), float(y[best])
        U = self.space.to_solver(X)
        for i, x in enumerate(X):
            U[i] = self._asked.pop(x.tobytes(), U[i])
        self.solver.tell(U, y)

    def stop(self) -> dict[StopReason, float]:
        """Return the solver's reasons to stop; empty: continue."""
        return self.solver.stop()
