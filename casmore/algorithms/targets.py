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
    inner = y
    while spread > 0:
        mean, deviation = _moments(inner)
        half = clip * deviation
        kept = inner[np.abs(inner - mean) < half]
        if len(kept) == len(inner) or _excess_kurtosis(kept) <= kurtosis_threshold:
            clipped: Array = y.clip(kept.min(), kept.max())
            return (clipped - mean) / deviation
        if kept.max() == kept.min():
            # the outliers were the only spread: nothing left to standardise by
            sides: Array = np.sign(y - kept[0])
            return sides * clip
        inner = kept
    return y


def normalize(
    y: Array, how: TargetNormalization, clip: float = 3.0, kurtosis_threshold: float = 0.55
) -> Array:
    """Apply the normalisation ``how`` to ``y``, shape (q,)."""
    if how is TargetNormalization.ROBUST:
        return robust(y, clip, kurtosis_threshold)
    if how is TargetNormalization.STANDARD:
        return standard(y)
    return np.array(y, dtype=float)


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


def _moments(y: Array) -> tuple[float, float]:
    mean = float(y.mean())
    centred = y - mean
    return mean, float(np.sqrt(centred @ centred / len(y)))


def _excess_kurtosis(y: Array) -> float:
    centred = y - y.mean()
    squares = centred * centred
    second = float(squares.sum())
    if second == 0:
        return np.inf  # a single value: as compact as can be
    return float(squares @ squares) * len(y) / second**2 - 3.0
