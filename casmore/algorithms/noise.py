"""Noise handling of CAS-MORE: how much of a surrogate is signal, and what follows from it.

This is not in the paper. A quadratic model fitted to Q samples averages over them, so the residuals
of the fit reveal the noise without further evaluations. The model has two parts: the linear part
moves the mean, and the quadratic part shapes the covariance. Each is the sum of a true part and an
estimation error of known size: with P coefficients fitted to noise of variance s^2, k of them
explain a sum of squares of ``k s^2`` on average, even if there is no signal.

For coefficients with a normal prior of unknown variance, the posterior mean is the estimate times

    rho = 1 - 1 / F,    F = (sum of squares explained by the part) / (k s^2),

which is the estimator of James and Stein in the form of empirical Bayes (Efron and Morris, "Stein's
estimation rule and its competitors", JASA 1973). ``rho`` is the *reliability* of the part: 1
without noise, 0 if chance alone would have explained as much. The trust regions shrink with it.

While most of the variance is noise, the model becomes the posterior mean itself: with the prior's
variance from the data, the ridge of a standardized coefficient is ``q (1 / rho - 1)``. Compared
with least squares, this matters most if there are few samples per coefficient, since the errors of
the many quadratic coefficients then dominate those of the linear ones. Populations and queue grow,
so that a step averages over more samples. Where nearly nothing is explained, the distribution has
become too narrow for the noise, and widens again, as in UH-CMA-ES (Hansen et al., IEEE Transactions
on Evolutionary Computation 13, 2009), but not beyond the initial one. If that does not help either,
the run ends, so that it can be restarted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from casmore.algorithms.models import Model

Array = NDArray[np.float64]


# Smallest reliability used, so that a search that sees only noise can still find out
_LEAST = 0.02


class NoiseHandling(StrEnum):
    """Whether a search estimates the noise of its samples and adapts to it: ``"auto"``."""

    NONE = "none"
    AUTO = "auto"


@dataclass(frozen=True)
class Reliability:
    """How much of a fitted model is signal.

    Attributes
    ----------
    linear, quadratic
        ``rho`` of the two parts, in [0, 1].
    explained
        Fraction of the targets' variance that the model explains, adjusted for its parameters:
        the adjusted R^2, at most 1.
    """

    linear: float
    quadratic: float
    explained: float

    def ridge(self, n: int, q: int, coefficients: int) -> Array:
        """Return the ridge of each standardized coefficient that gives the posterior mean.

        If the features were uncorrelated, it would multiply the coefficients of a part by its
        reliability.

        Parameters
        ----------
        n
            The dimension, which is the number of linear coefficients; these come first.
        q
            Number of samples.
        coefficients
            Number of coefficients without the constant.
        """
        ridge = np.empty(coefficients)
        ridge[:n] = q * (1 / max(self.linear, _LEAST) - 1)
        ridge[n:] = q * (1 / max(self.quadratic, _LEAST) - 1)
        return ridge


def reliability(
    Z: Array,
    targets: Array,
    model: Model,
    parameters: int,
    weights: Array | None = None,
) -> Reliability | None:
    """Return the reliability of a model fitted to the targets.

    Parameters
    ----------
    Z
        The samples, shape (q, n), in any coordinates that the model is a function of.
    targets
        Shape (q,).
    model
        The model fitted to the targets.
    parameters
        P, the number of its coefficients, more than n + 1.
    weights
        Weights of the squared residuals in the fit, shape (q,), with mean 1; default: all 1.

    Returns
    -------
    Reliability or None
        None if the samples do not span the space, the targets are all equal, or no degrees of
        freedom are left for the noise.
    """
    q, n = Z.shape
    if q <= parameters:
        return None
    centered = Z - np.average(Z, axis=0, weights=weights)
    y, residual = targets - np.average(targets, weights=weights), targets - model(Z)
    if weights is not None:
        roots = np.sqrt(weights)
        centered, y, residual = centered * roots[:, np.newaxis], y * roots, residual * roots
    # sum of squares explained by the linear part alone: c' G^-1 c
    factor, info = lapack.dpotrf(centered.T @ centered, lower=1)
    if info != 0:
        return None
    root, _ = lapack.dtrtrs(factor, centered.T @ y, lower=1)
    total, by_slope = float(y @ y), float(root @ root)
    if total == 0:
        return None
    unexplained = float(residual @ residual)
    noise = unexplained / (q - parameters)
    by_curvature = total - by_slope - unexplained
    return Reliability(
        linear=_shrinkage(by_slope, n, noise),
        quadratic=_shrinkage(by_curvature, parameters - 1 - n, noise),
        explained=1 - noise * (q - 1) / total,
    )


def _shrinkage(explained: float, coefficients: int, noise: float) -> float:
    """Return ``max(0, 1 - 1 / F)``."""
    by_chance = coefficients * noise
    return max(0.0, 1 - by_chance / explained) if explained > 0 else 0.0


class NoiseFilter:
    """The reliability averaged over iterations, and its effect on an update.

    Parameters
    ----------
    most_growth
        Largest factor of the population size.

    Attributes
    ----------
    linear, quadratic, explained : float
        See `Reliability`; 1 in the beginning.
    growth : float
        Factor of the population size, from 1 to ``most_growth``.
    widening : float
        Logarithm of the factor by which the standard deviations grow in this iteration.
    """

    _KEEP = 0.8  # of the averages, an iteration
    # Of the reliabilities in the trust regions (measured: 1, 1.5, 2, 2.5 and 3). With 1, the step
    # along an estimated gradient would be the best one if each iteration had samples of its own. It
    # is larger, since the errors of successive models, which share most of the queue, add up.
    _POWER = 2.5
    _LEAST_ENTROPY = 0.05
    _NOISY_BELOW = 0.6  # explained variance below which targets are ranks and the model shrinks
    _GROWING_BELOW = 0.25  # explained variance below which populations grow
    _GROWTH_RATE = 1.2  # of the logarithm, when all samples of the queue have been replaced
    # Explained variance below which the distribution widens, since differences of f among its
    # samples are lost in the noise, and the rate if nothing is explained
    _WIDENING_BELOW = 0.05
    _WIDENING_RATE = 2.0

    def __init__(self, most_growth: float) -> None:
        self._most_growth = most_growth
        self.linear = self.quadratic = self.explained = self.growth = 1.0
        self.widening = 0.0

    def update(self, found: Reliability | None, replaced: float) -> None:
        """Include one more iteration in the averages; adapt the growth and the widening.

        Parameters
        ----------
        found
            The reliability of this iteration's model.
        replaced
            Fraction of the queue that this iteration has replaced.
        """
        self.widening = 0.0
        if found is None:
            return
        for name in ("linear", "quadratic", "explained"):
            now = max(0.0, getattr(found, name))
            setattr(self, name, self._KEEP * getattr(self, name) + (1 - self._KEEP) * now)
        lost = max(0.0, 1 - self.explained / self._WIDENING_BELOW)
        self.widening = self._WIDENING_RATE * replaced * lost
        rate = self._GROWTH_RATE * replaced * (self._GROWING_BELOW - self.explained)
        self.growth = min(max(self.growth * math.exp(rate), 1.0), self._most_growth)

    @property
    def is_at_limit(self) -> bool:
        """Whether populations have grown as much as they may, and nearly nothing is explained."""
        return self.growth >= self._most_growth and self.explained < self._GROWING_BELOW

    @property
    def mean_radius(self) -> float:
        """Factor of ``eps_mu``."""
        return math.pow(max(self.linear, _LEAST), self._POWER)

    @property
    def covariance_radius(self) -> float:
        """Factor of ``eps_Sigma``."""
        return math.pow(max(self.quadratic, _LEAST), self._POWER)

    @property
    def entropy_rate(self) -> float:
        """Factor of the change of the entropy: a path of pure noise causes none."""
        return max(self.linear, self._LEAST_ENTROPY)

    @property
    def is_noisy(self) -> bool:
        """Whether noise exceeds what a quadratic model can explain."""
        return self.explained < self._NOISY_BELOW

    @property
    def reliability(self) -> Reliability:
        """The averages."""
        return Reliability(self.linear, self.quadratic, self.explained)


class Stagnation:
    """Whether values no longer decrease although populations have grown as much as they may.

    Then noise hides all differences that there are, or the search is stuck in a local optimum or on
    a plateau. The spread of noisy values never vanishes, nor does a distribution that widens, so no
    other reason would end the run.

    Attributes
    ----------
    turnovers : int
        How often all samples of the queue have been replaced, in this state, since the median of
        its values was the smallest so far.
    """

    _MOST = 3  # measured: 1, 2, 3, 6

    def __init__(self) -> None:
        self.turnovers = 0
        self._seen = 0
        self._smallest = math.inf

    def update(self, is_at_limit: bool, values: Array, total: int) -> None:
        """Look at the queue after an iteration.

        Parameters
        ----------
        is_at_limit
            Whether noise dominates and populations can't grow any more.
        values
            The values in the queue, shape (q,).
        total
            How many have been added to it since the beginning.
        """
        if not is_at_limit:
            self._seen = total
        elif total - self._seen >= len(values):
            self._seen = total
            median = float(np.median(values))
            self.turnovers = 0 if median < self._smallest else self.turnovers + 1
            self._smallest = min(self._smallest, median)

    @property
    def is_over(self) -> bool:
        """Whether the run should end."""
        return self.turnovers >= self._MOST
