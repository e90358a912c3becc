"""Whitening and standardizing samples before a fit (paper, section "Data Whitening")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]

_EPSILON = float(np.finfo(float).eps)


def standardization(X: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return mean and standard deviation of each coordinate, shapes (n,); 1 in place of 0.

    Parameters
    ----------
    X
        Samples, shape (q, n).
    weights
        Of the samples, shape (q,).
    """
    center = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - center) ** 2, axis=0, weights=weights))
    scale[scale == 0] = 1.0
    return center, scale


def empirical_whitening(Z: Array, weights: Array | None = None) -> tuple[Array, Array | None]:
    """Return the mean and a Cholesky factor C of the samples' covariance (paper, "Data Whitening").

    The samples, shape (n, q), are given in coordinates whitened by the search distribution. In
    these their covariance is far from singular, so that C is accurate. Computed from the raw
    samples, it would lose all digits at the condition numbers that occur near an optimum.

    Weights, shape (q,), are those of the fit: samples with small weights do not stretch the axes.

    C is None if the samples do not span the space, up to the covariance's rounding errors.
    """
    mean = mean_of_rows(Z, weights)
    covariance = _covariance(Z - mean[:, np.newaxis], weights)
    C, info = lapack.dpotrf(covariance, lower=1)
    pivots = C.diagonal()
    if info != 0 or float(pivots.min()) ** 2 < _rounding(covariance):
        return mean, None
    return mean, C


def spanned_whitening(centered: Array, weights: Array | None = None) -> Array:
    """Return a matrix ``M``, shape (n, n), that whitens samples which do not span the space.

    The samples become white in the directions they span, and exactly 0 in the others, for instance
    if a coordinate is fixed. A model is then constant in these directions, and does not depend on
    rounding errors.

    Parameters
    ----------
    centered
        The samples without their mean, shape (n, q).
    weights
        Of the samples, shape (q,).
    """
    covariance = _covariance(centered, weights)
    variances, V = np.linalg.eigh(covariance)
    spanned = variances > _rounding(covariance)
    scales = np.zeros_like(variances)
    scales[spanned] = 1 / np.sqrt(variances[spanned])
    whitening: Array = scales[:, np.newaxis] * V.T
    return whitening


def _covariance(centered: Array, weights: Array | None) -> Array:
    if weights is not None:
        centered = centered * np.sqrt(weights)
    covariance: Array = centered @ centered.T / centered.shape[1]
    return covariance


def _rounding(covariance: Array) -> float:
    """Return the magnitude of rounding errors in a covariance."""
    return 8 * len(covariance) * _EPSILON * float(covariance.diagonal().max())


def mean_of_rows(rows: Array, weights: Array | None) -> Array:
    """Return the mean of each row."""
    total = np.add.reduce(rows, axis=1) if weights is None else rows @ weights
    mean: Array = total / rows.shape[1]
    return mean
