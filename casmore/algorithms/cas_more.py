"""CAS-MORE: coordinate-ascent MORE with step-size adaptation.

The paper's algorithm, top to bottom: ask samples the search distribution; tell adds the samples to
the queue, fits the surrogate, and moves mean, covariance and entropy. It maximises ``-y``.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from casmore.algorithms.evolution_path import EvolutionPath
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.surrogate import (
    Complexity,
    DirectFit,
    QuadraticModel,
    affordable_complexity,
)
from casmore.algorithms.targets import TargetNormalization, normalize
from casmore.algorithms.trust_region import covariance_scales, mean_step

Array = NDArray[np.float64]


def default_population_size(n: int) -> int:
    """``K = 4 + floor(3 log n)`` (paper, table of default hyper-parameters)."""
    return 4 + math.floor(3 * math.log(n))


def default_queue_size(n: int) -> int:
    """``Q_max = max(ceil(1.5 (1 + n + n (n + 1) / 2)), 8 (n + 1))`` (paper, same table)."""
    return max(math.ceil(1.5 * (1 + n + n * (n + 1) / 2)), 8 * (n + 1))


def default_epsilon_covariance(n: int) -> float:
    """``eps_Sigma = 1.5 / (10 + n^1.5)`` (paper, same table)."""
    return 1.5 / (10 + n**1.5)


def default_path_smoothing(n: int) -> float:
    """``c_sigma = 1 / (2 + n^0.75)`` (paper, same table)."""
    return 1 / (2 + n**0.75)


@dataclass(frozen=True, kw_only=True)
class CasMoreParameters:
    """The settings of a run; ``CasMoreParameters.default(n)`` gives the paper's.

    Attributes
    ----------
    population_size
        ``K``, samples an iteration.
    queue_size
        ``Q_max``, samples the surrogate is fitted to.
    epsilon_mean, epsilon_covariance
        ``eps_mu`` and ``eps_Sigma``, the trust regions in nats.
    path_smoothing
        ``c_sigma`` in (0, 1).
    path_gain
        ``alpha``, the entropy change in nats asked for by a path of length 0.
    step_size_adaptation
        Whether the evolution path controls the entropy. Off is CA-MORE: the entropy falls by
        ``entropy_decrease`` nats an iteration, down to ``minimal_entropy``.
    whitening
        Whether the full model is fitted in whitened coordinates.
    target_normalization
        Robust, standard or none.
    clip, kurtosis_threshold
        Of the robust normalisation: ``v_clip`` and the excess kurtosis of a further level.
    ridge
        ``lambda`` of the ridge regression, for standardised features.
    tolerance_f
        No progress: best values of 10 + 30 n / K iterations, and the newest sample's values, all
        within this.
    tolerance_step
        Step size too small: the longest axis is below this times the initial one.
    maximal_step_growth
        Step size too large: the longest axis is above this times the initial one.
    maximal_condition
        Largest condition number of the covariance.
    maximal_failures
        Updates that may fail in a row.
    """

    population_size: int
    queue_size: int
    epsilon_mean: float
    epsilon_covariance: float
    path_smoothing: float
    path_gain: float = 1.0
    step_size_adaptation: bool = True
    entropy_decrease: float = 0.0
    minimal_entropy: float = -math.inf
    whitening: bool = True
    target_normalization: TargetNormalization = TargetNormalization.ROBUST
    clip: float = 3.0
    kurtosis_threshold: float = 0.55
    ridge: float = 1e-8
    tolerance_f: float = 1e-12
    tolerance_step: float = 1e-12
    maximal_step_growth: float = 1e4
    maximal_condition: float = 1e14
    maximal_failures: int = 10

    @classmethod
    def default(
        cls, n: int, *, population_size: int | None = None, **changes: Any
    ) -> CasMoreParameters:
        """Return the paper's settings for dimension ``n``, with ``changes`` made.

        Raises
        ------
        TypeError
            If a change names no setting.
        ValueError
            If a setting is out of its range.
        """
        k = default_population_size(n) if population_size is None else population_size
        settings: dict[str, Any] = {
            "population_size": k,
            "queue_size": max(default_queue_size(n), k),
            "epsilon_mean": 0.5,
            "epsilon_covariance": default_epsilon_covariance(n),
            "path_smoothing": default_path_smoothing(n),
        }
        return cls(**{**settings, **changes})


class CasMore:
    """The CAS-MORE optimizer, by ask and tell; it minimises.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial standard deviation in every direction.
    population_size
        ``K``; default: the paper's.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    settings
        Fields of `CasMoreParameters` to change.
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
        mean = np.array(x0, dtype=float)
        n = len(mean)
        p = CasMoreParameters.default(n, population_size=population_size, **settings)
        self.parameters = p
        self.target = target
        self.rng = np.random.default_rng(seed)
        self.distribution = SearchDistribution.isotropic(mean, sigma0)
        self.sigma0 = sigma0
        self.queue = SampleQueue(n, p.queue_size)
        self.fit = DirectFit(n, p.queue_size, p.ridge, p.whitening)
        self.path = EvolutionPath(n, p.path_smoothing, p.epsilon_mean, p.path_gain)
        self.model: QuadraticModel | None = None
        self.complexity: Complexity | None = None
        self.iterations = 0
        self.evaluations = 0
        self.best_x = mean.copy()
        self.best_y = math.inf
        self._history: deque[float] = deque(maxlen=10 + math.ceil(30 * n / p.population_size))
        self._failures = 0
        self._stop: dict[StopReason, float] = {}

    @property
    def population_size(self) -> int:
        return self.parameters.population_size

    @property
    def mean(self) -> Array:
        return self.distribution.mean

    def ask(self) -> Array:
        return self.distribution.sample(self.rng, self.population_size)

    def stop(self) -> dict[StopReason, float]:
        return dict(self._stop)

    def tell(self, X: Array, y: Array) -> None:
        if len(y) == 0:
            return
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self.best_y = float(y[best])
            self.best_x = X[best].copy()
        self.evaluations += len(y)
        self.iterations += 1
        self.queue.add(X, y)
        try:
            self._update()
            self._failures = 0
        except np.linalg.LinAlgError:
            self._failures += 1
        self._check(y)

    def _update(self) -> None:
        p, n = self.parameters, self.distribution.dimension
        self.complexity = complexity = affordable_complexity(len(self.queue), n)
        if complexity is None:
            return
        targets = normalize(-self.queue.values, p.target_normalization, p.clip, p.kurtosis_threshold)
        self.model = model = self.fit.fit(self.queue.points, targets, complexity, self.distribution)
        d, U, info = lapack.dsyevd(model.A)
        if info != 0 or not np.isfinite(d[0] + d[-1]):
            raise np.linalg.LinAlgError("eig")
        step, _ = mean_step(d, U.T @ model.a, p.epsilon_mean)
        scales, _ = covariance_scales(d, p.epsilon_covariance)
        z = U @ step
        self.path.update(z)
        scales = np.sqrt(scales)
        if complexity is Complexity.FULL:
            scales = scales * math.exp(-self.path.entropy_decrease() / n)
        self.distribution = self.distribution.updated(z, U, scales)

    def _check(self, y: Array) -> None:
        p = self.parameters
        self._history.append(float(y.min()))
        if self.target is not None and self.best_y <= self.target:
            self._stop[StopReason.TARGET] = self.best_y
        if len(self._history) == self._history.maxlen:
            r = max(max(self._history), float(y.max())) - min(self._history)
            if r < p.tolerance_f:
                self._stop[StopReason.NO_PROGRESS] = r
        if self.iterations % 10 == 0:
            axes = self.distribution.axis_lengths()
            if axes[-1] < p.tolerance_step * self.sigma0:
                self._stop[StopReason.STEP_TOO_SMALL] = axes[-1]
            if axes[-1] > p.maximal_step_growth * self.sigma0:
                self._stop[StopReason.STEP_TOO_LARGE] = axes[-1]
            c = (axes[-1] / axes[0]) ** 2
            if c > p.maximal_condition:
                self._stop[StopReason.CONDITION] = c
        if self._failures > p.maximal_failures:
            self._stop[StopReason.UPDATE_FAILED] = self._failures
