"""The functions of the suite bbob-noisy without their noise.

COCO evaluates them to log the progress of a trial, but its Python interface does not give the
values. Each of the functions is one of bbob with noise. So its values follow from those of that
function, apart from the ellipsoid, whose condition number differs (Finck, Hansen, Ros and Auger
2009, "Real-Parameter Black-Box Optimization Benchmarking 2010: Presentation of the Noisy
Functions").
"""

import numpy as np
from cocoex.bare_problem import BareProblem
from numpy.typing import NDArray

from casmore.problems.analytic import RotatedEllipsoid
from casmore.problems.suites import NOISY

Array = NDArray[np.float64]

# the function of bbob for each three of bbob-noisy, which have Gaussian, uniform and Cauchy noise
_OF_BBOB = (1, 8, 1, 8, 7, 10, 14, 17, 19, 21)
_ELLIPSOID, _GRIEWANK = 10, 19
# factors of bbob's penalty outside [-5, 5]^n, which the noisy functions do not have
_PENALTY = {7: 1.0, 17: 10.0, 21: 1.0}
_BOUND = 5.0


class NoiseFree:
    """A function of the suite bbob-noisy without its noise, and without its boundary penalty.

    Its values are those that COCO logs. They do not advance COCO's random numbers.

    Parameters
    ----------
    function
        101 to 130.
    dimension, instance
        The problem.

    Attributes
    ----------
    optimal_value
        The smallest value.
    """

    def __init__(self, function: int, dimension: int, instance: int) -> None:
        self._number = _OF_BBOB[NOISY.functions.index(function) // 3]
        self._bare = BareProblem("bbob", self._number, dimension, instance)
        self.optimal_value = float(self._bare.best_value())
        self._ellipsoid = _MilderEllipsoid(dimension, instance)

    def __call__(self, x: Array) -> float:
        """Evaluate one point, shape (n,)."""
        if self._number == _ELLIPSOID:
            return self._ellipsoid(x) + self.optimal_value
        value = float(self._bare(np.ascontiguousarray(x)))
        if self._number == _GRIEWANK:  # a tenth of bbob's
            return (value - self.optimal_value) / 10 + self.optimal_value
        if factor := _PENALTY.get(self._number):
            outside = np.maximum(np.abs(x) - _BOUND, 0.0)
            return value - factor * float(outside @ outside)
        return value


class _MilderEllipsoid(RotatedEllipsoid):
    log10_condition = 4.0
