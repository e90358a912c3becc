"""Runtimes with simulated restarts: a runtime for a solver that reached a target only sometimes.

A run is made of trials drawn at random until one reaches the target; its runtime is the evaluations
of the trials that failed and those of the one that succeeded. Its mean is the ERT. (Hansen, Auger,
Brockhoff, Tušar and Tušar, 2016: COCO: performance assessment, section on simulated restarts.)
"""

import numpy as np
from numpy.typing import NDArray

from casmore.reports.runtimes import Runtimes


def simulate(runtimes: Runtimes, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw runtimes with simulated restarts to each target.

    Parameters
    ----------
    runtimes
        A solver's, on one function in one dimension.
    samples
        How many to draw for each target.
    rng
        Where the randomness comes from.

    Returns
    -------
    ndarray
        Evaluations, shape (51, samples); infinite for a target that no trial reached.
    """
    drawn = np.full((len(runtimes.evaluations), samples), np.inf)
    for row, evaluations in enumerate(runtimes.evaluations):
        reached = np.isfinite(evaluations)
        if not reached.any():
            continue
        weights = runtimes.weights
        probability = weights[reached].sum()
        drawn[row] = rng.choice(evaluations[reached], samples, p=weights[reached] / probability)
        if not reached.all():
            # failures before the first success; how often each of the failed trials is among them
            failures = rng.geometric(min(probability, 1.0), samples) - 1
            counts = rng.multinomial(failures, weights[~reached] / weights[~reached].sum())
            drawn[row] += counts @ runtimes.spent[~reached]
    return drawn
