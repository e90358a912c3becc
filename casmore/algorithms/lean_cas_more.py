"""Lean CAS-MORE: a variant with fewer evaluations, but more computation for each.

It is not in the paper. Its updates of mean, covariance and entropy are those of the paper, with
four differences:

- The surrogate is fitted to weighted samples, with larger weights for better ones.
- Two models are fitted, one to the values and one to the normalised values. The one that has
  predicted the order of new samples better is used. The first is exact on quadratics, the second is
  robust to outliers.
- One sample of each population is the surrogate's optimum within a radius. Evaluating it gives
  either a good value, or corrects the surrogate where it was wrong.
- Populations are smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms import defaults
from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import Reliability
from casmore.algorithms.sample_weights import gaps_to_best, outlier_weights, rank_weights
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.surrogate_search import FitMethod
from casmore.algorithms.targets import finite_rewards
from casmore.algorithms.trust_region import mean_step

Array = NDArray[np.float64]

# Number of samples of a population that models are judged by; comparing all pairs of more is slow
_MOST_JUDGED = 50


@dataclass(frozen=True, kw_only=True)
class LeanCasMoreParameters(CasMoreParameters):
    """The settings of a run: those of CAS-MORE and the following.

    Attributes
    ----------
    injection_radius
        Radius around the mean within which the surrogate's optimum is searched, in standard
        deviations.
    weight_ratio
        Ratio of the weights of the best and the worst sample.
    outlier_gap
        Difference from the best value at which the weight of a sample is halved, in units of the
        median difference; for the model of the values.
    agreement_memory
        Weight in [0, 1) of the previous iterations in the average agreement of the models.
    """

    injection_radius: float
    weight_ratio: float = 20.0
    outlier_gap: float = 0.5
    agreement_memory: float = 0.8
    fit_method: FitMethod = FitMethod.DIRECT

    algorithm: ClassVar[str] = "lean CAS-MORE"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(
            "population_size", self.population_size >= 2, "at least 2: one is the model's optimum"
        )
        for name in ("injection_radius", "outlier_gap"):
            self._require(name, 0 < getattr(self, name) < math.inf, "positive and finite")
        self._require("weight_ratio", 1 <= self.weight_ratio < math.inf, "finite, at least 1")
        self._require("agreement_memory", 0 <= self.agreement_memory < 1, "in [0, 1)")
        self._require(
            "fit_method",
            self.fit_method is FitMethod.DIRECT,
            "'direct': every new sample changes all weights",
        )

    @classmethod
    def _default_population_size(cls, n: int) -> int:
        return max(2, 2 * defaults.population_size(n) // 3)

    @classmethod
    def _defaults(cls, n: int, richest: Complexity) -> dict[str, Any]:
        return {**super()._defaults(n, richest), "injection_radius": 2 * math.sqrt(n)}


class LeanCasMore(CasMore):
    """The lean CAS-MORE optimizer, a minimiser with an ask-and-tell interface.

    Parameters and attributes are those of `casmore.algorithms.cas_more.CasMore`, the settings
    those of `LeanCasMoreParameters`, and:

    Attributes
    ----------
    agreement : ndarray
        Kendall's tau between predicted and true values of new samples, averaged over the last
        iterations, for the model of the values and for that of the normalised values.
    """

    parameters: LeanCasMoreParameters
    fit: DirectFit
    _parameters_class = LeanCasMoreParameters

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
        super().__init__(
            x0, sigma0, population_size=population_size, seed=seed, target=target, **settings
        )
        self.agreement = np.zeros(2)
        self._models: tuple[Model, ...] = ()  # of the last iteration, if there are any,
        self._fitted_in = self.distribution  # in coordinates whitened by this
        self._fitted_to: tuple[tuple[Array, Array], ...] = ()  # values and weights of each
        self._optimum: Array | None = None  # of the last model, until it is asked for

    def ask(self, count: int | None = None) -> Array:
        """Sample the search distribution; the first point is the surrogate's optimum.

        It comes first because it may reach the target, and only once, in the first ``ask`` after an
        iteration.

        Parameters
        ----------
        count
            Number of points; default: the population size K.

        Returns
        -------
        ndarray
            Shape (count, n).
        """
        X = super().ask(count)
        if self._optimum is not None and len(X) > 0:
            X[0], self._optimum = self._optimum, None
        return X

    def _update(self, X: Array, y: Array) -> None:
        """Judge the last models by the new samples, and do one iteration."""
        self._judge(X, y)
        self._models, self._optimum = (), None
        super()._update(X, y)
        if self._models:
            self._optimum = self._find_optimum(self._models[self._better])

    @property
    def _better(self) -> int:
        """Index of the model with the better predictions so far."""
        return int(self.agreement.argmax())

    def _fitted(
        self, targets: Array, complexity: Complexity, reliability: Reliability | None = None
    ) -> Model:
        """Fit both surrogates; return the one that predicts better."""
        p = self.parameters
        rewards = finite_rewards(self.queue.values)
        by_rank, gaps = rank_weights(rewards, p.weight_ratio), gaps_to_best(rewards)
        without_outliers = by_rank * outlier_weights(gaps, p.outlier_gap)
        without_outliers /= without_outliers.mean()
        self._fitted_in = self.distribution
        self._fitted_to = ((-gaps, without_outliers), (targets, by_rank))
        self._models = tuple(
            self.fit.fit(self.queue, values, complexity, self.distribution, weights, reliability)
            for values, weights in self._fitted_to
        )
        return self._models[self._better]

    def _reliability(
        self, targets: Array, model: Model, weights: Array | None = None
    ) -> Reliability | None:
        """Return the reliability of the better model for its own targets and weights."""
        values, own_weights = self._fitted_to[self._better]
        return super()._reliability(values, model, own_weights)

    def _find_optimum(self, model: Model) -> Array | None:
        """Return the model's optimum within the radius; None if it is not finite."""
        basis = model.basis
        radius = self.parameters.injection_radius
        z, _ = mean_step(basis.d, basis.along(model.a), 0.5 * radius**2)
        optimum = self._fitted_in.mean + self._fitted_in.unwhiten(basis.back(z))
        return optimum if np.isfinite(optimum).all() else None

    def _judge(self, X: Array, y: Array) -> None:
        """Compare the predictions of the last models with the values of new samples.

        Models that are not yet the richest are ignored, since they do not show which of the richest
        models will be better.
        """
        known = np.isfinite(y).nonzero()[0][:_MOST_JUDGED]
        is_richest = self.complexity is self.parameters.richest_model
        if not is_richest or not self._models or len(known) < 2:
            return
        Z = self._fitted_in.whiten(X[known])
        found = np.array([kendall(model(Z), -y[known]) for model in self._models])
        keep = self.parameters.agreement_memory
        self.agreement = keep * self.agreement + (1 - keep) * found


def kendall(a: Array, b: Array) -> float:
    """Return Kendall's tau-a of two rows of at least two values: 1 if they have the same order."""
    i, j = np.triu_indices(len(a), 1)
    return float((np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])).mean())
