"""The contract between a solver and the code that runs it."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason

Seed = int | np.random.SeedSequence | np.random.Generator | None


@runtime_checkable
class Solver(Protocol):
    """An iterative minimizer with an ask-and-tell interface.

    This is the contract, which `casmore.solvers.conformance.check_solver` tests. A solver owns its
    ``numpy.random.Generator`` and never uses global random state. The same seed gives the same run,
    bit for bit, and an unpickled solver continues exactly like the original.
    """

    @property
    def population_size(self) -> int:
        """Size of the population, which a restart may enlarge; 0 if the solver has none.

        Most solvers return this many points from ``ask``; a wrapped solver may ask for them one at
        a time.
        """

    @property
    def evaluations(self) -> int:
        """Number of points told so far."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the search distribution (or the estimate of the optimum), shape (n,)."""

    @property
    def best_x(self) -> NDArray[np.float64]:
        """Best point told so far, shape (n,); ``x0`` before the first finite value."""

    @property
    def best_y(self) -> float:
        """Smallest value told so far; infinity before the first finite value."""

    def ask(self) -> NDArray[np.float64]:
        """Return the next points to evaluate, shape (k, n)."""

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Take the values ``y``, shape (k,), of any points ``X``, shape (k, n).

        The points may be any, whether asked for or not; k may be 0. NaN and infinity rank last.
        """

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop with their values; empty means continue."""


class SolverFactory(Protocol):
    """Builds a solver: a class, or a function with the same arguments.

    ``factory(x0, sigma0, population_size=None, seed=1, target=None, **settings)`` returns a
    `Solver` that starts at ``x0``, shape (n,), with the standard deviation ``sigma0``.
    """

    def __call__(
        self,
        x0: NDArray[np.float64],
        sigma0: float,
        *,
        population_size: int | None,
        seed: Seed,
        target: float | None,
        **settings: Any,
    ) -> Solver:
        """Build a solver that starts at ``x0``, shape (n,), with step size ``sigma0``."""
