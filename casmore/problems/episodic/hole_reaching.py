"""The hole-reaching tasks as Gymnasium environments.

A planar arm of five links has to reach down into a narrow hole in the ground without touching it
(paper, "Hole-Reaching", and appendix "Impact of Data Pre-processing" for the version with a
penalty). The paper gives sizes alone; rewards and control are those of its authors' environments
(https://github.com/ALRhub/fancy_gym, February 2022). The physics are in
`casmore.problems.episodic.hole_physics`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from casmore.problems.episodic import hole_physics as physics
from casmore.problems.episodic.controllers import Controller
from casmore.problems.episodic.episodes import Episodes
from casmore.problems.episodic.hole_physics import Hole
from casmore.problems.episodic.promp import Plan

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LARGEST_ACCELERATION = 1000.0  # rad/s^2, of an action of 1
LARGEST_VELOCITY = 2 * np.pi  # rad/s, in the version with a penalty

_EFFORT = 5e-6  # cost of a squared acceleration
_NOTED = 180  # the step at which the end-effector is where it counts
_REWARD_GOAL = np.array([2.0, -0.1])
_PENALTY_GOAL = np.array([2.0, -1.0])
_PENALTY = 1000.0
_LARGEST = np.concatenate([np.full(5, 10.0), np.full(5, 1000.0), [1.0]])  # of observations


class _HoleReaching(gymnasium.Env[Array, Array]):
    """What the tasks share: the arm, the hole, and the steps of an episode.

    Observations are the joints' positions and velocities, and the elapsed fraction of the episode,
    shape (11,). The depth of the hole is not observed.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - Gymnasium's way

    dt = physics.DT
    horizon = physics.STEPS

    def __init__(
        self,
        *,
        width: float,
        depth: tuple[float, float],
        render_mode: str | None = None,
    ) -> None:
        self.width, self.depth = width, depth
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (5,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-_LARGEST, _LARGEST, dtype=np.float64)
        self._q, self._qd = physics.START, np.zeros(5)
        self._step = 0
        self._begin(self.depth[1])

    @abstractmethod
    def _acceleration(self, action: Array, qd: Array) -> Array:
        """Return the joints' accelerations for an action within its bounds."""

    @abstractmethod
    def _final_reward(self, noted: Array, end: Array, collided: Mask) -> Array:
        """Return the final reward of an episode.

        Parameters
        ----------
        noted
            Where the end-effector was at step 180, or at the collision, shape (..., 2).
        end
            Where it is, shape (..., 2).
        collided
            Whether the episode has ended by a collision, shape (...).
        """

    def joint_state(self) -> tuple[Array, Array]:
        """Return positions and velocities of the joints, each of shape (5,)."""
        return self._q, self._qd

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode: the arm is upright, the depth of the hole is drawn."""
        super().reset(seed=seed)
        self._begin(self._draw_depth(self.np_random))
        return self._observation(), self._info(collided=False)

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action for 0.01 s."""
        a = self._acceleration(_bounded(action), self._qd)
        self._q, self._qd = physics.step(self._q, self._qd, a)
        collided = self._hole.collides(self._q)
        if collided or self._step == _NOTED:
            self._noted = self._end()
        reward = _effort(a)
        over = bool(collided) or self._step == self.horizon - 1
        if over:
            reward = reward + self._final_reward(self._noted, self._end(), collided)
        self._step += 1
        return self._observation(), float(reward), over, False, self._info(bool(collided))

    def rollout(
        self, plan: Plan, controller: Controller, seeds: Sequence[int], *, threads: int = 1
    ) -> Episodes:
        """Run an episode for each trajectory, vectorized over them; see `BatchRollout`.

        The motion does not depend on collisions. So all episodes are simulated to the end, and
        truncated at their first collision afterwards.
        """
        k, steps = len(seeds), self.horizon
        depth = np.array([self._draw_depth(seeding.np_random(int(s))[0]) for s in seeds])
        positions = np.empty((steps + 1, k, 5))
        accelerations = np.empty((steps, k, 5))
        positions[0], qd = physics.START, np.zeros((k, 5))
        for t in range(steps):
            action = controller(plan.position[:, t], plan.velocity[:, t], positions[t], qd)
            accelerations[t] = self._acceleration(_bounded(action), qd)
            positions[t + 1], qd = physics.step(positions[t], qd, accelerations[t])
        collides = Hole(self.width, depth).collides(positions[1:])
        collided: Mask = np.any(collides, axis=0)
        last = np.where(collided, collides.argmax(axis=0), steps - 1)
        each = np.arange(k)
        noted = positions[1 + np.where(collided, last, _NOTED), each]
        end = positions[1 + last, each]
        rewards = _effort(accelerations)
        rewards[last, each] += self._final_reward(_tip(noted), _tip(end), collided)
        positions = positions.swapaxes(0, 1)
        positions[np.arange(steps + 1) > last[:, np.newaxis] + 1] = np.nan
        return Episodes(
            returns=rewards.cumsum(axis=0)[last, each],
            success=self._succeeded(_tip(end), collided).astype(float),
            collision=collided.astype(float),
            lengths=last + 1,
            positions=positions,
            seeds=np.array(seeds, dtype=np.int64),
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the arm, shape (480, 480, 3)."""
        if self.render_mode != "rgb_array":
            return None
        from casmore.problems.episodic.hole_drawing import picture  # Matplotlib may be missing

        return picture(self._q, width=self.width, depth=float(self._hole.depth))

    def _draw_depth(self, rng: np.random.Generator) -> float:
        low, high = self.depth
        return low if low == high else float(rng.uniform(low, high))

    def _begin(self, depth: float) -> None:
        self._hole = Hole(self.width, depth)
        self._q, self._qd = physics.START.copy(), np.zeros(5)
        self._step = 0
        self._noted = self._end()

    def _end(self) -> Array:
        return _tip(self._q)

    def _observation(self) -> Array:
        return np.concatenate([self._q, self._qd, [self._step / self.horizon]])

    def _info(self, collided: bool) -> dict[str, Any]:
        success = self._step == self.horizon and self._succeeded(self._end(), np.array(collided))
        return {"collision": collided, "success": bool(success)}

    def _succeeded(self, end: Array, collided: Mask) -> Mask:
        """Whether an episode that is over ended in the hole without a collision."""
        succeeded: Mask = (end[..., 1] < 0) & ~collided
        return succeeded


class HoleReachingEnv(_HoleReaching):
    """Reach as deep into the hole as possible; actions are accelerations, 1 for 1000 rad/s^2.

    The reward is 1 plus the depth that the end-effector has at step 180; less where it does not
    get into the hole, and a quarter of that after a collision, which ends the episode; minus
    5e-6 for each squared acceleration (rad/s^2).

    Parameters
    ----------
    width
        Of the hole, in metres.
    depth
        Between which the hole's depth is drawn, uniformly, for each episode.
    render_mode
        ``"rgb_array"`` or None.
    """

    def __init__(
        self,
        *,
        width: float = 0.2,
        depth: tuple[float, float] = (1.0, 1.0),
        render_mode: str | None = None,
    ) -> None:
        super().__init__(width=width, depth=depth, render_mode=render_mode)

    def _acceleration(self, action: Array, qd: Array) -> Array:
        acceleration: Array = LARGEST_ACCELERATION * action
        return acceleration

    def _final_reward(self, noted: Array, end: Array, collided: Mask) -> Array:
        near = np.exp(-_distance(noted, _REWARD_GOAL))
        reached = np.where(end[..., 1] > 0, near, 1 - noted[..., 1])
        return np.where(collided, 0.25 * near, reached)


class HoleReachingPenaltyEnv(_HoleReaching):
    """Reach the bottom of the hole; actions are velocities, 1 for 2 pi rad/s.

    The reward is minus the squared distance of the end-effector to the bottom of the hole in the
    end, minus 1000 for a collision, which ends the episode, minus 5e-6 for each squared
    acceleration (rad/s^2).

    Parameters
    ----------
    width, depth, render_mode
        See `HoleReachingEnv`.
    """

    def __init__(
        self,
        *,
        width: float = 0.25,
        depth: tuple[float, float] = (1.0, 1.0),
        render_mode: str | None = None,
    ) -> None:
        super().__init__(width=width, depth=depth, render_mode=render_mode)

    def _acceleration(self, action: Array, qd: Array) -> Array:
        acceleration: Array = (LARGEST_VELOCITY * action - qd) / physics.DT
        return acceleration

    def _final_reward(self, noted: Array, end: Array, collided: Mask) -> Array:
        return -(_distance(end, _PENALTY_GOAL) ** 2) - _PENALTY * collided


def _bounded(action: Array) -> Array:
    # faster than np.clip for a few numbers
    bounded: Array = np.maximum(np.minimum(action, 1.0), -1.0)
    return bounded


def _tip(q: Array) -> Array:
    """Return where the end-effector is, shape (..., 5) -> (..., 2)."""
    x, y = physics.corners(q)
    return np.stack([x[-1], y[-1]], axis=-1)


def _distance(points: Array, goal: Array) -> Array:
    distance: Array = np.hypot(points[..., 0] - goal[0], points[..., 1] - goal[1])
    return distance


def _effort(acceleration: Array) -> Array:
    effort: Array = -_EFFORT * (acceleration * acceleration).sum(axis=-1)
    return effort
