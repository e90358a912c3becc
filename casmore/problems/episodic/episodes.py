"""The results of episodes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Episodes:
    """Episodes of one task, each with its own seed.

    Attributes
    ----------
    returns
        Sum of the rewards, shape (k,).
    success, collision
        1 or 0, NaN where the environment does not tell, shape (k,).
    lengths
        Number of steps, shape (k,).
    positions
        Joint positions before the first and after each step, NaN after the end,
        shape (k, steps + 1, joints).
    seeds
        What ``reset`` was given, shape (k,).
    frames
        Pictures of the only episode, if it was rendered, each of shape (height, width, 3).
    """

    returns: Array
    success: Array
    collision: Array
    lengths: NDArray[np.int64]
    positions: Array
    seeds: NDArray[np.int64]
    frames: tuple[NDArray[np.uint8], ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.returns)
