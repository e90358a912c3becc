"""Lean CAS-MORE: a variant with fewer evaluations, but more computation for each.

It is not in the paper. Its updates of mean, covariance and entropy are those of the paper, with
five differences:

- The surrogate is fitted to weighted samples, with larger weights for better ones.
- Two models are fitted, one to the values and one to the normalized values. The one that has
  predicted the order of new samples better is used. The first is exact on quadratics, the second is
  robust to outliers.
- One sample of each population is the surrogate's optimum within a radius. Evaluating it gives
  either a good value, or corrects the surrogate where it was wrong.
- Populations are smaller.
- While the surrogate misleads the search, as it does on asymmetric functions, the update is that of
  CMA-ES (``casmore.algorithms.overshoot``).

Models are fitted again only when about 5 % of the samples are new. From 10-D on, the model that is
only judged is fitted every second time. In between a model is kept, and seen from the current
distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms import defaults
from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import Reliability
from casmore.algorithms.overshoot import Overshoot
from casmore.algorithms.rank_update import RankUpdate
from casmore.algorithms.sample_weights import gaps_to_best, outlier_weights, rank_weights
from casmore.algorithms.surrogate_search import FitMethod
from casmore.algorithms.targets import finite_rewards
from casmore.algorithms.trust_region import mean_step
from casmore.algorithms.weighted_fit import WeightedFit

Array = NDArray[np.float64]

# Number of samples of a population that models are judged by; comparing all pairs of more is slow
_MOST_JUDGED = 50
# Number of coefficients from which on fitting both models every time would take too long (10-D)
_LARGE = 60


@dataclass(frozen=True, kw_only=True)
class LeanCasMoreParameters(CasMoreParameters):
    """The settings of a run: those of `casmore.CasMoreParameters` and the following.

    The default population size is two thirds of that of CAS-MORE, rounded down, at least 2.
    ``whitening`` and ``fit_method`` can't be changed.

    Attributes
    ----------
    injection_radius
        Radius around the mean within which the surrogate's optimum is searched, in standard
        deviations; default ``2 sqrt(n)``.
    weight_ratio
        Ratio of the weights of the best and the worst sample, at least 1; default 20.
    outlier_gap
        Difference from the best value at which the weight of a sample is halved, in units of the
        median difference; for the model of the values; default 0.5.
    agreement_memory
        Weight in [0, 1) of the previous iterations in the average agreement of the models; default
        0.8.
    refit
        Fraction of the queue, in [0, 1], that must be new before the models are fitted again,
        rounded to whole iterations; default 0.055. With 0 they are fitted in every iteration.
    overshoot_limit
        Average overshoot of the surrogate's optimum, as a power of 10, above which the update is
        that of CMA-ES until the surrogate predicts well; default 0.9; infinity: never. It is only
        looked at with full models, and not while values are noisy.
    """

    injection_radius: float
    weight_ratio: float = 20.0
    outlier_gap: float = 0.5
    agreement_memory: float = 0.8
    refit: float = 0.055
    overshoot_limit: float = 0.9
    fit_method: FitMethod = FitMethod.DIRECT

    algorithm: ClassVar[str] = "lean CAS-MORE"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(
            "population_size", self.population_size >= 2, "at least 2: one is the model's optimum"
        )
        radius = self.injection_radius  # its square is computed
        self._require("injection_radius", 1e-100 <= radius <= 1e100, "in [1e-100, 1e100]")
        self._require("outlier_gap", 0 < self.outlier_gap < math.inf, "positive and finite")
        self._require("weight_ratio", 1 <= self.weight_ratio < math.inf, "finite, at least 1")
        self._require("agreement_memory", 0 <= self.agreement_memory < 1, "in [0, 1)")
        self._require("refit", 0 <= self.refit <= 1, "in [0, 1]")
        self._require("overshoot_limit", self.overshoot_limit > 0, "positive")
        self._require("whitening", self.whitening, "True: the weighted fit needs it")
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


@dataclass(frozen=True)
class _Fitted:
    """A model and what it was fitted to."""

    model: Model
    distribution: SearchDistribution  # whose whitened coordinates it is a function of
    complexity: Complexity
    samples: int  # total of the queue at the time


class LeanCasMore(CasMore):
    """The lean CAS-MORE optimizer, a minimizer with an ask-and-tell interface.

    It needs fewer evaluations than `casmore.CasMore`, and more computation for each. It is not in
    the paper; ``casmore.algorithms.lean_cas_more`` describes the differences.

    Parameters
    ----------
    x0, sigma0, seed, target
        See `casmore.CasMore`.
    population_size
        ``K``, at least 2; default: two thirds of that of `casmore.CasMore`.
    **settings
        Fields of `casmore.LeanCasMoreParameters` to change.

    Attributes
    ----------
    agreement : ndarray
        Kendall's tau between predicted and true values of new samples, averaged over the last
        iterations, for the model of the values and for that of the normalized values, shape (2,).
    overshoot : Overshoot
        How far the surrogate's optimum overshoots that of the function.
    path, noise, model, complexity, queue, distribution, best_x, best_y, evaluations, iterations
        See `casmore.CasMore`.

    Raises
    ------
    ValueError
        If ``x0``, ``sigma0`` or a setting is out of its range.
    TypeError
        If there is no such setting, or a number is not real.
    """

    parameters: LeanCasMoreParameters
    _parameters_class = LeanCasMoreParameters
    _most_growth = 12.0  # to populations as large as those of CAS-MORE, from two thirds of the size

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
        n, p = len(self.mean), self.parameters
        self.weighted_fit = WeightedFit(n, p.queue_size, p.ridge, p.richest_model)
        self._kept: list[_Fitted] = []  # to the values, and to the normalized values
        self._optimum: Array | None = None  # of the last model, until it is asked for
        self._injected: Array | None = None  # that optimum, once it has been asked for
        self.overshoot = Overshoot(p.overshoot_limit)
        self._rank_update = RankUpdate(n)

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
            X[0] = self._injected = self._optimum
            self._optimum = None
        return X

    def _update(self, X: Array, y: Array) -> None:
        """Judge the last models by the new samples, and do one iteration."""
        self._judge(X, y)
        before, self.model, self._optimum = self.distribution, None, None
        if self._is_misled(X, y):
            self._update_by_ranks(X, y)
            return
        super()._update(X, y)
        if self.model is not None:
            self._optimum = self._find_optimum(self.model, before)

    def _is_misled(self, X: Array, y: Array) -> bool:
        """Return whether the surrogate misleads the search, from its optimum and predictions."""
        injected, self._injected = self._injected, None
        p = self.parameters
        if p.overshoot_limit == math.inf or p.richest_model is not Complexity.FULL:
            return False
        if self.noise.is_noisy or not self._models_are_richest:
            return False
        if injected is not None and len(y) > 1:
            is_optimum = (injected == X).all(axis=1)
            if is_optimum.any() and not is_optimum.all():
                self.overshoot.observe(float(y[is_optimum][0]), y[~is_optimum])
        was_misleading = self.overshoot.is_misleading
        self.overshoot.judge(float(self.agreement[self._better]))
        if self.overshoot.is_misleading and not was_misleading:
            self._rank_update = RankUpdate(X.shape[1])  # its paths are of earlier distributions
        return self.overshoot.is_misleading

    def _update_by_ranks(self, X: Array, y: Array) -> None:
        """Do one iteration of CMA-ES; models are fitted, to see when they predict well again."""
        self.queue.add(X, y)
        self._learn(len(y) / len(self.queue))
        self.distribution = self._rank_update.update(self.distribution, X, y)

    @property
    def _models_are_richest(self) -> bool:
        """Whether there are models, and they are as rich as they can become."""
        return bool(self._kept) and self._kept[0].complexity is self.parameters.richest_model

    @property
    def _better(self) -> int:
        """Index of the model with the better predictions so far; under noise, of the ranks'."""
        return 1 if self.noise.is_noisy else int(self.agreement[1] > self.agreement[0])

    def _learn(self, new: float) -> tuple[Model, Complexity] | None:
        """Return the better surrogate, fitted again if enough samples are new.

        If noise is estimated, both are fitted in every iteration.
        """
        complexity = self._affordable()
        if complexity is None:
            return None
        estimates_noise = self._estimates_noise(complexity)
        indices = (0, 1) if estimates_noise else self._due(complexity)
        if indices:
            tasks = self._tasks(indices)
            self._refit(indices, tasks, complexity)
            if self._kept and estimates_noise:
                targets, weights = tasks[self._better]
                model = self._kept[self._better].model
                self.noise.update(self._reliability(targets, model, weights), new)
                if self.noise.is_noisy:
                    self._refit(indices, tasks, complexity, self.noise.reliability)
        if not self._kept:
            return None
        better = self._kept[self._better]
        if better.distribution is self.distribution:
            return better.model, complexity
        seen = better.distribution.seen_from(self.distribution)
        return better.model.substitute(*seen), complexity

    def _due(self, complexity: Complexity) -> tuple[int, ...]:
        """Return the indices of the models that are to be fitted again.

        The better one is, once a part of the queue is new. Of large models the other one, which is
        only judged, is fitted every second time.
        """
        if not self._kept or self._kept[0].complexity is not complexity:
            return 0, 1
        better, other = self._kept[self._better], self._kept[1 - self._better]
        new = self.queue.total - better.samples
        if new + 0.5 * self.population_size < self.parameters.refit * len(self.queue):
            return ()
        is_large = complexity.parameters(self.distribution.dimension) >= _LARGE
        return (self._better,) if is_large and other.samples >= better.samples else (0, 1)

    def _refit(
        self,
        indices: tuple[int, ...],
        tasks: list[tuple[Array, Array]],
        complexity: Complexity,
        reliability: Reliability | None = None,
    ) -> None:
        """Fit the models of these indices; without tasks there are no models any more."""
        fitted, self._kept = dict(enumerate(self._kept)), []  # none, unless the fit succeeds
        if not tasks:
            return
        # a model that shrinks depends on the coordinates, which should be those of its own weights
        groups = [tasks] if reliability is None else [[task] for task in tasks]
        models = [
            model
            for group in groups
            for model in self.weighted_fit.fit(
                self.queue, group, complexity, self.distribution, reliability
            )
        ]
        for i, model in zip(indices, models, strict=True):
            fitted[i] = _Fitted(model, self.distribution, complexity, self.queue.total)
        self._kept = [fitted[0], fitted[1]]

    def _tasks(self, indices: tuple[int, ...]) -> list[tuple[Array, Array]]:
        """Return targets and weights of these models; none if the function is flat."""
        p = self.parameters
        rewards = finite_rewards(self.queue.values)
        if rewards.min() == rewards.max():
            return []
        # larger weights for values that noise has made good would bias the fit
        ratio = 1.0 if self.noise.is_noisy else p.weight_ratio
        by_rank = rank_weights(rewards, ratio)
        tasks = []
        if 0 in indices:
            gaps = gaps_to_best(rewards)
            without_outliers = by_rank * outlier_weights(gaps, p.outlier_gap)
            tasks.append((-gaps, without_outliers * (len(gaps) / np.add.reduce(without_outliers))))
        if 1 in indices:
            normalized = self._normalized(rewards)
            if normalized is None:
                return []
            tasks.append((normalized, by_rank))
        return tasks

    def _find_optimum(self, model: Model, distribution: SearchDistribution) -> Array | None:
        """Return the model's optimum within the radius; None if it is known or not finite."""
        basis = model.basis
        radius = self.parameters.injection_radius
        z, multiplier = mean_step(basis.d, basis.along(model.a), 0.5 * radius**2)
        if multiplier == 0 and self._kept[self._better].samples < self.queue.total:
            return None  # inside the radius: the optimum of the same model was evaluated before
        optimum = distribution.mean + distribution.unwhiten(basis.back(z))
        return optimum if np.isfinite(optimum).all() else None

    def _judge(self, X: Array, y: Array) -> None:
        """Compare the predictions of the last models with the values of new samples.

        Models that are not yet the richest are ignored, since they do not show which of the richest
        models will be better.
        """
        if not self._models_are_richest or self._kept[0].samples != self._kept[1].samples:
            return
        known = np.isfinite(y).nonzero()[0][:_MOST_JUDGED]
        if len(known) < 2:
            return
        Z = self._kept[0].distribution.whiten(X[known])
        predicted = np.array([fitted.model(Z) for fitted in self._kept])
        keep = self.parameters.agreement_memory
        self.agreement = keep * self.agreement + (1 - keep) * kendall(predicted, -y[known])


def kendall(a: Array, b: Array) -> Array:
    """Return Kendall's tau-a of each row of ``a`` with ``b``: 1 if they have the same order.

    Parameters
    ----------
    a
        Shape (m, k), k at least 2.
    b
        Shape (k,).
    """
    i, j = _pairs(len(b))
    with np.errstate(over="ignore"):  # of values near the largest double; the sign is right
        taus: Array = (np.sign(a[:, i] - a[:, j]) @ np.sign(b[i] - b[j])) / len(i)
    return taus


@cache
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.triu_indices(count, 1)
    return i, j
