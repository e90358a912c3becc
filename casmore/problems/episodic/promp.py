"""Probabilistic movement primitives: from a weight vector to a desired joint trajectory.

Paraschos, Daniel, Peters & Neumann (2013), "Probabilistic Movement Primitives", without the
distribution over weights: that is the optimizer's search distribution. The basis starts at zero:
its first two radial functions have no weight, so that a trajectory leaves the start smoothly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_ZERO_START = 2  # leading basis functions without a weight


@dataclass(frozen=True, kw_only=True)
class ProMP:
    """Trajectories ``q_start + scale * phi(t) w`` of several joints.

    Attributes
    ----------
    joints
        Number of joints.
    bases
        Number of weights of each joint.
    duration
        Length of the movement in seconds; afterwards the last position is held.
    scale
        Factor of the weights, in the unit of the joint positions (rad for hinges).
    offset
        Shift of the centers of the basis functions, in seconds.
    bandwidth
        Factor of the inverse squared width of the basis functions; larger is narrower.
    """

    joints: int
    bases: int
    duration: float
    scale: float = 1.0
    offset: float = 0.0
    bandwidth: float = 3.0

    def __post_init__(self) -> None:
        for name in ("joints", "bases"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("duration", "bandwidth"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")

    @property
    def dimension(self) -> int:
        """Number of weights."""
        return self.joints * self.bases

    def basis(self, times: ArrayLike) -> tuple[Array, Array]:
        """Return the normalized basis functions and their time derivatives.

        Parameters
        ----------
        times
            In seconds, shape (N,), within the movement.

        Returns
        -------
        values : ndarray
            Shape (N, bases).
        derivatives : ndarray
            Per second, shape (N, bases).
        """
        phase = np.asarray(times, dtype=float)[:, np.newaxis] / self.duration
        count = self.bases + _ZERO_START
        centers = np.linspace(self.offset, self.duration + self.offset, count) / self.duration
        sharpness = self.bandwidth / (centers[1] - centers[0]) ** 2
        distance = phase - centers
        bumps = np.exp(-0.5 * sharpness * distance**2)
        slopes = -sharpness * distance * bumps
        total, total_slope = bumps.sum(axis=1), slopes.sum(axis=1)
        values = bumps / total[:, np.newaxis]
        derivatives = (slopes - values * total_slope[:, np.newaxis]) / total[:, np.newaxis]
        return values[:, _ZERO_START:], derivatives[:, _ZERO_START:] / self.duration

    def plan(self, weights: ArrayLike, start: ArrayLike, *, steps: int, dt: float) -> "Plan":
        """Return the desired positions and velocities at each control step.

        Parameters
        ----------
        weights
            Of one or several trajectories, shape (..., joints * bases), joint by joint.
        start
            Position of the joints before the movement, shape (joints,).
        steps
            Number of control steps.
        dt
            Time between them in seconds. The movement's ``duration / dt`` steps are spread evenly
            over it, both ends included.

        Returns
        -------
        Plan
            Of arrays of shape (..., steps, joints).

        Raises
        ------
        ValueError
            If the shapes do not fit.
        """
        weights, start = np.asarray(weights, dtype=float), np.asarray(start, dtype=float)
        if weights.shape[-1:] != (self.dimension,):
            raise ValueError(
                f"the weights must have shape (..., {self.dimension}), not {weights.shape}"
            )
        if start.shape != (self.joints,):
            raise ValueError(f"start must have shape ({self.joints},), not {start.shape}")
        moving = max(round(self.duration / dt), 2)
        values, derivatives = self.basis(np.linspace(0, self.duration, moving))
        # after the movement: the last position, at rest
        held = max(steps - moving, 0)
        values = np.concatenate([values, np.repeat(values[-1:], held, axis=0)])[:steps]
        derivatives = np.concatenate([derivatives, np.zeros((held, self.bases))])[:steps]
        scaled = self.scale * weights.reshape(*weights.shape[:-1], 1, self.joints, self.bases)
        # summed basis by basis: a matrix product's rounding depends on how many rows there are
        position = start + values[:, :1] * scaled[..., 0]
        velocity = derivatives[:, :1] * scaled[..., 0]
        for k in range(1, self.bases):
            position += values[:, k, np.newaxis] * scaled[..., k]
            velocity += derivatives[:, k, np.newaxis] * scaled[..., k]
        return Plan(position, velocity)


@dataclass(frozen=True)
class Plan:
    """Desired joint positions and velocities, of shape (..., steps, joints)."""

    position: Array
    velocity: Array
