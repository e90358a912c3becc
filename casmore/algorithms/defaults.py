"""The default hyper-parameters, as functions of the dimension n.

Where the run's richest model is the full one, they are the paper's (appendix "Hyper-Parameters";
``eps_mu``, ``v_clip`` and the threshold of the excess kurtosis do not depend on n). The paper has
no run that ends up with a simpler model. Such a model has fewer parameters to learn, so that the
queue can be shorter, and covariance and entropy can change faster; the formulas were chosen on
separable functions in 20, 40 and 100-D (``benchmarks/large_dimensions.py``).
"""

import math

from casmore.algorithms.models import SAMPLES_PER_PARAMETER, Complexity

EPSILON_MEAN = 0.5
CLIP = 3.0
KURTOSIS_THRESHOLD = 0.55

# Up to here the normal matrix of the full model, and the features of its queue, are taken to fit
# into memory, and an iteration into the time one has. A number of its own, not the machine's: the
# same seed gives the same run everywhere.
_LARGEST_FULL_MODEL = 2**28  # bytes


def population_size(n: int) -> int:
    """``K = 4 + floor(3 log n)``: of CMA-ES, of xNES, and of the paper."""
    return 4 + math.floor(3 * math.log(n))


def queue_size(
    n: int,
    population_size: int,
    richest_model: Complexity = Complexity.FULL,
    samples_per_parameter: float = SAMPLES_PER_PARAMETER,
) -> int:
    """``Q_max = max(ceil(1.5 P), 8 (n + 1))`` for the P parameters of the full model.

    Of a simpler model ``ceil(1.5 P)``. Populations that outgrow it, in restarts, get a queue of
    two iterations. A queue that grew in proportion was measured to solve no more of BBOB (5 and
    10-D), at many times the cost.
    """
    per_parameter = max(1.5, samples_per_parameter)
    size = max(math.ceil(per_parameter * richest_model.parameters(n)), 2 * population_size)
    return max(size, 8 * (n + 1)) if richest_model is Complexity.FULL else size


def richest_model(n: int) -> Complexity:
    """Return the full model where it fits into memory (up to n = 84), else the diagonal."""
    parameters = Complexity.FULL.parameters(n)
    samples = queue_size(n, population_size(n))
    is_small = 8 * parameters * (parameters + samples) <= _LARGEST_FULL_MODEL
    return Complexity.FULL if is_small else Complexity.DIAGONAL


def epsilon_covariance(n: int, richest_model: Complexity = Complexity.FULL) -> float:
    """``eps_Sigma = 1.5 / (10 + n^1.5)``; of a simpler model than the full one 1.5 / (10 + n)."""
    return 1.5 / (10 + (math.pow(n, 1.5) if richest_model is Complexity.FULL else n))


def path_gain(n: int, richest_model: Complexity = Complexity.FULL) -> float:
    """``alpha = 1``; of a simpler model than the full one sqrt(n) / 2 if that is more."""
    return 1.0 if richest_model is Complexity.FULL else max(1.0, 0.5 * math.sqrt(n))


def path_smoothing(n: int) -> float:
    """``c_sigma = 1 / (2 + n^0.75)``."""
    return 1 / (2 + math.pow(n, 0.75))
