"""Base class of CAS-MORE and MORE: the queue of samples, the targets, and the surrogate.

The paper maximizes rewards; these algorithms minimize ``y``, so that the reward is ``-y``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms import defaults
from casmore.algorithms.arguments import known_settings
from casmore.algorithms.gaussian_search import GaussianSearch, SearchParameters
from casmore.algorithms.incremental_fit import IncrementalFit
from casmore.algorithms.mean_estimate import MeanEstimate
from casmore.algorithms.models import (
    SAMPLES_PER_PARAMETER,
    Complexity,
    Model,
    affordable_complexity,
)
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.targets import TargetNormalization, finite_rewards, normalize

Array = NDArray[np.float64]


class FitMethod(StrEnum):
    """How the richest model is fitted; the model is the same, up to rounding.

    ``"direct"``: from all samples of the queue. ``"incremental"``: the normal matrix is updated by
    the samples that enter and leave the queue. ``"auto"``: the faster one.
    """

    AUTO = "auto"
    DIRECT = "direct"
    INCREMENTAL = "incremental"


@dataclass(frozen=True, kw_only=True)
class SurrogateParameters(SearchParameters):
    """The settings of the queue, the targets and the surrogate.

    Attributes
    ----------
    queue_size
        ``Q_max``, the largest number of samples that the surrogate is fitted to; at least the
        population size. Default ``max(ceil(1.5 P), 8 (n + 1), 2 K)`` with the P coefficients of the
        full model, ``max(ceil(1.5 P), 2 K)`` with those of a simpler one.
    richest_model
        ``"full"``, ``"diagonal"`` or ``"linear"``: the model of a run once there are enough
        samples. If it is not ``"full"``, the covariance is diagonal as well, and time and memory
        are linear in n. Default: the richest model that the queue can hold and that fits into
        memory, which the full model does up to n = 84.
    samples_per_parameter
        Number of samples needed per parameter (coefficient) of a model, at least 1; default 1.1.
    whitening
        Whether the full model is fitted in whitened coordinates.
    target_normalization
        ``"robust"``, ``"standard"``, ``"none"`` (centered, nothing else), or ``"ranks"`` (normal
        scores: the least sensitive to outliers, and no natural gradient of the expected value).
    clip, kurtosis_threshold
        Robust normalization: ``v_clip``, in standard deviations, more than 1 (default 3), and the
        excess kurtosis above which it is repeated (default 0.55).
    ridge
        ``lambda`` of the ridge regression, for standardized features. The paper gives no value. The
        default, 1e-10, has a negligible effect on the model: it only selects among models that fit
        the samples equally well, for instance if these do not span the space. In high dimensions it
        is below the rounding errors of the normal matrix.
    fit_method
        ``"direct"``, ``"incremental"``, or ``"auto"``: the faster one.
    population_size, tolerance_f, tolerance_step
    maximal_step_growth, maximal_condition, maximal_failures
        ``K`` and stopping criteria, see `casmore.algorithms.gaussian_search.SearchParameters`.
    """

    queue_size: int
    richest_model: Complexity
    samples_per_parameter: float = SAMPLES_PER_PARAMETER
    whitening: bool = True
    target_normalization: TargetNormalization = TargetNormalization.ROBUST
    clip: float = defaults.CLIP
    kurtosis_threshold: float = defaults.KURTOSIS_THRESHOLD
    ridge: float = 1e-10
    fit_method: FitMethod = FitMethod.AUTO

    algorithm: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(
            "queue_size",
            self.queue_size >= self.population_size,
            f"at least the population size {self.population_size}",
        )
        self._require(
            "samples_per_parameter",
            1 <= self.samples_per_parameter < math.inf,
            "finite, at least 1",
        )
        # the root mean square is 1, so that there is always a value inside
        self._require("clip", 1 < self.clip < math.inf, "finite, greater than 1")
        self._require("ridge", 0 <= self.ridge < math.inf, "finite, not negative")
        if self.fit_method is FitMethod.INCREMENTAL:
            self._require("fit_method", self.whitening, "'direct' where whitening is off")

    @classmethod
    def default(cls, n: int, *, population_size: int | None = None, **changes: Any) -> Self:
        """Return the default settings for dimension ``n``, with ``changes`` made.

        Parameters
        ----------
        n
            The dimension.
        population_size
            ``K``, on which the default queue size depends; default: that of the algorithm.
        **changes
            Other settings that differ from their defaults.

        Raises
        ------
        TypeError
            If there is no such setting; the message suggests the closest name.
        ValueError
            If a setting is of the wrong type or out of its range.
        """
        known_settings(changes, [field.name for field in fields(cls)], cls.algorithm)
        k = cls._default_population_size(n) if population_size is None else population_size
        richest = defaults.richest_model(n)
        settings: dict[str, Any] = {
            "population_size": k,
            "queue_size": k,  # until the other settings are known to be right
            "richest_model": richest,
            **cls._defaults(n, richest),
            **changes,
        }
        given = cls(**settings)
        if "queue_size" in changes:
            richest = given._held(n, needed="richest_model" in changes)
            size = given.queue_size
        else:
            richest = given.richest_model
            size = defaults.queue_size(
                n, given.population_size, richest, given.samples_per_parameter
            )
        resolved = {"queue_size": size, "richest_model": richest}
        return cls(**{**settings, **cls._defaults(n, richest), **changes, **resolved})

    @classmethod
    def _default_population_size(cls, n: int) -> int:
        return defaults.population_size(n)

    @classmethod
    def _defaults(cls, n: int, richest: Complexity) -> dict[str, Any]:
        """Return the defaults of a subclass's own settings that depend on n."""
        return {}

    def _held(self, n: int, *, needed: bool) -> Complexity:
        """Return the richest model that the queue can hold, at most ``richest_model``.

        Raises
        ------
        ValueError
            If it can't hold a model that was requested, or none at all.
        """
        ratio = self.samples_per_parameter
        held = affordable_complexity(self.queue_size, n, self.richest_model, ratio)
        least = self.richest_model if needed else Complexity.LINEAR
        self._require(
            "queue_size",
            held is self.richest_model or (held is not None and not needed),
            f"at least {math.ceil(ratio * least.parameters(n))}, so many a {least} model in {n}-D "
            "needs",
        )
        assert held is not None
        return held


class SurrogateSearch(GaussianSearch):
    """A minimizer that updates a Gaussian with a quadratic surrogate.

    Parameters
    ----------
    mean, sigma0, parameters, seed, target
        See `casmore.algorithms.gaussian_search.GaussianSearch`.

    Attributes
    ----------
    queue : SampleQueue
        The last samples.
    model : QuadraticModel or DiagonalModel or None
        The last surrogate, of ``-y`` normalized, in coordinates whitened by the distribution that
        its iteration began with.
    complexity : Complexity or None
        What that model's features are.
    fit : DirectFit or IncrementalFit
        What fits the surrogate.
    distribution, best_x, best_y, evaluations, iterations
        See `GaussianSearch`.
    """

    parameters: SurrogateParameters

    def __init__(
        self,
        mean: Array,
        sigma0: float,
        parameters: SurrogateParameters,
        seed: int | np.random.SeedSequence | np.random.Generator | None,
        target: float | None,
    ) -> None:
        n, p = len(mean), parameters
        diagonal = p.richest_model is not Complexity.FULL
        super().__init__(mean, sigma0, p, seed, target, diagonal=diagonal)
        self.queue = SampleQueue(n, p.queue_size)
        self.model: Model | None = None
        self.complexity: Complexity | None = None
        self.fit = _make_fit(n, p)

    def estimate_at_mean(self) -> MeanEstimate:
        """Return the model's estimate of f at the mean, fitted to the values in the queue.

        Infinite values count as the smallest and the largest finite value. All results are NaN if
        there are too few samples, or the values are not finite. ``explained`` is that of the
        normalized values, which do not let a few large values dominate; it is NaN until the model
        is the run's richest.
        """
        complexity = self._affordable()
        q, n = len(self.queue), self.distribution.dimension
        if complexity is None or q <= complexity.parameters(n):
            return MeanEstimate()
        try:
            with np.errstate(over="raise", invalid="raise"):
                y, targets = -finite_rewards(self.queue.values), self._targets()
                of_values, of_targets = (
                    self.fit.estimate_at_mean(self.queue, v, complexity, self.distribution)
                    for v in (y, y if targets is None else targets)
                )
                is_richest = complexity is self.parameters.richest_model
                explained = of_targets.explained if is_richest else math.nan
                return replace(of_values, explained=explained)
        except (np.linalg.LinAlgError, FloatingPointError):
            return MeanEstimate()

    def _targets(self) -> Array | None:
        """Return the normalized rewards of the queue, shape (q,); None if they are all equal.

        Raises
        ------
        numpy.linalg.LinAlgError
            If no value is finite.
        """
        return self._normalized(finite_rewards(self.queue.values))

    def _normalized(self, rewards: Array) -> Array | None:
        """Return the normalized rewards, shape (q,); None if they are all equal."""
        p = self.parameters
        if rewards.min() == rewards.max():
            return None
        targets = normalize(rewards, self._normalization(), p.clip, p.kurtosis_threshold)
        return targets if targets.any() else None

    def _normalization(self) -> TargetNormalization:
        """Return the normalization of the targets."""
        return self.parameters.target_normalization

    def _affordable(self) -> Complexity | None:
        """Return the richest model that the samples allow; None: not even a linear one."""
        p = self.parameters
        return affordable_complexity(
            len(self.queue), self.distribution.dimension, p.richest_model, p.samples_per_parameter
        )


def _make_fit(n: int, p: SurrogateParameters) -> DirectFit | IncrementalFit:
    """Return the fit of the settings; with ``"auto"``, the faster one.

    In measurements, the incremental fit is faster from about 66 parameters on (10-D), if an
    iteration replaces only a small part of the queue.
    """
    parameters = p.richest_model.parameters(n)
    pays = parameters >= 66 and p.queue_size >= 8 * p.population_size and p.whitening
    if p.fit_method is FitMethod.INCREMENTAL or (p.fit_method is FitMethod.AUTO and pays):
        return IncrementalFit(n, p.queue_size, p.ridge, p.richest_model)
    return DirectFit(n, p.queue_size, p.ridge, p.whitening, p.richest_model)
