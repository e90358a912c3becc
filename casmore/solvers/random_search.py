"""Pure random search, uniform in a box: the baseline for all solvers."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_samples, valid_start, valid_target
from casmore.algorithms.stopping import StopReason, reached
from casmore.solvers.protocol import Seed

Array = NDArray[np.float64]


class RandomSearch:
    """Samples ``[lower, upper]^n`` uniformly and remembers the best point.

    Parameters
    ----------
    x0, sigma0
        Only the dimension is used.
    population_size
        Points per ``ask``; it does not change the sequence of points.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    lower, upper
        The box, the same for all coordinates; default: BBOB's domain.

    Raises
    ------
    ValueError
        If the box is empty, or another argument out of its range.
    """

    def __init__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        lower: float = -5.0,
        upper: float = 5.0,
    ) -> None:
        self._best_x, self.best_y = valid_start(x0, sigma0), math.inf
        if not -math.inf < lower < upper < math.inf:
            raise ValueError(f"the box [{lower}, {upper}] must be finite, lower less than upper")
        self.population_size = 100 if population_size is None else population_size
        if self.population_size < 1:
            raise ValueError(f"population_size must be at least 1, not {population_size}")
        self.lower, self.upper = lower, upper
        self.evaluations = 0
        self._rng = np.random.default_rng(seed)
        self._target = valid_target(target)

    @property
    def mean(self) -> Array:
        """The best point, the only estimate of the optimum."""
        return self.best_x

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,); the initial point at first."""
        return self._best_x.copy()

    def ask(self) -> Array:
        """Return uniform points, shape (k, n)."""
        return self._rng.uniform(self.lower, self.upper, (self.population_size, len(self._best_x)))

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values of any points, NaN as infinity.

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = valid_samples(X, y, len(self._best_x))
        self.evaluations += len(y)
        if len(y) > 0 and y.min() < self.best_y:
            best = int(np.argmin(y))
            self._best_x, self.best_y = X[best].copy(), float(y[best])

    def stop(self) -> dict[StopReason, float]:
        """Return whether the best value is a reason to stop, the only one."""
        return reached(self.best_y, self._target)


make = RandomSearch
