"""The default hyper-parameters, as functions of the dimension n.

If the run's richest model is the full one, they are the paper's (appendix "Hyper-Parameters";
``eps_mu``, ``v_clip`` and the threshold of the excess kurtosis do not depend on n). The paper has
no runs whose richest model is a simpler one. Such a model has fewer parameters, so that the queue
can be shorter, and covariance and entropy can change faster. These formulas were chosen on
separable functions in 20, 40 and 100-D (``benchmarks/large_dimensions.py``).
"""

import math

from casmore.algorithms.models import SAMPLES_PER_PARAMETER, Complexity

EPSILON_MEAN = 0.5
CLIP = 3.0
KURTOSIS_THRESHOLD = 0.55

# Largest size of the full model's normal matrix and of its queue's features, which limits memory
# and the time of an iteration. It does not depend on the machine, so that the same seed gives the
# same run everywhere.
_LARGEST_FULL_MODEL = 2**28  # bytes


def population_size(n: int) -> int:
    """``K = 4 + floor(3 log n)``, as in CMA-ES, xNES and the paper."""
    return 4 + math.floor(3 * math.log(n))


def queue_size(
    n: int,
    population_size: int,
    richest_model: Complexity = Complexity.FULL,
    samples_per_parameter: float = SAMPLES_PER_PARAMETER,
) -> int:
    """``Q_max = max(ceil(1.5 P), 8 (n + 1))`` for the P parameters of the full model.

    For a simpler model it is ``ceil(1.5 P)``. Larger populations, after restarts, get a queue of
    two iterations. A queue that grows in proportion to the population solved no more of BBOB (5 and
    10-D), at many times the cost.
    """
    per_parameter = max(1.5, samples_per_parameter)
    size = max(math.ceil(per_parameter * richest_model.parameters(n)), 2 * population_size)
    return max(size, 8 * (n + 1)) if richest_model is Complexity.FULL else size


def richest_model(n: int) -> Complexity:
    """Return the full model if it fits into memory (up to n = 84), else the diagonal one."""
    parameters = Complexity.FULL.parameters(n)
    samples = queue_size(n, population_size(n))
    is_small = 8 * parameters * (parameters + samples) <= _LARGEST_FULL_MODEL
    return Complexity.FULL if is_small else Complexity.DIAGONAL


def epsilon_covariance(n: int, richest_model: Complexity = Complexity.FULL) -> float:
    """``eps_Sigma = 1.5 / (10 + n^1.5)``; 1.5 / (10 + n) for models simpler than the full one."""
    return 1.5 / (10 + (math.pow(n, 1.5) if richest_model is Complexity.FULL else n))


def path_gain(n: int, richest_model: Complexity = Complexity.FULL) -> float:
    """``alpha = 1``; max(1, sqrt(n) / 2) for models simpler than the full one."""
    return 1.0 if richest_model is Complexity.FULL else max(1.0, 0.5 * math.sqrt(n))


def path_smoothing(n: int) -> float:
    """``c_sigma = 1 / (2 + n^0.75)``."""
    return 1 / (2 + math.pow(n, 0.75))
