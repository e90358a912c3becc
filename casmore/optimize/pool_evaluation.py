"""Evaluating the points of an iteration in a pool."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from casmore.optimize.evaluation import TimeLeft, one_value
from casmore.optimize.worker_pool import Outcome, Pool

Array = NDArray[np.float64]


class EvaluationFailedWarning(RuntimeWarning):
    """An evaluation in a worker raised, died or took too long; its value counts as NaN."""


class OutcomeReader:
    """Converts outcomes to values: a failure becomes NaN, with a warning."""

    def __init__(self) -> None:
        self.failures = 0

    def __call__(self, outcome: Outcome) -> float:
        """Return the value.

        Raises
        ------
        TypeError, ValueError
            If f returned something that is not one real number.
        """
        if outcome.failure is None:
            return one_value(outcome.returned)
        self.failures += 1
        warnings.warn(
            f"an evaluation failed and counts as NaN: {outcome.failure}",
            EvaluationFailedWarning,
            stacklevel=2,
        )
        return math.nan


class PoolEvaluator:
    """All points of an iteration, as many at a time as the pool allows."""

    def __init__(self, pool: Pool, read: OutcomeReader) -> None:
        self._pool, self._read = pool, read

    def __call__(self, X: Array, time_left: TimeLeft) -> Iterator[tuple[int, float]]:
        """Yield index and value as the evaluations end."""
        waiting = list(enumerate(X))[::-1]
        under_way = 0
        while (waiting or under_way) and time_left() != 0:
            while waiting and under_way < self._pool.capacity:
                self._pool.submit(*waiting.pop())
                under_way += 1
            for outcome in self._pool.wait(time_left()):
                under_way -= 1
                yield outcome.key, self._read(outcome)
