"""xNES: exponential natural evolution strategies, with adaptation sampling as a setting.

One update, top to bottom in ``_update``: the points' coordinates in the frame of the search
distribution, their utilities, the natural gradient, and the multiplicative step it asks for.
Adaptation sampling (xNES-as) changes one number, the learning rate of the scale.

Sources: Glasmachers, Schaul, Sun, Wierstra, Schmidhuber, "Exponential natural evolution
strategies", GECCO 2010; Wierstra et al., "Natural evolution strategies", JMLR 15, 2014, which the
comments call NES; Schaul, "Benchmarking natural evolution strategies with adaptation sampling",
BBOB workshop 2012.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from casmore.algorithms.arguments import known_settings, valid_samples, valid_start
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.termination import degenerate

Array = NDArray[np.float64]

# Points told that lie further out, in standard deviations beyond sqrt(n), are drawn in to there:
# a sample of its own lies there once in 10^8, a foreign one could make an update of any size.
_REACH = 6.0


def default_population_size(n: int) -> int:
    """``lambda = 4 + floor(3 log n)`` (NES, table 1)."""
    return 4 + math.floor(3 * math.log(n))


def default_learning_rate(n: int) -> float:
    """``eta_sigma = eta_B = (9 + 3 log n) / (5 n sqrt(n))`` (NES, table 1)."""
    return (9 + 3 * math.log(n)) / (5 * n * math.sqrt(n))


def default_significance(n: int) -> float:
    """``rho = 1/2 - 1 / (3 (n + 1))`` of adaptation sampling (NES, table 1)."""
    return 0.5 - 1 / (3 * (n + 1))


@dataclass(frozen=True, kw_only=True)
class XnesParameters:
    """The settings of a run; `XnesParameters.default` gives the authors'.

    Attributes
    ----------
    population_size
        ``lambda``, samples an iteration.
    mean_rate
        ``eta_mu``, learning rate of the mean.
    scale_rate, shape_rate
        ``eta_sigma`` and ``eta_B``, learning rates of the covariance's scale and shape.
    adaptation_sampling
        Whether the scale's rate is adapted; it then starts at ``scale_rate``.
    adaptation_rate
        ``c'``, by which share adaptation sampling changes the rate at a time.
    significance
        ``rho``, the level of adaptation sampling's test.
    tolerance_f
        No progress: the best values of the last 10 + 30 n / lambda iterations and all of the last
        iteration lie within this.
    tolerance_step
        Step size too small: the longest axis is below this times ``sigma0``.
    maximal_step_growth
        Step size too large: the longest axis is above this times ``sigma0``.
    maximal_condition
        Largest condition number of the covariance.
    """

    population_size: int
    mean_rate: float = 1.0
    scale_rate: float
    shape_rate: float
    adaptation_sampling: bool = False
    adaptation_rate: float = 0.1
    significance: float
    tolerance_f: float = 1e-12
    tolerance_step: float = 1e-12
    maximal_step_growth: float = 1e4
    maximal_condition: float = 1e14

    def __post_init__(self) -> None:
        size = self.population_size
        _require(self, "population_size", isinstance(size, int | np.integer), "an integer")
        _require(self, "population_size", size >= 2, "at least 2: a single point has no rank")
        for name in ("mean_rate", "scale_rate", "shape_rate", "maximal_step_growth"):
            _require(self, name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("tolerance_f", "tolerance_step"):
            _require(self, name, 0 <= getattr(self, name) < math.inf, "finite, not negative")
        for name in ("adaptation_rate", "significance"):
            _require(self, name, 0 < getattr(self, name) < 1, "between 0 and 1")
        _require(self, "maximal_condition", self.maximal_condition > 1, "above 1")

    @classmethod
    def default(
        cls, n: int, *, population_size: int | None = None, **changes: Any
    ) -> XnesParameters:
        """Return the authors' settings for dimension ``n``, with ``changes`` made.

        Raises
        ------
        TypeError
            If a change names no setting; the message suggests the nearest name.
        ValueError
            If a setting is out of its range.
        """
        known_settings(changes, [field.name for field in fields(cls)], "xNES")
        settings: dict[str, Any] = {
            "population_size": (
                default_population_size(n) if population_size is None else population_size
            ),
            "scale_rate": default_learning_rate(n),
            "shape_rate": default_learning_rate(n),
            "significance": default_significance(n),
        }
        return cls(**{**settings, **changes})


def _require(parameters: XnesParameters, name: str, holds: bool, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{name} = {getattr(parameters, name)!r} must be {wanted}")


class Xnes:
    """The xNES optimizer, by ask and tell; it minimises.

    Only ranks count. NaN and infinity rank as the worst, minus infinity as the best; equal values
    share their utilities, so that nothing moves on a flat function.

    Any points can be told, in any number: they are ranked among themselves as if they had been
    sampled. A point further from the mean than ``sqrt(n) + 6`` standard deviations counts as if
    it lay at that distance, in its direction (as for injected solutions: Hansen, "Injecting
    external solutions into CMA-ES", 2011). A single point, having no rank, moves nothing.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial standard deviation in every direction.
    population_size
        ``lambda``; default: the authors'.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    settings
        Fields of `XnesParameters` to change.

    Raises
    ------
    ValueError
        If ``x0``, ``sigma0`` or a setting is out of its range.
    TypeError
        If there is no such setting.

    Attributes
    ----------
    distribution : SearchDistribution
        The current search distribution; its factor is NES's ``A = sigma B``.
    scale_rate : float
        The current learning rate of the scale, ``eta_sigma``.
    best_x, best_y
        The best point told so far, shape (n,), and its value.
    evaluations, iterations : int
        Numbers of points and of calls of ``tell`` so far.
    """

    def __init__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: int | np.random.SeedSequence | np.random.Generator | None = None,
        target: float | None = None,
        **settings: Any,
    ) -> None:
        mean = valid_start(x0, sigma0)
        n = len(mean)
        p = XnesParameters.default(n, population_size=population_size, **settings)
        self.parameters = p
        self.target = -math.inf if target is None else target
        self.rng = np.random.default_rng(seed)
        self.distribution = SearchDistribution.isotropic(mean, sigma0)
        self.scale_rate = p.scale_rate
        self.iterations = 0
        self.evaluations = 0
        self.best_x = mean.copy()
        self.best_y = math.inf
        self._sigma0 = sigma0
        self._last_scale_step: float | None = None  # log of the last change of sigma
        self._history: deque[float] = deque(maxlen=10 + math.ceil(30 * n / p.population_size))
        self._stop: dict[StopReason, float] = {}

    @property
    def population_size(self) -> int:
        """Number of points an ``ask`` returns, ``lambda``."""
        return self.parameters.population_size

    @property
    def mean(self) -> Array:
        """Mean of the search distribution, shape (n,)."""
        return self.distribution.mean

    def ask(self) -> Array:
        """Sample the search distribution, shape (lambda, n)."""
        return self.distribution.sample(self.rng, self.population_size)

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Update the search distribution once from evaluated points.

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
        """
        X, y = valid_samples(X, y, self.distribution.dimension)
        if len(y) == 0:
            return
        self.iterations += 1
        self.evaluations += len(y)
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self.best_x, self.best_y = X[best].copy(), float(y[best])
        self._stop = {}
        try:
            self._update(X, y)
        except np.linalg.LinAlgError:
            self._stop[StopReason.UPDATE_FAILED] = float(self.iterations)
        self._check_termination(y)

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop with the values that gave them; empty: go on."""
        return dict(self._stop)

    def _update(self, X: Array, y: Array) -> None:
        """Follow the natural gradient (NES, algorithm 5).

        Raises
        ------
        numpy.linalg.LinAlgError
            If the step leaves the range of double precision; the distribution is as it was.
        """
        p, n = self.parameters, self.distribution.dimension
        z = self._coordinates(X)
        u = utilities(y)
        if not u.any():
            return  # a flat function: nothing to learn
        if p.adaptation_sampling:
            self._adapt_scale_rate(z, y)
        # natural gradient in the natural coordinates: of the mean, and of log covariance
        mean_gradient = u @ z
        gradient = (z.T * u) @ z  # sum of u (z z' - I), where the utilities sum to 0
        scale_gradient = float(np.trace(gradient)) / n
        # A <- A exp(M), where M is symmetric: the exponential by its eigenvectors
        shape_gradient = gradient - scale_gradient * np.eye(n)
        exponents, U = np.linalg.eigh(0.5 * p.shape_rate * shape_gradient)
        scale_step = 0.5 * self.scale_rate * scale_gradient
        scales = np.exp(np.clip(exponents + scale_step, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
        updated = self.distribution.updated(p.mean_rate * mean_gradient, U, scales)
        if not (np.isfinite(updated.factor).all() and np.isfinite(updated.mean).all()):
            raise np.linalg.LinAlgError("the update left the range of double precision")
        self.distribution, self._last_scale_step = updated, scale_step

    def _coordinates(self, X: Array) -> Array:
        """Return ``z = A^-1 (x - mu)``, drawn in to the largest distance, shape (k, n)."""
        z = self.distribution.whiten(X)
        lengths = np.sqrt(np.einsum("ij,ij->i", z, z))
        reach = math.sqrt(z.shape[1]) + _REACH
        if lengths.max() > reach:
            largest = np.abs(z).max(axis=1, keepdims=True)  # lengths may have overflowed
            far = lengths > reach
            directions = z[far] / largest[far]
            z[far] = reach * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        return z

    def _adapt_scale_rate(self, z: Array, y: Array) -> None:
        """Adapt ``eta_sigma`` by adaptation sampling (NES, "Adaptation Sampling"; Schaul 2012).

        Had the last step been taken with 3/2 of the rate, sigma would be ``r`` times what it is.
        The samples at hand, weighted by the ratio of the densities, stand for samples of that
        hypothetical distribution. Where these are the better ones, with significance, the rate
        grows; else it falls back towards the initial one.
        """
        p, n = self.parameters, z.shape[1]
        if self._last_scale_step is None:
            return
        log_r = 0.5 * self._last_scale_step
        squares = np.einsum("ij,ij->i", z, z)
        weights = np.exp(-n * log_r - 0.5 * squares * math.expm1(-2 * log_r))
        c = p.adaptation_rate
        if weighted_mann_whitney(y, weights) < p.significance:
            self.scale_rate = min((1 + c) * self.scale_rate, 1.0)
        else:
            self.scale_rate = (1 - c) * self.scale_rate + c * p.scale_rate

    def _check_termination(self, y: Array) -> None:
        p = self.parameters
        if self.best_y <= self.target:
            self._stop[StopReason.TARGET] = self.best_y
        self._history.append(float(y.min()))
        if len(self._history) == self._history.maxlen:
            spread = max(max(self._history), float(y.max())) - min(self._history)
            if spread <= p.tolerance_f:
                self._stop[StopReason.NO_PROGRESS] = spread
        if self.iterations % _ITERATIONS_A_CHECK == 0:
            self._stop.update(
                degenerate(
                    self.distribution,
                    shortest_step=p.tolerance_step * self._sigma0,
                    longest_step=p.maximal_step_growth * self._sigma0,
                    maximal_condition=p.maximal_condition,
                )
            )


# Singular values cost as much as the rest of an iteration, and change by a few percent in one
_ITERATIONS_A_CHECK = 10
# A factor of e^50 in one iteration is none a search could follow; it keeps exp() finite
_LARGEST_EXPONENT = 50.0


def utilities(y: Array) -> Array:
    """Return the utility of each value, the smallest value's being the largest; their sum is 0.

    ``u_k = max(0, log(lambda/2 + 1) - log k) / sum - 1 / lambda`` for the k-th best (NES,
    "Fitness Shaping"). Equal values share the mean of their utilities.
    """
    k = len(y)
    by_rank = np.maximum(0.0, math.log(k / 2 + 1) - np.log(np.arange(1, k + 1)))
    by_rank = by_rank / by_rank.sum() - 1 / k
    if y.min() == y.max():
        return np.zeros(k)  # exactly
    order = np.argsort(y, kind="stable")
    ordered = y[order]
    if (ordered[1:] == ordered[:-1]).any():
        _, groups = np.unique(ordered, return_inverse=True)
        by_rank = (np.bincount(groups, by_rank) / np.bincount(groups))[groups]
    u = np.empty(k)
    u[order] = by_rank
    return u


def weighted_mann_whitney(y: Array, weights: Array) -> float:
    """Return the p-value of the values ``y``, weighted, being smaller than the same unweighted.

    The one-sided Mann-Whitney U test by its normal approximation, the weighted sample counting as
    ``sum(weights)`` values (NES, "Adaptation Sampling"). 1/2: no difference; near 0: the weighted
    ones are smaller, better.
    """
    larger_than = (y[:, np.newaxis] > y).sum(axis=1)
    ties = (y[:, np.newaxis] == y).sum(axis=1)
    n, m = len(y), float(weights.sum())
    U = float(weights @ (larger_than + 0.5 * ties))
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    if not 0 < deviation < math.inf:
        return 1.0  # weights beyond all bounds: nothing speaks for the hypothetical step
    return float(ndtr((U - n * m / 2) / deviation))
