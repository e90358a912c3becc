"""Tracking controllers: from desired and actual joint states to an action."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Controller(Protocol):
    """What computes an action; all arrays have the shape (..., joints)."""

    def __call__(self, desired_q: Array, desired_qd: Array, q: Array, qd: Array, /) -> Array:
        """Return the action for desired and actual positions and velocities."""


@dataclass(frozen=True, eq=False)
class PDController:
    """``stiffness * (desired_q - q) + damping * (desired_qd - qd)``, joint by joint.

    Parameters
    ----------
    stiffness, damping
        A number, or one for each joint, shape (joints,).
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
        Action for a velocity of 1.
    """

    scale: float = 1.0

    def __call__(self, desired_q: Array, desired_qd: Array, q: Array, qd: Array, /) -> Array:
        """Return the action, shape (..., joints)."""
        return self.scale * desired_qd
