"""The planar five-link arm of the hole-reaching task: kinematics, dynamics, collisions.

All functions take any number of states at once: the arrays' last axis is the five joints. What
the arm may touch is the ground, y = 0, with a hole of a given half-width and depth in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LINKS = 5  # of 1 m each; the base is at (0, 0)
DT = 0.01  # seconds
STEPS = 200
START = np.array([np.pi / 2, 0.0, 0.0, 0.0, 0.0])  # upright
HOLE_X = 2.0  # center of the hole

# links that are no neighbors
_PAIRS = [(i, j) for i in range(LINKS) for j in range(i + 2, LINKS)]


def corners(q: Array) -> tuple[Array, Array]:
    """Return x and y of the points between which the links are, shape (..., 5) -> (6, ...)."""
    angles = np.cumsum(np.moveaxis(q, -1, 0), axis=0)
    x, y = np.zeros((2, LINKS + 1, *q.shape[:-1]))
    np.cumsum(np.cos(angles), axis=0, out=x[1:])
    np.cumsum(np.sin(angles), axis=0, out=y[1:])
    return x, y


def step(q: Array, qd: Array, acceleration: Array) -> tuple[Array, Array]:
    """Return positions and velocities one step later: a double integrator (semi-implicit)."""
    qd = qd + DT * acceleration
    return q + DT * qd, qd


@dataclass(frozen=True)
class Hole:
    """The hole in the ground.

    Attributes
    ----------
    width, depth
        In metres; the depth may differ between states.
    """

    width: float
    depth: float | Array

    def collides(self, q: Array) -> Mask:
        """Whether a state breaks a joint's limit, or the arm hits itself or the ground.

        Parameters
        ----------
        q
            Shape (..., 5); ``depth`` has, or broadcasts to, the leading axes.
        """
        x, y = corners(q)
        out_of_limits = (np.abs(q) > np.pi).any(axis=-1)
        return out_of_limits | _hits_itself(x, y) | self._hits_ground(x, y)

    def _hits_ground(self, x: Array, y: Array) -> Mask:
        """Whether a point of a link is below the ground and not within the hole.

        The part of a link that is below the ground lies between its lower end and where it cuts
        y = 0, or its upper end if that is below as well: it is enough to look at these two.
        """
        x0, x1, y0, y1 = x[:-1], x[1:], y[:-1], y[1:]
        below0, below1 = y0 < 0, y1 < 0
        height = np.where(below0 == below1, 1.0, y0 - y1)
        cut = x0 + y0 / height * (x1 - x0)
        from_x, to_x = np.where(below0, x0, cut), np.where(below1, x1, cut)
        outside = np.maximum(np.abs(from_x - HOLE_X), np.abs(to_x - HOLE_X)) >= 0.5 * self.width
        hits = ((below0 | below1) & outside).any(axis=0)
        too_deep: Mask = y.min(axis=0) < -np.asarray(self.depth)
        return hits | too_deep


def _hits_itself(x: Array, y: Array) -> Mask:
    """Whether two links that are no neighbors cross: each has the other's ends on both sides."""
    hits = np.zeros(x.shape[1:], dtype=bool)
    dx, dy = np.diff(x, axis=0), np.diff(y, axis=0)
    for i, j in _PAIRS:
        to_x, to_y = x[j] - x[i], y[j] - y[i]
        turn = dx[i] * dy[j] - dy[i] * dx[j]
        from_first = dx[i] * to_y - dy[i] * to_x
        from_second = dx[j] * to_y - dy[j] * to_x
        hits |= (from_first * (from_first + turn) < 0) & (from_second * (from_second + turn) < 0)
    return hits
