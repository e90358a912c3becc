"""A task as a function that a study's run takes, with a record of more than its values."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from casmore.problems.episodic.objective import EpisodicObjective

Array = NDArray[np.float64]


class RecordedTask:
    """The negative return of episodes: of samples, and expected at the mean.

    Parameters
    ----------
    objective
        The task.
    seeds
        Of the episodes that estimate the expected return of the mean: the same in every iteration,
        so that their noise does not hide what an iteration has changed.
    """

    def __init__(self, objective: EpisodicObjective, seeds: Sequence[int]) -> None:
        self._objective = objective
        self._seeds = seeds
        self._columns: dict[str, list[float]] = defaultdict(list)
        self._note_samples(np.nan, np.nan, np.nan)  # before the first iteration

    def __call__(self, x: Array) -> float:
        """Return the mean of the negative returns of a point, shape (n,)."""
        episodes = self._objective.run(np.repeat(x[np.newaxis], len(self._seeds), 0), self._seeds)
        self._columns["success_mean"].append(float(episodes.success.mean()))
        self._columns["collision_mean"].append(float(episodes.collision.mean()))
        return -float(episodes.returns.mean())

    def batch(self, X: Array) -> Array:
        """Return the negative returns of points, shape (k, n) -> (k,)."""
        y = self._objective.batch(X)
        episodes = self._objective.latest
        assert episodes is not None  # of the line before
        self._note_samples(
            float(y.mean()), float(episodes.success.mean()), float(episodes.collision.mean())
        )
        return y

    def columns(self) -> dict[str, NDArray[np.float32]]:
        """Return what is to be kept beside a trace, each of shape (iterations + 1,).

        Means of the values of an iteration's samples, ``f_samples``, and shares of episodes that
        succeeded or collided, of the samples and at the mean.
        """
        return {name: np.array(values, dtype=np.float32) for name, values in self._columns.items()}

    def _note_samples(self, value: float, success: float, collision: float) -> None:
        self._columns["f_samples"].append(value)
        self._columns["success_samples"].append(success)
        self._columns["collision_samples"].append(collision)
