"""Notices a surrogate whose optimum lies where the function is steep.

Behind the optimum of an asymmetric function, such as the Attractive Sector of BBOB, values are much
larger than before it. No quadratic model describes both sides: its optimum is behind that of the
function again and again, and it predicts almost nothing. Where a model is wrong for other reasons,
its optimum is rarely much worse than the worst sample.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MEMORY = 0.9  # weight of the previous iterations in the average
_LARGEST = 100.0  # overshoot of one iteration, so that a single one does not decide
_LOW_AGREEMENT = 0.35  # Kendall's tau below which the predictions of a model are bad
_HIGH_AGREEMENT = 0.6  # from which on they are good


class Overshoot:
    """How far the optimum of the surrogate overshoots, and whether the surrogate is misleading.

    Parameters
    ----------
    limit
        The average overshoot above which a surrogate with bad predictions is misleading.

    Attributes
    ----------
    average : float
        Average over the last iterations of ``log10((o - b) / (w - b))``, if that is positive, with
        the value o at the surrogate's optimum, and the best and the worst value, b and w, of the
        population's other samples. It is positive if the optimum is worse than the worst sample.
    is_misleading : bool
        Whether the search should do without the surrogate, until its predictions are good.
    """

    def __init__(self, limit: float) -> None:
        self.average = 0.0
        self.is_misleading = False
        self._limit = limit

    def observe(self, at_optimum: float, others: Array) -> None:
        """Take the value at the surrogate's optimum and those of the population's other samples."""
        best, worst = float(others.min()), float(others.max())
        if not (math.isfinite(at_optimum) and math.isfinite(worst - best) and worst > best):
            return
        with np.errstate(over="ignore"):
            ratio = (at_optimum - best) / (worst - best)
        overshoot = math.log10(min(max(ratio, 1.0), _LARGEST))
        self.average = _MEMORY * self.average + (1 - _MEMORY) * overshoot

    def judge(self, agreement: float) -> None:
        """Decide whether the surrogate is misleading.

        Parameters
        ----------
        agreement
            Kendall's tau between the surrogate's predictions and the values of new samples.
        """
        if self.is_misleading:
            self.is_misleading = agreement <= _HIGH_AGREEMENT
            if not self.is_misleading:
                self.average = 0.0
        else:
            self.is_misleading = self.average > self._limit and agreement < _LOW_AGREEMENT
