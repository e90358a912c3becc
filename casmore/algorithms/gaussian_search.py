"""Base class of the algorithms: ask and tell, the best point, stopping criteria.

An algorithm consists of its settings, a `SearchParameters`, and its method ``_update``, which does
one iteration. An iteration uses K new samples: ``tell`` collects samples until there are K.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import CheckedSettings, valid_samples, valid_target
from casmore.algorithms.gaussian import DiagonalDistribution, SearchDistribution
from casmore.algorithms.stopping import StopReason, reached
from casmore.algorithms.termination import degenerate

Array = NDArray[np.float64]

# Singular values cost as much as the rest of an iteration, and change by a few percent in one
_ITERATIONS_A_CHECK = 10


@dataclass(frozen=True, kw_only=True)
class SearchParameters(CheckedSettings):
    """The settings common to all algorithms.

    The criteria on the covariance are checked in every tenth iteration. An axis is a principal axis
    of the search distribution; its length is the standard deviation along it.

    Attributes
    ----------
    population_size
        ``K``, the number of samples per iteration.
    tolerance_f
        No progress: the best values of the last 10 + 30 n / K iterations and all values of the
        last iteration differ by at most this; default 1e-12.
    tolerance_step
        Step size too small: the longest axis is below this times ``sigma0`` (default 1e-12), or a
        step of a fifth of a standard deviation is lost in rounding beside a coordinate of the mean.
    maximal_step_growth
        Step size too large: the longest axis is above this times ``sigma0``; default 1e4.
    maximal_condition
        Largest condition number of the covariance; default 1e14.
    maximal_failures
        Number of consecutive failed updates that ends a run; default 10.
    """

    population_size: int
    tolerance_f: float = 1e-12
    tolerance_step: float = 1e-12
    maximal_step_growth: float = 1e4
    maximal_condition: float = 1e14
    maximal_failures: int = 10

    def __post_init__(self) -> None:
        self._check_types()
        for name in ("population_size", "maximal_failures"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        for name in ("tolerance_f", "tolerance_step"):
            self._require(name, 0 <= getattr(self, name) < math.inf, "finite, not negative")
        self._require(
            "maximal_step_growth", 0 < self.maximal_step_growth < math.inf, "positive and finite"
        )
        self._require("maximal_condition", self.maximal_condition > 1, "above 1")


class GaussianSearch(ABC):
    """A minimizer that samples and updates a Gaussian, with an ask-and-tell interface.

    Parameters
    ----------
    mean, sigma0
        Initial mean, shape (n,), and standard deviation, checked by ``valid_start``.
    parameters
        The settings.
    seed
        Seed of the run's own random generator.
    target
        Stop once a value is at most this.
    diagonal
        Whether the covariance stays diagonal.

    Attributes
    ----------
    distribution : SearchDistribution
        The current search distribution.
    best_x, best_y
        The best point told so far, shape (n,), and its value; the initial mean and infinity at
        first.
    evaluations, iterations : int
        Numbers of points told and of iterations so far.
    """

    parameters: SearchParameters

    def __init__(
        self,
        mean: Array,
        sigma0: float,
        parameters: SearchParameters,
        seed: int | np.random.SeedSequence | np.random.Generator | None,
        target: float | None,
        *,
        diagonal: bool = False,
    ) -> None:
        sigma0 = float(sigma0)  # a decimal, or an array of the caller's
        self.parameters = parameters
        self.target = valid_target(target)
        self.rng = np.random.default_rng(seed)
        kind = DiagonalDistribution if diagonal else SearchDistribution
        self.distribution = kind.isotropic(mean, sigma0)
        self.iterations = 0
        self.evaluations = 0
        self._best_x = mean.copy()
        self.best_y = math.inf
        self._sigma0 = sigma0
        window = 10 + math.ceil(30 * len(mean) / parameters.population_size)
        self._history: deque[float] = deque(maxlen=window)
        self._failures = 0
        self._stop: dict[StopReason, float] = {}
        self._waiting_X, self._waiting_y = np.empty((0, len(mean))), np.empty(0)

    @property
    def population_size(self) -> int:
        """Number of points that ``ask`` returns, ``K``."""
        return self.parameters.population_size

    @property
    def mean(self) -> Array:
        """Copy of the mean of the search distribution, shape (n,)."""
        return self.distribution.mean.copy()

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,); the initial mean at first."""
        return self._best_x.copy()

    def ask(self, count: int | None = None) -> Array:
        """Sample the search distribution.

        Parameters
        ----------
        count
            Number of points; default: the population size K.

        Returns
        -------
        ndarray
            Shape (count, n).
        """
        return self.distribution.sample(self.rng, self.population_size if count is None else count)

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take evaluated points; update the search distribution for every K of them.

        An iteration uses K new samples in the order told. They may be told at once, one by one, or
        in any parts: the run is the same. Fewer than K are kept until the next call.

        Parameters
        ----------
        X
            Any points, any number, shape (k, n).
        y
            Their function values, shape (k,).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        TypeError
            If a point or a value is not real.
        """
        X, y = valid_samples(X, y, self.distribution.dimension)
        if len(y) == 0:
            return
        self.evaluations += len(y)
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self._best_x, self.best_y = X[best].copy(), float(y[best])
        if len(self._waiting_y) > 0:
            X, y = np.concatenate([self._waiting_X, X]), np.concatenate([self._waiting_y, y])
        while len(y) >= (K := self.population_size):
            self._iterate(X[:K], y[:K])
            X, y = X[K:], y[K:]
            if self._stop:
                break
        self._waiting_X, self._waiting_y = X.copy(), y
        self._stop |= reached(self.best_y, self.target)

    def _iterate(self, X: Array, y: Array) -> None:
        """Do one iteration, and check the stopping criteria."""
        self.iterations += 1
        try:
            self._update(X, y)
            self._failures = 0
        except np.linalg.LinAlgError:
            self._failures += 1
        self._stop = self._reasons_to_stop(y)

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop with the values that caused them; empty: continue."""
        return dict(self._stop)

    @abstractmethod
    def _update(self, X: Array, y: Array) -> None:
        """Do one iteration of the algorithm with these K points; NaN is given as infinity.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the update fails; the distribution is then unchanged.
        """

    def _reasons_to_stop(self, y: Array) -> dict[StopReason, float]:
        p = self.parameters
        stop: dict[StopReason, float] = {}
        self._history.append(float(y.min()))
        if len(self._history) == self._history.maxlen:
            spread = max(max(self._history), float(y.max())) - min(self._history)
            if spread <= p.tolerance_f:
                stop[StopReason.NO_PROGRESS] = spread
        if self._failures >= p.maximal_failures:
            stop[StopReason.UPDATE_FAILED] = float(self._failures)
        if self.iterations % _ITERATIONS_A_CHECK == 0:
            stop |= degenerate(
                self.distribution,
                shortest_step=p.tolerance_step * self._sigma0,
                longest_step=p.maximal_step_growth * self._sigma0,
                maximal_condition=p.maximal_condition,
            )
        return stop
