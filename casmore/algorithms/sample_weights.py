"""Weights of the samples in the fit of the surrogate: large for good ones, small for outliers.

Unlike clipping, weights preserve quadratic functions: their fit is exact for any weights.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LARGEST_GAP = 1e100  # its square is finite; its weight is 0 for all that matters


def rank_weights(rewards: Array, ratio: float) -> Array:
    """Return weights of mean 1 that decrease linearly with the rank, the largest for the best.

    As in the surrogate of lq-CMA-ES (Hansen, "A global surrogate assisted CMA-ES", GECCO 2019).

    Parameters
    ----------
    rewards
        Finite values, larger is better, shape (q,).
    ratio
        Ratio of the weights of the best and the worst sample.
    """
    weights = np.empty(len(rewards))
    weights[np.argsort(-rewards, kind="stable")] = _descending(len(rewards), ratio)
    return weights


@lru_cache(maxsize=16)
def _descending(count: int, ratio: float) -> Array:
    weights: Array = np.linspace(ratio, 1.0, count) * (2 / (ratio + 1))
    return weights


def gaps_to_best(rewards: Array) -> Array:
    """Return the difference of each reward from the best, in units of the median difference.

    This preserves the digits of the best rewards; with outliers, centring on the mean would not.

    Parameters
    ----------
    rewards
        Finite values, not all equal, shape (q,).
    """
    if np.abs(rewards).max() > 1:  # the smallest doubles would become 0
        rewards = rewards * 0.25  # the span of values near the largest double would overflow
    gaps = rewards.max() - rewards
    unit = _median(gaps) or float(gaps.max())
    with np.errstate(over="ignore"):
        relative: Array = np.minimum(gaps / unit, _LARGEST_GAP)
    return relative


def _median(values: Array) -> float:
    """Return the median; on short rows much faster than `numpy.median`."""
    middle = len(values) // 2
    low = (len(values) - 1) // 2
    parts = np.partition(values, (low, middle))
    return 0.5 * (float(parts[low]) + float(parts[middle]))


def outlier_weights(gaps: Array, scale: float) -> Array:
    """Return ``1 / (1 + (gap / scale)^2)``, the weights of Cauchy's robust regression.

    Parameters
    ----------
    gaps
        The differences returned by `gaps_to_best`, shape (q,).
    scale
        The gap that halves the weight, in units of the median gap.
    """
    weights: Array = 1 / (1 + (gaps / scale) ** 2)
    return weights
