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
_LAST_POWER = 22  # of ten, that is a double without rounding
_POWERS = np.array([float(10**k) for k in range(_LAST_POWER + 1)])
_CERTAIN = 0.499  # from an integer of six digits: farther than errors of rounding from the half


class RegretRecorder:
    """Records quantiles of recent values, and the value at the mean, during a trial.

    It does so at the evaluations of `checkpoints`, and at the end of the trial.
    Recent are the last ``max(20, evaluations / 10)`` values, or all if there are fewer.

    During the trial it only keeps all values, in 8 bytes each and about 40 for each call of `add`,
    and the mean at each checkpoint. The rest is computed at the end, which is several times faster
    than a little in each iteration.

    Parameters
    ----------
    mean
        Returns the mean of the search distribution, shape (n,).
    value_at
        Returns the function's value at a point, without counting it as an evaluation. It is called
        by `end`.
    """

    def __init__(self, mean: Callable[[], Array], value_at: Callable[[Array], float]) -> None:
        self._mean = mean
        self._value_at = value_at
        self._values: list[bytes] = []
        self._count = 0
        self._checkpoints = _all_checkpoints()
        self._next = next(self._checkpoints)
        self._evaluations: list[int] = []
        self._means: list[tuple[Array, int]] = []  # and how many checkpoints they are the mean of
        self._values_at_means: list[float] = []

    def add(self, y: Array) -> None:
        """Add the values of samples, shape (k,), before the mean of their distribution changes."""
        # A copy, since a solver may modify the values that it is told. Bytes are copied and joined
        # five times as fast as short arrays.
        self._values.append(y.tobytes())
        self._count += len(y)
        if self._count >= self._next:
            passed = len(self._evaluations)
            while self._next <= self._count:
                self._evaluations.append(self._next)
                self._next = next(self._checkpoints)
            self._keep_mean(len(self._evaluations) - passed)

    def end(self) -> None:
        """Record the end of the trial, and evaluate the means."""
        if self._count > 0 and self._evaluations[-1] < self._count:
            self._evaluations.append(self._count)
            self._keep_mean(1)
        for mean, times in self._means:
            self._values_at_means += [self._value_at(mean)] * times

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
        values = np.frombuffer(b"".join(self._values))
        evaluations = np.array(self._evaluations, dtype=int)
        means = np.array(self._values_at_means)
        regrets = np.column_stack([_recent_quantiles(values, evaluations), means]) - optimal_value
        rows = _rounded(regrets)
        return {
            "evaluations": self._evaluations,
            "quantiles": list(QUANTILES),
            "samples": [row[:-1] for row in rows],
            "mean": [row[-1] for row in rows],
        }

    def _keep_mean(self, times: int) -> None:
        self._means.append((self._mean().copy(), times))


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
    recent = np.sort(padded[np.add.outer(evaluations[short], np.arange(_SHORTEST_WINDOW))])
    quantiles[short] = recent[np.arange(len(recent))[:, np.newaxis], ranks[short]]
    for i in np.flatnonzero(~short).tolist():
        # NumPy's sort is faster than its partition at five places
        quantiles[i] = np.sort(values[evaluations[i] - windows[i] : evaluations[i]])[ranks[i]]
    return quantiles


def _all_checkpoints() -> Iterator[int]:
    last = 0
    for exponent in count():
        checkpoint = math.ceil(10 ** (exponent / _PER_DECADE))
        if checkpoint > last:
            yield checkpoint
            last = checkpoint


def _rounded(regrets: Array) -> list[list[float | None]]:
    """Return the rows of a matrix with its numbers rounded to six digits, as formatting does.

    Formatting is correct and slow. A number is scaled to an integer of six digits instead, which is
    then divided or multiplied by the same power of ten. Integer and power are exact doubles, so the
    result is the double nearest to the decimal number, as if its digits were read. Numbers that may
    be halfway between two integers, too large or too small, zero or not finite are formatted.
    """
    with np.errstate(all="ignore"):
        exponents = _DIGITS - 1 - np.floor(np.log10(np.abs(regrets)))
        powers = _POWERS[np.fmin(np.abs(exponents), _LAST_POWER).astype(int)]
        scaled = np.where(exponents < 0, regrets / powers, regrets * powers)
        integers = np.rint(scaled)
        rounded = np.where(exponents < 0, integers * powers, integers / powers)
        certain = (
            (np.abs(exponents) <= _LAST_POWER)
            & (np.abs(scaled - integers) < _CERTAIN)
            & (np.abs(integers) >= 10 ** (_DIGITS - 1))
            & (np.abs(integers) <= 10**_DIGITS)
        )
    rows: list[list[float | None]] = rounded.tolist()
    for i, j in np.argwhere(~certain).tolist():
        regret = float(regrets[i, j])
        rows[i][j] = float(f"{regret:.{_DIGITS}g}") if math.isfinite(regret) else None
    return rows
