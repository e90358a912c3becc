"""MORE, the original: one joint trust region, a bound on the entropy, a schedule for that bound.

Paper, section "Model-Based Relative Entropy Stochastic Search". What MORE has in common with
CAS-MORE (queue, normalisation of the targets, reasons to stop, values that are not finite) is
inherited from it; its model learner is ours or that of the first paper.

CA-MORE, between the two, is `casmore.algorithms.cas_more.CasMore` without step-size adaptation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import CheckedSettings, known_settings
from casmore.algorithms.bayesian_surrogate import ProjectedBayesianFit
from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.joint_trust_region import joint_update
from casmore.algorithms.surrogate import Complexity, QuadraticModel

Array = NDArray[np.float64]

# Settings of CAS-MORE that MORE has not: its trust region is `epsilon`
_NOT_OF_MORE = (
    *("epsilon_mean", "epsilon_covariance", "path_smoothing", "path_gain"),
    "step_size_adaptation",
)
# Joint trust region and delta of the linear schedule, in nats. With the entropy falling this
# slowly, a few hundred evaluations a dimension take the sphere to 1e-8, and larger trust regions
# bring nothing (grid search of the study "rosenbrock").
_DEFAULT_EPSILON = 0.1
_DEFAULT_DECREASE = 0.1


class EntropySchedule(StrEnum):
    """How the entropy bound beta falls from the present entropy H (paper, "Entropy Control")."""

    LINEAR = "linear"  # beta = max(H - delta, H0)
    FRACTION = "fraction"  # beta = gamma (H - H0) + H0


class ModelLearner(StrEnum):
    """Which surrogate is fitted."""

    LEAST_SQUARES = "least-squares"
    BAYESIAN = "bayesian"


@dataclass(frozen=True, kw_only=True)
class MoreParameters(CheckedSettings):
    """The settings that MORE does not share with CAS-MORE.

    Attributes
    ----------
    epsilon
        Bound on the KL divergence of an update, mean and covariance together, in nats.
    entropy_schedule
        ``"linear"``: an update loses at most ``entropy_decrease`` nats (delta); ``"fraction"``: at
        most the fraction ``1 - entropy_rate`` of what lies above ``minimal_entropy`` (H0).
    entropy_rate
        ``gamma`` of the second schedule, in [0, 1].
    model
        ``"least-squares"``: CAS-MORE's surrogate; ``"bayesian"``: the one of 2015.
    reduced_dimension, projections, prior_precision
        Of the Bayesian model, see `ProjectedBayesianFit`.
    """

    epsilon: float
    entropy_schedule: EntropySchedule
    entropy_rate: float
    model: ModelLearner
    reduced_dimension: int
    projections: int
    prior_precision: float

    def __post_init__(self) -> None:
        self._require("epsilon", 0 < self.epsilon < math.inf, "positive and finite")
        self._require("entropy_rate", 0 <= self.entropy_rate <= 1, "between 0 and 1")
        self._require("projections", self.projections >= 1, "at least 1")
        self._require("prior_precision", 0 < self.prior_precision < math.inf, "positive, finite")
        self._as_member("entropy_schedule", EntropySchedule)
        self._as_member("model", ModelLearner)

    @classmethod
    def default(cls, n: int, **changes: Any) -> MoreParameters:
        """Return the settings for dimension ``n``, with ``changes`` made."""
        settings: dict[str, Any] = {
            "epsilon": _DEFAULT_EPSILON,
            "entropy_schedule": EntropySchedule.LINEAR,
            "entropy_rate": 0.99,
            "model": ModelLearner.LEAST_SQUARES,
            "reduced_dimension": math.ceil(n / 2),
            "projections": 100,
            "prior_precision": 1e-3,
        }
        return cls(**{**settings, **changes})


class More(CasMore):
    """The original MORE, by ask and tell; it minimises.

    Parameters
    ----------
    x0, sigma0, population_size, seed, target
        As of `CasMore`.
    settings
        Fields of `MoreParameters`, and those of `CasMoreParameters` that the two have in common.

    Raises
    ------
    ValueError
        If ``x0``, ``sigma0`` or a setting is out of its range.
    TypeError
        If there is no such setting.
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
        own = [field.name for field in fields(MoreParameters)]
        for name in settings:
            if name in _NOT_OF_MORE:
                raise TypeError(f"MORE has no setting {name!r}; its one trust region is 'epsilon'")
        others = [field.name for field in fields(CasMoreParameters)]
        known_settings(settings, [*own, *(n for n in others if n not in _NOT_OF_MORE)], "MORE")
        shared = {name: value for name, value in settings.items() if name not in own}
        super().__init__(
            x0,
            sigma0,
            population_size=population_size,
            seed=seed,
            target=target,
            **{"entropy_decrease": _DEFAULT_DECREASE, **shared},
        )
        n = self.distribution.dimension
        self.joint = MoreParameters.default(n, **{k: v for k, v in settings.items() if k in own})
        if (
            self.joint.entropy_schedule is EntropySchedule.FRACTION
            and self.parameters.minimal_entropy == -math.inf
        ):
            raise ValueError("entropy_schedule = 'fraction' needs a finite minimal_entropy")
        self._bayesian = ProjectedBayesianFit(
            n,
            self.joint.reduced_dimension,
            self.joint.projections,
            self.joint.prior_precision,
            self.rng.spawn(1)[0],
        )

    def entropy_bound(self) -> float:
        """Return ``beta`` of the next update, in nats; never above the present entropy."""
        entropy, p = self.distribution.entropy, self.parameters
        if self.joint.entropy_schedule is EntropySchedule.FRACTION:
            low = p.minimal_entropy
            beta = self.joint.entropy_rate * (entropy - low) + low
        else:
            beta = max(entropy - p.entropy_decrease, p.minimal_entropy)
        # a bound above it would ask for growth, which a KL bound may not allow
        return min(beta, entropy)

    def _learn(self, targets: Array) -> tuple[QuadraticModel, Complexity] | None:
        """Fit the surrogate in whitened coordinates; None while samples are too few."""
        if self.joint.model is not ModelLearner.BAYESIAN:
            return super()._learn(targets)
        X = self.queue.points
        if len(X) < self._bayesian.samples_needed:
            return None
        return self._bayesian.fit(X, targets, self.distribution), Complexity.FULL

    def _step(self, d: Array, g: Array, U: Array, complexity: Complexity) -> SearchDistribution:
        """Return the distribution after the update of mean and covariance at once."""
        bound = self.entropy_bound() - self.distribution.entropy
        new = joint_update(d, g, self.joint.epsilon, bound)
        return self._moved(U @ new.step, U, np.sqrt(new.variances))
