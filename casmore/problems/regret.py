"""The regret of samples during a trial: how far typical values are from the optimal value.

COCO logs the best value so far. Where every sample has a price, as on a robot, the value of a
typical sample counts, and so does that of the point that the solver would recommend.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_PER_DECADE = 20
_SHORTEST_WINDOW = 20  # samples
_WINDOW_SHARE = 10  # the window is at least this part of the evaluations so far: a tenth
_DIGITS = 6


class RegretRecorder:
    """Records quantiles of recent values, and the value at the mean, during a trial.

    It does so at the evaluations of `checkpoints`, and at the end of the trial.
    Recent are the last ``max(20, evaluations / 10)`` values, or all if there are fewer.

    Parameters
    ----------
    value_at_mean
        Returns the function's value at the mean of the search distribution, without counting it as
        an evaluation.
    """

    def __init__(self, value_at_mean: Callable[[], float]) -> None:
        self._value_at_mean = value_at_mean
        self._values = array("d")
        self._checkpoints = _all_checkpoints()
        self._next = next(self._checkpoints)
        self._evaluations: list[int] = []
        self._quantiles: list[Array] = []
        self._means: list[float] = []

    def add(self, y: Array) -> None:
        """Add the values of samples, shape (k,), before the mean of their distribution changes."""
        self._values.frombytes(np.ascontiguousarray(y, dtype=np.float64).tobytes())
        evaluations = len(self._values)
        if evaluations < self._next:
            return
        value = self._value_at_mean()
        while self._next <= evaluations:
            self._record(self._next, value)
            self._next = next(self._checkpoints)

    def end(self) -> None:
        """Record the end of the trial."""
        evaluations = len(self._values)
        if evaluations > 0 and self._evaluations[-1] < evaluations:
            self._record(evaluations, self._value_at_mean())

    def document(self, optimal_value: float) -> dict[str, Any]:
        """Return the regret as an entry of a unit's record.

        Parameters
        ----------
        optimal_value
            The function's, which the regret is relative to.

        Returns
        -------
        dict
            ``evaluations``; ``samples``, for each of them the `QUANTILES` of the regret of recent
            samples; ``mean``, the regret of the mean. A regret that is not finite is None.
        """
        samples = np.array(self._quantiles).reshape(-1, len(QUANTILES)) - optimal_value
        return {
            "evaluations": self._evaluations,
            "quantiles": list(QUANTILES),
            "samples": [[_rounded(value) for value in row] for row in samples.tolist()],
            "mean": [_rounded(value - optimal_value) for value in self._means],
        }

    def _record(self, evaluations: int, value_at_mean: float) -> None:
        window = max(_SHORTEST_WINDOW, evaluations // _WINDOW_SHARE)
        recent = np.sort(np.frombuffer(self._values)[max(0, evaluations - window) : evaluations])
        # values of samples, not interpolated: an infinite value is one like any other
        ranks = [math.ceil(q * len(recent)) - 1 for q in QUANTILES]
        self._evaluations.append(evaluations)
        self._quantiles.append(recent[ranks])
        self._means.append(value_at_mean)


def checkpoints(evaluations: int) -> list[int]:
    """Return the evaluations 1, 2, 3, ..., ceil(10^(k / 20)), ... up to a number."""
    return list(takewhile(lambda checkpoint: checkpoint <= evaluations, _all_checkpoints()))


def _all_checkpoints() -> Iterator[int]:
    last = 0
    for exponent in count():
        checkpoint = math.ceil(10 ** (exponent / _PER_DECADE))
        if checkpoint > last:
            yield checkpoint
            last = checkpoint


def _rounded(regret: float) -> float | None:
    return float(f"{regret:.{_DIGITS}g}") if math.isfinite(regret) else None
