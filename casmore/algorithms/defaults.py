"""The paper's table of default hyper-parameters, as functions of the dimension n.

Paper, appendix "Hyper-Parameters". The remaining numbers of the table, ``eps_mu``, ``v_clip`` and
the threshold of the excess kurtosis, do not depend on n.
"""

import math

from casmore.algorithms.surrogate import SAMPLES_PER_PARAMETER, Complexity

EPSILON_MEAN = 0.5
CLIP = 3.0
KURTOSIS_THRESHOLD = 0.55

# Up to here the normal matrix of the full model, and the features of its queue, are taken to fit
# into memory. A number of its own, not the machine's: the same seed gives the same run everywhere.
_LARGEST_FULL_MODEL = 2**30  # bytes


def population_size(n: int) -> int:
    """``K = 4 + floor(3 log n)``: of CMA-ES, of xNES, and of the paper."""
    return 4 + math.floor(3 * math.log(n))


def queue_size(
    n: int,
    population_size: int,
    richest_model: Complexity = Complexity.FULL,
    samples_per_parameter: float = SAMPLES_PER_PARAMETER,
) -> int:
    """``Q_max = max(ceil(1.5 P), 8 (n + 1))`` for the P parameters of the richest model.

    The paper's formula is that of the full model, ``P = 1 + n + n (n + 1) / 2``.

    Populations that outgrow it, in restarts, get a queue of two iterations. A queue that grew in
    proportion was measured to solve no more of BBOB (5 and 10-D), at many times the cost.
    """
    per_parameter = max(1.5, samples_per_parameter)
    full = math.ceil(per_parameter * richest_model.parameters(n))
    return max(full, 8 * (n + 1), 2 * population_size)


def richest_model(n: int) -> Complexity:
    """Return the full model where it fits into memory (up to about n = 118), else the diagonal."""
    parameters = Complexity.FULL.parameters(n)
    samples = queue_size(n, population_size(n))
    is_small = 8 * parameters * (parameters + samples) <= _LARGEST_FULL_MODEL
    return Complexity.FULL if is_small else Complexity.DIAGONAL


def epsilon_covariance(n: int) -> float:
    """``eps_Sigma = 1.5 / (10 + n^1.5)``."""
    return 1.5 / (10 + math.pow(n, 1.5))


def path_smoothing(n: int) -> float:
    """``c_sigma = 1 / (2 + n^0.75)``."""
    return 1 / (2 + math.pow(n, 0.75))
