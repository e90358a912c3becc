"""Stopping criteria that depend on the shape of the search distribution."""

import math

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.stopping import StopReason


def degenerate(
    distribution: SearchDistribution,
    shortest_step: float,
    longest_step: float,
    maximal_condition: float,
) -> dict[StopReason, float]:
    """Return the reasons why the search can't continue with this distribution; empty: it can.

    Parameters
    ----------
    distribution
        The search distribution.
    shortest_step, longest_step
        Smallest and largest standard deviation along the longest axis.
    maximal_condition
        Largest condition number of the covariance.
    """
    axes = distribution.axis_lengths()
    shortest, longest = float(axes[0]), float(axes[-1])
    stop: dict[StopReason, float] = {}
    # a fifth of a standard deviation is below the last digit of the mean
    unmoved = distribution.mean + 0.2 * distribution.deviations() == distribution.mean
    if longest < shortest_step or unmoved.any():
        stop[StopReason.STEP_TOO_SMALL] = longest
    if longest > longest_step:
        stop[StopReason.STEP_TOO_LARGE] = longest
    condition = (longest / shortest) ** 2 if shortest > 0 else math.inf
    if condition > maximal_condition:
        stop[StopReason.CONDITION] = condition
    return stop
