"""Normalisation of the function values (paper, "Target Normalization" and appendix).

The function values enter the surrogate's fit only through these: values spanning many orders of
magnitude, and outliers, would otherwise decide the model alone.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class TargetNormalization(StrEnum):
    """Which normalisation a solver applies; the paper's default is robust."""

    ROBUST = "robust"
    STANDARD = "standard"
    NONE = "none"


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
    """Standardise again and again without the outliers, then clip these (paper, Algorithm 1).

    Values outside ``(-clip, clip)`` after standardisation are outliers. While the excess kurtosis
    of the others exceeds the threshold, they are standardised by themselves. In the end all
    outliers take the smallest or the largest value of the innermost set.

    The paper's recursion nests affine maps, so only the innermost set matters: its mean and
    standard deviation are applied to all values at once. A level that finds no outlier ends the
    recursion, since the next one would standardise the same set (the paper's sigma = 1).

    Parameters
    ----------
    y
        Finite values, shape (q,).
    clip
        The bound ``v_clip``.
    kurtosis_threshold
        Excess kurtosis above which the inner values are treated again.

    Returns
    -------
    ndarray
        Shape (q,), in the order of ``y``, within ``[-clip, clip]``; zeros for constant ``y``.
    """
    y, spread = _unit_span(y)
    if spread == 0:
        return y
    inner = y
    mean, deviation, _ = _moments(inner)
    while True:
        kept = inner[np.abs(inner - mean) < clip * deviation]
        kept_mean, kept_deviation, kurtosis = _moments(kept)
        if len(kept) == len(inner) or (
            kurtosis <= kurtosis_threshold and kept_deviation > _COMPACTED * deviation
        ):
            clipped: Array = y.clip(kept.min(), kept.max())
            return (clipped - mean) / deviation
        if kept_deviation == 0:
            # the outliers were the only spread: nothing is left to standardise by
            sides: Array = np.sign(y - kept[0])
            return sides * clip
        inner, mean, deviation = kept, kept_mean, kept_deviation


def normalize(
    y: Array, how: TargetNormalization, clip: float = 3.0, kurtosis_threshold: float = 0.55
) -> Array:
    """Apply the normalisation ``how`` to ``y``, shape (q,)."""
    if how is TargetNormalization.ROBUST:
        return robust(y, clip, kurtosis_threshold)
    if how is TargetNormalization.STANDARD:
        return standard(y)
    return np.array(y, dtype=float)


# Inner values this small beside the outliers are standardised again whatever their kurtosis: the
# recursion would end with their digits lost to rounding. Fits are invariant under affine maps of
# the targets, so this changes no model.
_COMPACTED = 1e-6


def _unit_span(y: Array) -> tuple[Array, float]:
    """Return a copy of ``y`` moved and scaled to [0, 1], and its span (0 if constant).

    Both normalisations are invariant under this map. It keeps squares and fourth powers from
    overflow and underflow for values of any size.
    """
    y = y * 0.25  # the span of values near the largest double would overflow
    low = y.min()
    y -= low
    span = float(y.max())
    if span > 0:
        y /= span
    return y, span


def _moments(y: Array) -> tuple[float, float, float]:
    """Return mean, standard deviation and excess kurtosis (infinity for equal values)."""
    mean = float(y.mean())
    centred = y - mean
    peak = float(np.abs(centred).max())
    if peak == 0:
        return mean, 0.0, np.inf
    centred /= peak  # fourth powers of small deviations would underflow
    squares = centred * centred
    second = float(squares.sum())
    deviation = peak * float(np.sqrt(second / len(y)))
    return mean, deviation, float(squares @ squares) * len(y) / second**2 - 3.0
