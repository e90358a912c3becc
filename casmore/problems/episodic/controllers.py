"""Tracking controllers: from desired and actual joint states to an action."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Controller(Protocol):
    """A function that computes an action from desired and actual joint states.

    ``controller(desired_q, desired_qd, q, qd)`` takes positions and velocities, in the units of the
    environment, and returns the action; all arrays have the shape (..., joints).
    """

    def __call__(self, desired_q: Array, desired_qd: Array, q: Array, qd: Array, /) -> Array:
        """Return the action for desired and actual positions and velocities."""


@dataclass(frozen=True, eq=False)
class PDController:
    """``stiffness * (desired_q - q) + damping * (desired_qd - qd)``, joint by joint.

    Parameters
    ----------
    stiffness, damping
        Action per unit of the position error and of the velocity error: a number, or one for each
        joint, shape (joints,).
    """

    stiffness: float | Array
    damping: float | Array

    def __call__(self, desired_q: Array, desired_qd: Array, q: Array, qd: Array, /) -> Array:
        """Return the action, shape (..., joints)."""
        action = (desired_q - q) * self.stiffness
        action += (desired_qd - qd) * self.damping
        return action


@dataclass(frozen=True)
class VelocityController:
    """``scale * desired_qd``, for a robot that takes velocities.

    Parameters
    ----------
    scale
        Action per unit of velocity.
    """

    scale: float = 1.0

    def __call__(self, desired_q: Array, desired_qd: Array, q: Array, qd: Array, /) -> Array:
        """Return the action, shape (..., joints)."""
        return self.scale * desired_qd
