"""Is one solver faster than others? The rank-sum test on trials, as in cocopp's tables.

For a target, trials are ranked by the evaluations to it. If some trials did not reach it, all are
compared at the smallest budget of these: who had reached it by then comes first, in order of
evaluations; the others follow, in order of the hardest of the 51 targets that they had reached by
then. cocopp ranks these by their function values, which is the same up to the grid of targets.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ranksums

from casmore.reports.runtimes import Runtimes


def p_value(a: Runtimes, b: Runtimes, row: int) -> float:
    """Return the p-value of ``a`` being better than ``b``; 1 if its ERT is not smaller.

    Parameters
    ----------
    a, b
        Runtimes on the same function in the same dimension.
    row
        The target's place among the 51.

    Returns
    -------
    float
        Of the two-sided rank-sum test with its normal approximation, without a correction for ties.
    """
    if not a.ert[row] < b.ert[row]:
        return 1.0
    unsuccessful = [r.spent[np.isnan(r.evaluations[row])] for r in (a, b)]
    budget = min((float(s.min()) for s in unsuccessful if len(s)), default=np.inf)
    first, second = (_ranked(r, row, budget) for r in (a, b))
    test = ranksums(first, second)
    return float(test.pvalue) if test.statistic > 0 else 1.0


def p_value_against_all(own: Runtimes, others: Iterable[Runtimes], row: int) -> float:
    """Return the largest p-value of ``own`` being better than each of the others."""
    return max((p_value(own, other, row) for other in others), default=1.0)


def _ranked(runtimes: Runtimes, row: int, budget: float) -> NDArray[np.float64]:
    """Return a number for each trial, larger if the trial was better."""
    evaluations = runtimes.evaluations
    reached = evaluations[row] <= budget
    hardest = np.count_nonzero(evaluations <= budget, axis=0) - len(evaluations)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(reached, 1 / evaluations[row], hardest), dtype=float)
