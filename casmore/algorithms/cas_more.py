"""CAS-MORE: coordinate-ascent MORE with step-size adaptation.

The paper's algorithm from top to bottom: ``ask`` samples the search distribution, ``tell`` collects
the samples, and ``CasMore._update`` does one iteration for every K of them. The paper maximizes;
this implementation minimizes ``y`` by maximizing ``-y``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms import defaults
from casmore.algorithms.arguments import valid_start
from casmore.algorithms.evolution_path import EvolutionPath
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import (
    NoiseFilter,
    NoiseHandling,
    Reliability,
    Stagnation,
    reliability,
)
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.surrogate_search import SurrogateParameters, SurrogateSearch
from casmore.algorithms.targets import TargetNormalization
from casmore.algorithms.trust_region import covariance_scales, mean_step

Array = NDArray[np.float64]

# Samples by which the queue grows for each one by which the population grows, under noise
_SAMPLES_PER_GROWTH = 16


@dataclass(frozen=True, kw_only=True)
class CasMoreParameters(SurrogateParameters):
    """The settings of a run; `CasMoreParameters.default` gives the paper's.

    The defaults below are those of the paper (appendix "Hyper-Parameters", section "Entropy
    Control"), for runs whose richest model is the full one. ``casmore.algorithms.defaults`` has
    those of simpler models.

    Attributes
    ----------
    epsilon_mean, epsilon_covariance
        ``eps_mu`` and ``eps_Sigma``, the trust regions of mean and covariance: bounds on the KL
        divergence of an update, in nats; default 0.5 and ``1.5 / (10 + n^1.5)``.
    path_smoothing
        ``c_sigma`` of the evolution path, in (0, 1); default ``1 / (2 + n^0.75)``.
    path_gain
        ``alpha``, the largest change of the entropy per iteration, in nats: the decrease for a path
        of length 0, and the increase for a path of twice the desired length; default 1.
    desired_angle
        ``theta`` between the evolution path and a step, in radians, in (0, pi); default 3/8 pi.
    step_size_adaptation
        Whether the evolution path controls the entropy. If False, this is CA-MORE: once the model
        is the run's richest, the entropy falls by ``entropy_decrease`` nats per iteration, down to
        ``minimal_entropy``.
    entropy_decrease, minimal_entropy
        The fixed schedule of CA-MORE, ``delta`` and ``H^0`` in nats.
    noise
        ``"none"``: as in the paper. ``"auto"``: if the residuals of the surrogate indicate noise,
        the trust regions and the model shrink, targets are replaced by their ranks, populations
        (up to eight times as large; in lean CAS-MORE, twelve times) and the queue grow, a
        distribution that is too narrow for the noise widens, and a run ends when noisy values no
        longer decrease; see ``casmore.algorithms.noise``.
    queue_size, richest_model, samples_per_parameter, whitening, target_normalization
    clip, kurtosis_threshold, ridge, fit_method
        Settings of the surrogate, see `casmore.algorithms.surrogate_search.SurrogateParameters`.
    population_size, tolerance_f, tolerance_step
    maximal_step_growth, maximal_condition, maximal_failures
        ``K`` and stopping criteria, see `casmore.algorithms.gaussian_search.SearchParameters`.
    """

    epsilon_mean: float = defaults.EPSILON_MEAN
    epsilon_covariance: float
    path_smoothing: float
    path_gain: float
    desired_angle: float = 3 * math.pi / 8
    step_size_adaptation: bool = True
    entropy_decrease: float = 0.0
    minimal_entropy: float = -math.inf
    noise: NoiseHandling = NoiseHandling.NONE

    algorithm: ClassVar[str] = "CAS-MORE"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("epsilon_mean", "epsilon_covariance"):
            self._require(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        for name in ("path_gain", "entropy_decrease"):
            self._require(name, 0 <= getattr(self, name) < math.inf, "finite, not negative")
        self._require("path_smoothing", 0 < self.path_smoothing < 1, "between 0 and 1")
        self._require("desired_angle", 0 < self.desired_angle < math.pi, "between 0 and pi")

    @classmethod
    def _defaults(cls, n: int, richest: Complexity) -> dict[str, Any]:
        return {
            "epsilon_covariance": defaults.epsilon_covariance(n, richest),
            "path_gain": defaults.path_gain(n, richest),
            "path_smoothing": defaults.path_smoothing(n),
        }


class CasMore(SurrogateSearch):
    """The CAS-MORE optimizer, a minimizer with an ask-and-tell interface.

    Hüttenrauch and Neumann, "Regret-Aware Black-Box Optimization with Natural Gradients,
    Trust-Regions and Entropy Control", arXiv:2206.06090, 2022.

    NaN and infinity rank last, minus infinity ranks first. In the fit of the surrogate they count
    as the largest and the smallest finite value in the queue. If the queue contains no finite
    value, the update counts as failed.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial standard deviation in every direction.
    population_size
        ``K``, the number of samples per iteration; default ``4 + floor(3 log n)``.
    seed
        Seed of the run's own random generator.
    target
        Stop once a value is at most this.
    **settings
        Fields of `CasMoreParameters` to change.

    Attributes
    ----------
    path : EvolutionPath
        The evolution path.
    noise : NoiseFilter
        How much of the surrogate is signal; looked at only with the setting ``noise="auto"``.
    model, complexity, queue, fit
        See `casmore.algorithms.surrogate_search.SurrogateSearch`.
    distribution, best_x, best_y, evaluations, iterations
        See `casmore.algorithms.gaussian_search.GaussianSearch`.

    Raises
    ------
    ValueError
        If ``x0``, ``sigma0`` or a setting is out of its range.
    TypeError
        If there is no such setting, or a number is not real.
    """

    parameters: CasMoreParameters
    _parameters_class: ClassVar[type[CasMoreParameters]] = CasMoreParameters
    _most_growth: ClassVar[float] = 8.0  # of the population, under noise

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
        self.path = EvolutionPath(n, p.path_smoothing, p.epsilon_mean, p.path_gain, p.desired_angle)
        self.noise = NoiseFilter(self._most_growth)
        self._stagnation = Stagnation()
        self._initial_entropy = self.distribution.entropy

    @property
    def population_size(self) -> int:
        """Number of points that ``ask`` returns, ``K``; with ``noise="auto"`` it may grow."""
        return round(self.parameters.population_size * self.noise.growth)

    def _update(self, X: Array, y: Array) -> None:
        """Do one iteration of the paper with K new samples.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the update fails; the distribution is then unchanged.
        """
        p, n = self.parameters, self.distribution.dimension

        # The queue D of the last Q samples, and the surrogate in whitened coordinates
        # z = L^-1 (x - mu), Sigma = L L': f(z) = -1/2 z' B z + z' h + const, with B = U diag(d) U'
        self.queue.resize(self._queue_size())
        self.queue.add(X, y)
        learned = self._learn(len(y) / len(self.queue))
        self._stagnation.update(self.noise.is_at_limit, self.queue.values, self.queue.total)
        if learned is None:
            return
        model, complexity = learned
        trust = self.noise  # all its factors are 1 unless noise is estimated, and found
        basis = model.basis
        d, g = basis.d, basis.along(model.a)

        # The mean: maximize f, with KL at most eps_mu ("Updating the Mean")
        step, _ = mean_step(d, g, p.epsilon_mean * trust.mean_radius)
        z = basis.back(step)

        # The covariance: maximize E[f], with KL at most eps_Sigma ("Updating the Covariance")
        variances, _ = covariance_scales(d, p.epsilon_covariance * trust.covariance_radius)
        scales = np.sqrt(variances)

        # The entropy: sigma^2 Sigma with sigma = exp(-delta / n) ("Entropy Control"). It is
        # controlled once the model is the run's richest; until then the covariance is immature.
        self.path.update(z / math.sqrt(trust.mean_radius))
        if complexity is p.richest_model:
            change = -self._entropy_decrease(scales) * trust.entropy_rate / n
            if trust.widening > 0:
                change = min(change + trust.widening, self._room(scales))
            scales *= math.exp(change)

        self.distribution = self.distribution.updated(z, basis, scales)
        self.model, self.complexity = model, complexity

    def _reasons_to_stop(self, y: Array) -> dict[StopReason, float]:
        stop = super()._reasons_to_stop(y)
        if self._stagnation.is_over:
            stop[StopReason.STAGNATION] = float(self._stagnation.turnovers)
        return stop

    def _queue_size(self) -> int:
        """Return ``Q_max``, which grows with the population."""
        p = self.parameters
        return p.queue_size + _SAMPLES_PER_GROWTH * (self.population_size - p.population_size)

    def _learn(self, new: float) -> tuple[Model, Complexity] | None:
        """Return the surrogate and its complexity; None while there is nothing to learn.

        ``new`` is the fraction of the queue that is new.
        """
        # "Target Normalization"; a flat function is no reason to shrink
        targets = self._targets()
        if targets is None:
            return None
        # The richest model that the samples allow ("Adaptive Model Complexity"), fitted by ridge
        # regression in whitened coordinates ("Model Learning")
        complexity = self._affordable()
        if complexity is None:
            return None
        model = self._fitted(targets, complexity)
        if self._estimates_noise(complexity):
            self.noise.update(self._reliability(targets, model), new)
            if self.noise.is_noisy:
                model = self._fitted(targets, complexity, self.noise.reliability)
        return model, complexity

    def _estimates_noise(self, complexity: Complexity) -> bool:
        """Return whether the residuals of a model of this complexity are looked at."""
        p = self.parameters
        return p.noise is NoiseHandling.AUTO and complexity is p.richest_model

    def _fitted(
        self, targets: Array, complexity: Complexity, reliability: Reliability | None = None
    ) -> Model:
        """Return the richest surrogate for which there are enough samples."""
        return self.fit.fit(
            self.queue, targets, complexity, self.distribution, reliability=reliability
        )

    def _reliability(
        self, targets: Array, model: Model, weights: Array | None = None
    ) -> Reliability | None:
        """Return the reliability of the model, estimated from its residuals."""
        Z = self.distribution.whiten(self.queue.points)
        parameters = self.parameters.richest_model.parameters(Z.shape[1])
        return reliability(Z, targets, model, parameters, weights)

    def _normalization(self) -> TargetNormalization:
        """Return the normalization of the targets: by ranks while noise dominates."""
        return TargetNormalization.RANKS if self.noise.is_noisy else super()._normalization()

    def _room(self, scales: Array) -> float:
        """Return by how much the standard deviations may grow, as a logarithm, 0 or more.

        The entropy does not exceed the initial one: a robot should not leave the region that its
        user has chosen because nothing can be learned there.
        """
        return max((self._initial_entropy - self._entropy_with(scales)) / len(scales), 0.0)

    def _entropy_with(self, scales: Array) -> float:
        """Return the entropy of the distribution once its axes have been scaled."""
        return self.distribution.entropy + float(np.log(scales).sum())

    def _entropy_decrease(self, scales: Array) -> float:
        """Return ``delta``, in nats, of the path (CAS-MORE) or of the schedule (CA-MORE)."""
        p = self.parameters
        if p.step_size_adaptation:
            return self.path.entropy_decrease()
        return max(min(p.entropy_decrease, self._entropy_with(scales) - p.minimal_entropy), 0.0)
