"""Confidence intervals for comparisons of runs, and the verdicts that follow from them.

Intervals are percentile bootstrap intervals (Efron and Tibshirani 1993): runs are resampled with
replacement, independently for each sample. Shares have the exact interval of Clopper and Pearson.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

Array = NDArray[np.float64]

CONFIDENCE = 0.95
_TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
_RESAMPLES = 2000
_SEED = 20240901  # the same data give the same interval


class Verdict(StrEnum):
    """The verdict of a measurement on a claim.

    ``"yes"``: the whole confidence interval supports the claim. ``"no"``: the whole interval
    contradicts it. ``"not shown"``: neither.
    """

    YES = "yes"
    NO = "no"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"

    def above(self, threshold: float) -> Verdict:
        """Judge the claim that the number is larger than ``threshold``."""
        if self.low > threshold:
            return Verdict.YES
        return Verdict.NO if self.high < threshold else Verdict.NOT_SHOWN

    def below(self, threshold: float) -> Verdict:
        """Judge the claim that the number is smaller than ``threshold``."""
        if self.high < threshold:
            return Verdict.YES
        return Verdict.NO if self.low > threshold else Verdict.NOT_SHOWN


def all_of(*verdicts: Verdict) -> Verdict:
    """Judge a claim with several parts: all must hold, and one that fails refutes it."""
    if Verdict.NO in verdicts:
        return Verdict.NO
    return Verdict.YES if set(verdicts) == {Verdict.YES} else Verdict.NOT_SHOWN


def larger(a: Estimate, b: Estimate) -> Verdict:
    """Judge the claim that one number is larger than another: their intervals must not overlap."""
    if a.low > b.high:
        return Verdict.YES
    return Verdict.NO if a.high < b.low else Verdict.NOT_SHOWN


@dataclass(frozen=True)
class Attempts:
    """The evaluations that runs spent on a target.

    Attributes
    ----------
    spent
        Evaluations of each run until the target, or until its end without it, shape (runs,).
    reached
        Whether it reached the target, shape (runs,).
    """

    spent: Array
    reached: NDArray[np.bool_]

    @property
    def ert(self) -> float:
        """Expected running time: all evaluations over the number of successes (or infinity)."""
        hits = int(self.reached.sum())
        return float(self.spent.sum()) / hits if hits else math.inf

    def __str__(self) -> str:
        return f"{self.ert:.0f} ({self.reached.sum()}/{len(self.reached)})"


def ert_ratio(a: Attempts, b: Attempts) -> Estimate:
    """Return the ratio of the ERT of ``a`` to that of ``b``, with a bootstrap interval over runs.

    If no run has succeeded, resampling can't estimate how rare a success is. The end of the
    interval that favors this sample then uses the largest success probability that is compatible
    with no success in this number of runs (97.5 %, Clopper and Pearson); the other end is infinite.
    Without runs on either side the interval is unbounded.
    """
    if not a.spent.size or not b.spent.size:
        return Estimate(math.nan, 0.0, math.inf)
    rng = np.random.default_rng(_SEED)
    (a_best, a_worst), (b_best, b_worst) = _resampled_ert(a, rng), _resampled_ert(b, rng)
    with np.errstate(invalid="ignore"):  # infinity over infinity: anything is possible
        value = float(np.divide(a.ert, b.ert))
        low = np.nan_to_num(a_best / b_worst, nan=0.0, posinf=math.inf)
        high = np.nan_to_num(a_worst / b_best, nan=math.inf, posinf=math.inf)
    return Estimate(value, _quantile(low, _TAILS[0]), _quantile(high, _TAILS[1]))


def median(values: ArrayLike) -> Estimate:
    """Return the median of ``values``, which may be infinite, shape (runs,)."""
    x = np.asarray(values, dtype=float)
    if not x.size:
        return Estimate(math.nan, -math.inf, math.inf)
    medians = _resampled_median(x, np.random.default_rng(_SEED))
    return Estimate(lower_median(x), *(_quantile(medians, q) for q in _TAILS))


def median_ratio(a: ArrayLike, b: ArrayLike) -> Estimate:
    """Return the median of ``a`` over that of ``b``, positive values, shapes (runs,)."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not x.size or not y.size:
        return Estimate(math.nan, 0.0, math.inf)
    rng = np.random.default_rng(_SEED)
    ratios = _resampled_median(x, rng) / _resampled_median(y, rng)
    value = lower_median(x) / lower_median(y)
    return Estimate(value, *(_quantile(ratios, q) for q in _TAILS))


def share(hits: ArrayLike) -> Estimate:
    """Return the share of true values in ``hits``, shape (runs,)."""
    x = np.asarray(hits, dtype=bool)
    if not x.size:
        return Estimate(math.nan, 0.0, 1.0)
    test = binomtest(int(x.sum()), len(x))
    interval = test.proportion_ci(CONFIDENCE, method="exact")
    return Estimate(float(x.mean()), float(interval.low), float(interval.high))


def lower_median(values: Array) -> float:
    """Return the lower median, which is defined for infinite values."""
    return _quantile(values, 0.5)


def _resampled_ert(attempts: Attempts, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the ERT of resampled runs, at best and at worst; shapes (resamples,)."""
    n = len(attempts.spent)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    total, hits = counts @ attempts.spent, counts @ attempts.reached.astype(float)
    if not attempts.reached.any():
        most = n * binomtest(0, n).proportion_ci(CONFIDENCE, method="exact").high
        return total / most, np.full(_RESAMPLES, math.inf)
    with np.errstate(divide="ignore"):
        ert = total / hits
    return ert, ert


def _resampled_median(x: Array, rng: np.random.Generator) -> Array:
    samples = np.sort(rng.choice(x, (_RESAMPLES, len(x))), axis=1)
    medians: Array = samples[:, (len(x) - 1) // 2]
    return medians


def _quantile(values: Array, q: float) -> float:
    # interpolation between infinities would give NaN
    return float(np.quantile(values, q, method="inverted_cdf"))
