"""Normalization of the function values (paper, "Target Normalization" and appendix).

The surrogate is fitted only to normalized values. Otherwise outliers, or values that span many
orders of magnitude, would dominate the model.
"""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

Array = NDArray[np.float64]


class TargetNormalization(StrEnum):
    """How function values are normalized before the fit; the paper's default is ``"robust"``.

    ``"robust"``: standardized without outliers, which are clipped (paper, Algorithm 1).
    ``"standard"``: mean 0 and standard deviation 1. ``"ranks"``: normal scores of the ranks.
    ``"none"``: only centered.
    """

    ROBUST = "robust"
    STANDARD = "standard"
    RANKS = "ranks"  # normal scores, of noisy values
    NONE = "none"  # only centered


def finite_rewards(y: Array) -> Array:
    """Return ``-y`` with infinities replaced by the extremes of the finite values.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no value is finite.
    """
    are_finite = np.isfinite(y)
    if are_finite.all():
        return -y
    finite = y[are_finite]
    if len(finite) == 0:
        raise np.linalg.LinAlgError("no finite function value in the queue")
    clipped: Array = y.clip(finite.min(), finite.max())
    return -clipped


def centered(y: Array) -> Array:
    """Return ``(y - mean) 2^-k``, with k large enough that no sum overflows.

    The scale does not change the update: models of scaled targets have the same maximum within a
    trust region.

    Parameters
    ----------
    y
        Finite values, shape (q,).
    """
    y = np.ldexp(y, -2 - len(y).bit_length())
    y -= y.sum() / len(y)
    return y


def normal_scores(y: Array) -> Array:
    """Return the normal quantiles of the ranks, ``Phi^-1((r - 1/2) / q)``, averaged over ties.

    Parameters
    ----------
    y
        Values, shape (q,).
    """
    scores: Array = ndtri((rankdata(y) - 0.5) / len(y))
    return scores


def standard(y: Array) -> Array:
    """Return ``(y - mean) / standard deviation``; zeros for constant ``y``.

    Parameters
    ----------
    y
        Finite values, shape (q,).
    """
    y, spread = _unit_span(y)
    if spread == 0:
        return y
    y -= y.mean()
    y /= np.sqrt(y @ y / len(y))
    return y


def robust(y: Array, clip: float = 3.0, kurtosis_threshold: float = 0.55) -> Array:
    """Standardize repeatedly without outliers, then clip the outliers (paper, Algorithm 1).

    Values outside ``(-clip, clip)`` after standardization are outliers. While the excess kurtosis
    of the other values exceeds the threshold, these are standardized again, without the outliers.
    Finally all outliers are set to the smallest or the largest value of the innermost set.

    The paper's recursion nests affine maps, so only the innermost set matters: its mean and
    standard deviation are applied to all values at once. A level that finds no outlier ends the
    recursion, since the next one would standardize the same set (the paper's sigma = 1).

    Parameters
    ----------
    y
        Finite values, shape (q,).
    clip
        The bound ``v_clip``, greater than 1.
    kurtosis_threshold
        Excess kurtosis above which the inner values are standardized again.

    Returns
    -------
    ndarray
        Shape (q,), in the order of ``y``, within ``[-clip, clip]``; zeros for constant ``y``.
    """
    y, spread = _unit_span(y)
    if spread == 0:
        return y
    inner = y
    moments = _moments(inner)
    while True:
        mean, deviation, _, centered = moments
        inside = np.abs(centered) < clip * deviation
        count = np.count_nonzero(inside)
        if count == len(inner) == len(y):
            return centered / deviation  # no outliers, the common case
        kept = inner if count == len(inner) else inner[inside]
        moments = _moments(kept)
        if count == len(inner) or (
            moments.kurtosis <= kurtosis_threshold and moments.deviation > _COMPACTED * deviation
        ):
            clipped: Array = y.clip(kept.min(), kept.max())
            return (clipped - mean) / deviation
        if moments.deviation == 0:
            # all values but the outliers are equal, so they can't be standardized
            sides: Array = np.sign(y - kept[0])
            return sides * clip
        inner = kept


def normalize(
    y: Array, how: TargetNormalization, clip: float = 3.0, kurtosis_threshold: float = 0.55
) -> Array:
    """Apply the normalization ``how`` to ``y``, shape (q,)."""
    if how is TargetNormalization.ROBUST:
        return robust(y, clip, kurtosis_threshold)
    if how is TargetNormalization.STANDARD:
        return standard(y)
    if how is TargetNormalization.RANKS:
        return normal_scores(y)
    return centered(y)


# For a sum of squares below this, fourth powers underflow in double precision
_SMALL = 1e-140

# Inner values this small compared with the outliers are standardized again regardless of their
# kurtosis; otherwise the recursion would end with their digits lost to rounding. Fits are invariant
# under affine maps of the targets, so this does not change the model.
_COMPACTED = 1e-6


def _unit_span(y: Array) -> tuple[Array, float]:
    """Return a copy of ``y`` moved and scaled to [0, 1], and its span (0 if constant).

    Both normalizations are invariant under this map. It prevents overflow and underflow of squares
    and fourth powers.
    """
    y = y * 0.25  # the span of values near the largest double would overflow
    low = y.min()
    y -= low
    span = float(y.max())
    if span > 0:
        # the ratios are at most 1, but NumPy 1.25 reports an overflow for a denormal span
        with np.errstate(over="ignore"):
            y /= span
    return y, span


class _Moments(NamedTuple):
    mean: float
    deviation: float
    kurtosis: float  # excess kurtosis; infinity for equal values
    centered: Array


def _moments(y: Array) -> _Moments:
    mean = float(np.add.reduce(y)) / len(y)
    centered = y - mean
    squares = centered * centered
    second = float(np.add.reduce(squares))
    scale = 1.0
    if second < _SMALL:
        # fourth powers would underflow: compute them in units of the largest deviation
        scale = float(np.abs(centered).max())
        if scale == 0:
            return _Moments(mean, 0.0, np.inf, centered)
        squares = (centered / scale) ** 2
        second = float(np.add.reduce(squares))
    kurtosis = float(squares @ squares) * len(y) / second**2 - 3.0
    return _Moments(mean, scale * math.sqrt(second / len(y)), kurtosis, centered)
