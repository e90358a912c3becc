"""The regret of samples during a trial: how far typical values are from the optimal value.

COCO logs the best value so far. Where every sample has a price, as on a robot, the value of a
typical sample counts, and so does that of the point that the solver would recommend.
"""

import math
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
        self._values: list[Array] = []
        self._count = 0
        self._checkpoints = _all_checkpoints()
        self._next = next(self._checkpoints)
        self._evaluations: list[int] = []
        self._means: list[float] = []

    def add(self, y: Array) -> None:
        """Add the values of samples, shape (k,), before the mean of their distribution changes."""
        self._values.append(y.copy())  # a solver may modify the values that it is told
        self._count += len(y)
        if self._count < self._next:
            return
        value = self._value_at_mean()
        while self._next <= self._count:
            self._record(self._next, value)
            self._next = next(self._checkpoints)

    def end(self) -> None:
        """Record the end of the trial."""
        if self._count > 0 and self._evaluations[-1] < self._count:
            self._record(self._count, self._value_at_mean())

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
        values = np.concatenate([np.empty(0), *self._values])
        evaluations = np.array(self._evaluations, dtype=int)
        samples = _recent_quantiles(values, evaluations) - optimal_value
        return {
            "evaluations": self._evaluations,
            "quantiles": list(QUANTILES),
            "samples": [[_rounded(value) for value in row] for row in samples.tolist()],
            "mean": [_rounded(value - optimal_value) for value in self._means],
        }

    def _record(self, evaluations: int, value_at_mean: float) -> None:
        self._evaluations.append(evaluations)
        self._means.append(value_at_mean)


def checkpoints(evaluations: int) -> list[int]:
    """Return the evaluations 1, 2, 3, ..., ceil(10^(k / 20)), ... up to a number."""
    return list(takewhile(lambda checkpoint: checkpoint <= evaluations, _all_checkpoints()))


def _recent_quantiles(values: Array, evaluations: NDArray[np.int_]) -> Array:
    """Return the `QUANTILES` of recent values after each of some evaluations, shape (k, 5).

    They are values of samples, not interpolated: an infinite value is one like any other.
    """
    windows = np.minimum(evaluations, np.maximum(_SHORTEST_WINDOW, evaluations // _WINDOW_SHARE))
    ranks = np.ceil(np.multiply.outer(windows, QUANTILES)).astype(int) - 1
    quantiles = np.empty(ranks.shape)
    # The shortest windows, which are most of those of a short trial, are sorted in one call. Where
    # there are fewer values they begin with infinite ones, which end up behind the ranks.
    short = windows <= _SHORTEST_WINDOW
    padded = np.concatenate([np.full(_SHORTEST_WINDOW, np.inf), values])
    recent = np.lib.stride_tricks.sliding_window_view(padded, _SHORTEST_WINDOW)[evaluations[short]]
    quantiles[short] = np.take_along_axis(np.sort(recent), ranks[short], axis=1)
    for i in np.flatnonzero(~short):
        window = values[evaluations[i] - windows[i] : evaluations[i]]
        quantiles[i] = np.partition(window, ranks[i])[ranks[i]]
    return quantiles


def _all_checkpoints() -> Iterator[int]:
    last = 0
    for exponent in count():
        checkpoint = math.ceil(10 ** (exponent / _PER_DECADE))
        if checkpoint > last:
            yield checkpoint
            last = checkpoint


def _rounded(regret: float) -> float | None:
    return float(f"{regret:.{_DIGITS}g}") if math.isfinite(regret) else None
