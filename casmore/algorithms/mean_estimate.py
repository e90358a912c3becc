"""The value of f at the mean, estimated by the surrogate, and its standard error.

The model is fitted to the values themselves. With P coefficients, features ``phi_i`` of the q
samples as the columns of ``Phi``, and noise of unknown variance, the posterior of the coefficients
under a flat prior is Student's t distribution with q - P degrees of freedom, centered at the least
squares estimate ``b``, with the scale matrix ``s^2 (Phi Phi')^-1``, ``s^2 = RSS / (q - P)`` (Gelman
et al., "Bayesian Data Analysis", section 14.2). The value of the model at a point with features
``phi`` is linear in the coefficients. So its posterior is centered at ``b' phi``, with the scale
``s sqrt(phi' (Phi Phi')^-1 phi)``, the standard error of the mean response in regression. The
deviations of f from a quadratic function count as noise. That the mean has followed the noise of
the same samples is not taken into account; the value is somewhat too low on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

Array = NDArray[np.float64]

# Explained variance below which values count as noisy, as for the noise handling of CAS-MORE
_NOISY_BELOW = 0.6
# Residuals smaller than this, relative to the values, may be rounding errors of f
_ROUNDING = 1e-9


@dataclass(frozen=True)
class MeanEstimate:
    """The value of f at the mean of the search distribution, as the model sees it.

    Attributes
    ----------
    value, error
        The estimated value and its standard error; NaN if there are too few samples.
    explained
        Adjusted R^2: fraction of the values' variance that the model explains, at most 1.
    deviation
        ``s``, the standard deviation of the residuals.
    magnitude
        Largest absolute value of a sample.
    """

    value: float = math.nan
    error: float = math.nan
    explained: float = math.nan
    deviation: float = math.nan
    magnitude: float = math.nan

    @property
    def is_noisy(self) -> bool:
        """Whether the model leaves much of the variance unexplained: noise, or a rugged f."""
        return self.explained < _NOISY_BELOW and self.deviation > _ROUNDING * self.magnitude


def estimate(
    y: Array, fitted: Array, parameters: int, value: float, leverage: float
) -> MeanEstimate:
    """Return the estimate of a fit.

    Parameters
    ----------
    y
        The values, shape (q,).
    fitted
        Those of the model at the samples, shape (q,).
    parameters
        P, the number of coefficients, less than q.
    value
        The model's value at the point.
    leverage
        ``phi' (Phi Phi')^-1 phi`` of the point.
    """
    q = len(y)
    residuals, centered = y - fitted, y - y.mean()
    variance = float(residuals @ residuals) / (q - parameters)
    total = float(centered @ centered) / (q - 1)
    return MeanEstimate(
        value=value,
        error=math.sqrt(variance * max(leverage, 0.0)),
        explained=1 - variance / total if total > 0 else 1.0,
        deviation=math.sqrt(variance),
        magnitude=float(np.abs(y).max()),
    )


def regression_at(features: Array, at: Array, y: Array) -> MeanEstimate:
    """Regress the values on features and an intercept, and predict at a point.

    Parameters
    ----------
    features
        Of the samples, shape (p, q) with q > p + 1; overwritten.
    at
        Of the point, shape (p,).
    y
        Finite values, shape (q,).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the features do not determine the coefficients.
    """
    p, q = features.shape
    mean, average = features.mean(axis=1), float(y.mean())
    features -= mean[:, np.newaxis]
    gram = blas.dsyrk(1.0, features.T, trans=1)
    diagonal = gram.diagonal().copy()
    diagonal[diagonal == 0] = 1.0  # a constant feature: its coefficient is 0
    np.fill_diagonal(gram, diagonal)
    factor, info = lapack.dpotrf(gram, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"the normal matrix is not positive definite (pivot {info})")
    right = np.column_stack([features @ (y - average), at - mean])
    solution, _ = lapack.dpotrs(factor, right)
    coefficients = solution[:, 0]
    fitted = average + coefficients @ features
    value = average + float(coefficients @ (at - mean))
    leverage = 1 / q + float((at - mean) @ solution[:, 1])
    return estimate(y, fitted, p + 1, value, leverage)
