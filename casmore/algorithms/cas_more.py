"""CAS-MORE: coordinate-ascent MORE with step-size adaptation.

The paper's algorithm, top to bottom: ``ask`` samples the search distribution; ``tell`` adds the
samples to the queue, fits the surrogate to it, and moves mean, covariance and entropy. The paper
maximises; this minimises ``y`` by maximising ``-y``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import known_settings, valid_start
from casmore.algorithms.evolution_path import EvolutionPath
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.gaussian_search import (
    GaussianSearch,
    SearchParameters,
    default_population_size,
)
from casmore.algorithms.incremental_fit import IncrementalFit
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import (
    Complexity,
    DirectFit,
    QuadraticModel,
    affordable_complexity,
)
from casmore.algorithms.targets import TargetNormalization, finite_rewards, normalize
from casmore.algorithms.trust_region import covariance_scales, eigenbasis, mean_step

Array = NDArray[np.float64]


def default_queue_size(n: int, population_size: int) -> int:
    """``Q_max = max(ceil(1.5 (1 + n + n (n + 1) / 2)), 8 (n + 1))`` (paper, same table).

    Populations that outgrow it, in restarts, get a queue of two iterations. A queue that grew in
    proportion was measured to solve no more of BBOB (5 and 10-D), at many times the cost.
    """
    return max(math.ceil(1.5 * (1 + n + n * (n + 1) / 2)), 8 * (n + 1), 2 * population_size)


def default_epsilon_covariance(n: int) -> float:
    """``eps_Sigma = 1.5 / (10 + n^1.5)`` (paper, same table)."""
    return 1.5 / (10 + math.pow(n, 1.5))


def default_path_smoothing(n: int) -> float:
    """``c_sigma = 1 / (2 + n^0.75)`` (paper, same table)."""
    return 1 / (2 + math.pow(n, 0.75))


class FitMethod(StrEnum):
    """How the full model is fitted; the model is the same."""

    AUTO = "auto"
    DIRECT = "direct"
    INCREMENTAL = "incremental"


@dataclass(frozen=True, kw_only=True)
class CasMoreParameters(SearchParameters):
    """The settings of a run; `CasMoreParameters.default` gives the paper's.

    Attributes
    ----------
    queue_size
        ``Q_max``, samples the surrogate is fitted to.
    epsilon_mean, epsilon_covariance
        ``eps_mu`` and ``eps_Sigma``, the trust regions in nats.
    path_smoothing
        ``c_sigma`` in (0, 1).
    path_gain
        ``alpha``, the entropy change in nats asked for by a path of length 0.
    step_size_adaptation
        Whether the evolution path controls the entropy. Off is CA-MORE: once the model is full,
        the entropy falls by ``entropy_decrease`` nats an iteration, down to ``minimal_entropy``.
    entropy_decrease, minimal_entropy
        The fixed schedule of CA-MORE, ``delta`` and ``H^0`` in nats.
    whitening
        Whether the model is fitted in whitened coordinates.
    target_normalization
        ``"robust"``, ``"standard"`` or ``"none"``.
    clip, kurtosis_threshold
        Of the robust normalisation: ``v_clip`` and the excess kurtosis that calls for more.
    ridge
        ``lambda`` of the ridge regression, for standardised features. The paper gives no number;
        this one keeps the normal matrix definite and is too small to be seen in the model.
    fit_method
        ``"direct"``, ``"incremental"``, or ``"auto"``: the faster one.
    population_size, tolerance_f, tolerance_step
    maximal_step_growth, maximal_condition, maximal_failures
        ``K`` and when a run ends, see `casmore.algorithms.gaussian_search.SearchParameters`.
    """

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
    ridge: float = 1e-10
    fit_method: FitMethod = FitMethod.AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_count("queue_size")
        self._require(
            "queue_size",
            self.queue_size >= self.population_size,
            f"at least the population size {self.population_size}",
        )
        for name in ("epsilon_mean", "epsilon_covariance", "clip"):
            self._require(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("ridge", "path_gain", "entropy_decrease"):
            self._require(name, 0 <= getattr(self, name) < math.inf, "finite, not negative")
        self._require("path_smoothing", 0 < self.path_smoothing < 1, "between 0 and 1")
        self._as_member("target_normalization", TargetNormalization)
        self._as_member("fit_method", FitMethod)
        if self.fit_method is FitMethod.INCREMENTAL:
            self._require("fit_method", self.whitening, "'direct' where whitening is off")

    @classmethod
    def default(cls, n: int, *, population_size: int | None = None, **changes: Any) -> Self:
        """Return the paper's settings for dimension ``n``, with ``changes`` made.

        Raises
        ------
        TypeError
            If a change names no setting; the message suggests the nearest name.
        ValueError
            If a setting is out of its range.
        """
        known_settings(changes, [field.name for field in fields(cls)], "CAS-MORE")
        k = default_population_size(n) if population_size is None else population_size
        settings: dict[str, Any] = {
            "population_size": k,
            "queue_size": default_queue_size(n, k),
            "epsilon_mean": 0.5,
            "epsilon_covariance": default_epsilon_covariance(n),
            "path_smoothing": default_path_smoothing(n),
        }
        return cls(**{**settings, **changes})


class CasMore(GaussianSearch):
    """The CAS-MORE optimizer, by ask and tell; it minimises.

    Values that are not finite are handled so: NaN and infinity rank as the worst, minus infinity
    as the best; in the surrogate's fit they count as the largest and smallest finite value of the
    queue. While the queue holds no finite value, the update counts as failed.

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

    Raises
    ------
    ValueError
        If ``x0``, ``sigma0`` or a setting is out of its range.
    TypeError
        If there is no such setting.

    Attributes
    ----------
    model : QuadraticModel or None
        The last surrogate, of ``-y`` normalised, in whitened coordinates.
    complexity : Complexity or None
        What that model's features are.
    path : EvolutionPath
        The evolution path.
    fit : DirectFit or IncrementalFit
        What fits the surrogate.
    distribution, best_x, best_y, evaluations, iterations
        As of `GaussianSearch`.
    """

    parameters: CasMoreParameters
    _parameters_class: type[CasMoreParameters] = CasMoreParameters

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
        p = self._parameters_class.default(n, population_size=population_size, **settings)
        super().__init__(mean, sigma0, p, seed, target)
        self.queue = SampleQueue(n, p.queue_size)
        self.path = EvolutionPath(n, p.path_smoothing, p.epsilon_mean, p.path_gain)
        self.model: QuadraticModel | None = None
        self.complexity: Complexity | None = None
        self.fit = _make_fit(n, p)

    def _update(self, X: Array, y: Array) -> None:
        """Add the samples to the queue, and do one iteration."""
        self.queue.add(X, y)
        self._improve()

    def _improve(self) -> None:
        """Do one iteration of the paper: model, mean, covariance, entropy.

        Raises
        ------
        numpy.linalg.LinAlgError
            If it can't be done; the distribution is as it was.
        """
        p = self.parameters
        rewards = finite_rewards(self.queue.values)
        targets = normalize(rewards, p.target_normalization, p.clip, p.kurtosis_threshold)
        if not targets.any():
            return  # a flat function: nothing to learn, and no reason to shrink
        learned = self._learn(targets)
        if learned is None:
            return
        model, complexity = learned
        d, U = eigenbasis(model.A)
        self.distribution = self._step(d, U.T @ model.a, U, complexity)
        self.model, self.complexity = model, complexity

    def _learn(self, targets: Array) -> tuple[QuadraticModel, Complexity] | None:
        """Fit the surrogate in whitened coordinates; None while samples are too few."""
        complexity = affordable_complexity(len(self.queue), self.distribution.dimension)
        if complexity is None:
            return None
        return self._fitted(targets, complexity), complexity

    def _fitted(self, targets: Array, complexity: Complexity) -> QuadraticModel:
        """Fit a surrogate for which there are samples enough."""
        return self.fit.fit(self.queue, targets, complexity, self.distribution)

    def _step(self, d: Array, g: Array, U: Array, complexity: Complexity) -> SearchDistribution:
        """Return the distribution after the updates of mean, covariance and entropy.

        The model is given by its eigenvalues ``d``, eigenvectors ``U`` and slopes ``g`` along them.
        """
        p, n = self.parameters, self.distribution.dimension
        step, _ = mean_step(d, g, p.epsilon_mean)
        variances, _ = covariance_scales(d, p.epsilon_covariance)
        z = U @ step
        self.path.update(z)
        scales = np.sqrt(variances)
        if complexity is Complexity.FULL:
            # sigma = exp(-delta / n) moves the entropy by -delta
            scales *= math.exp(-self._entropy_decrease(scales) / n)
        return self._moved(z, U, scales)

    def _entropy_decrease(self, scales: Array) -> float:
        """Return ``delta``, in nats, of the path (CAS-MORE) or of the schedule (CA-MORE)."""
        p = self.parameters
        if p.step_size_adaptation:
            return self.path.entropy_decrease()
        entropy = self.distribution.entropy + float(np.log(scales).sum())
        return max(min(p.entropy_decrease, entropy - p.minimal_entropy), 0.0)


def _make_fit(n: int, p: CasMoreParameters) -> DirectFit | IncrementalFit:
    """Return the fit that the settings ask for; if they leave it open, the faster one.

    Measured: corrections pay from about 10-D on, and where an iteration replaces but a small part
    of the queue.
    """
    pays = n >= 10 and p.queue_size >= 8 * p.population_size and p.whitening
    if p.fit_method is FitMethod.INCREMENTAL or (p.fit_method is FitMethod.AUTO and pays):
        return IncrementalFit(n, p.queue_size, p.ridge)
    return DirectFit(n, p.queue_size, p.ridge, p.whitening)
