"""What the WAM's tasks share: batches of simulations, and a Gymnasium environment.

The environment is a batch of one simulation, so an episode is the same, bit for bit, whether it is
run alone or in a batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding
from mujoco.batch import Batch
from numpy.typing import NDArray

from casmore.problems.episodic.controllers import Controller
from casmore.problems.episodic.episodes import Episodes
from casmore.problems.episodic.offscreen import renderer
from casmore.problems.episodic.promp import Plan
from casmore.problems.episodic.wam import JOINTS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LARGEST_TORQUE = 10.0  # of an action of 1, in units of the motors' largest torques
_LARGEST_OBSERVATION = 1000.0
_FAILURES = slice(int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQACC) + 1)
_COUNT = 1  # of the columns of a warning
_POSITION_AND_VELOCITY = int(mujoco.mjtStage.mjSTAGE_VEL)


class EpisodeBatch(ABC):
    """Several episodes of a task, simulated in parallel.

    Parameters
    ----------
    model : mujoco.MjModel
        Its first joints are those of the arm, then those of the ball.
    count
        Number of episodes, k.
    threads
        Number of threads; the result does not depend on it.

    Attributes
    ----------
    over
        Which episodes have ended, shape (k,).
    success, collision
        Of those that have, shape (k,).
    steps
        Number of steps made.
    """

    start: Array
    gear: Array
    horizon: int
    failure_reward: float

    def __init__(self, model: Any, count: int, threads: int) -> None:
        self.batch = Batch(model, count, threads, persistent=True)
        self._count = count
        self._qpos, self._qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self._ctrl, self._bias = self.batch.bind("ctrl"), self.batch.bind("qfrc_bias")
        self._sensors, self._sites = self.batch.bind("sensordata"), self.batch.bind("site_xpos")
        self._warnings = self.batch.warning[:, _FAILURES, _COUNT]

    @property
    def q(self) -> Array:
        """Positions of the arm's joints, shape (k, 7)."""
        values: Array = self._qpos[:, :JOINTS]
        return values

    @property
    def qd(self) -> Array:
        """Velocities of the arm's joints, shape (k, 7)."""
        values: Array = self._qvel[:, :JOINTS]
        return values

    @property
    def ball(self) -> Array:
        """Positions of the ball, shape (k, 3)."""
        values: Array = self._qpos[:, JOINTS:]
        return values

    @property
    def ball_velocity(self) -> Array:
        """Velocities of the ball, shape (k, 3)."""
        values: Array = self._qvel[:, JOINTS:]
        return values

    def begin(self, generators: Sequence[np.random.Generator]) -> None:
        """Start the episodes; each draws its noise from its own generator."""
        self.batch.reset(stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self.batch.warning[:] = 0
        self.q[:] = self.start
        self.steps = 0
        self.effort = np.zeros(self._count)
        self.over = np.zeros(self._count, dtype=bool)
        self.success, self.collision = self.over.copy(), self.over.copy()
        self._place(generators)
        self.batch.forward(stage=_POSITION_AND_VELOCITY)

    def step(self, action: Array) -> Array:
        """Apply actions, shape (k, 7), to the unfinished episodes; return rewards, shape (k,)."""
        on = ~self.over
        # gravity and Coriolis forces are compensated
        torque = LARGEST_TORQUE * action.clip(-1, 1) + self._bias[:, :JOINTS] / self.gear
        self.effort += (torque * torque).sum(axis=1)
        torque.clip(-1, 1, out=self._ctrl)
        self.batch.step(None if on.all() else on, stage=_POSITION_AND_VELOCITY)
        self.steps += 1
        self._watch()
        failed = on & self._warnings.any(axis=1)
        ended = on & (self._ends() | failed | (self.steps == self.horizon))
        rewards = np.zeros(self._count)
        if ended.any():
            with np.errstate(invalid="ignore"):  # of a simulation that has failed
                rewards[ended] = np.where(failed, self.failure_reward, self._reward())[ended]
                self.success |= ended & ~failed & self._succeeded()
            self.over |= ended
        return rewards

    @abstractmethod
    def _place(self, generators: Sequence[np.random.Generator]) -> None:
        """Place the ball, and reset what `_watch` updates."""

    @abstractmethod
    def _watch(self) -> None:
        """Update what the reward depends on; for episodes that are over it no longer matters."""

    @abstractmethod
    def _ends(self) -> Mask:
        """Return which episodes end before the time limit, shape (k,)."""

    @abstractmethod
    def _reward(self) -> Array:
        """Return the final rewards if the episodes end now, shape (k,)."""

    @abstractmethod
    def _succeeded(self) -> Mask:
        """Return which episodes have succeeded if they end now, shape (k,)."""


class ArmEnv(gymnasium.Env[Array, Array], ABC):
    """A Gymnasium environment around a batch of one episode.

    Actions are torques of the seven joints, in units of ten times the largest torque, added to a
    compensation of gravity and Coriolis forces. The sum is clipped to the largest torque, but its
    cost is that of the unclipped value. Observations are the joints' positions and velocities, the
    ball's position and velocity, and the elapsed fraction of the episode, shape (21,).

    Parameters
    ----------
    render_mode
        ``"rgb_array"`` or None.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - Gymnasium's way

    dt: float
    horizon: int

    def __init__(self, *, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        largest = np.concatenate([np.full(20, _LARGEST_OBSERVATION), [1.0]])
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (JOINTS,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-largest, largest, dtype=np.float64)
        self.model = self._model()
        self._episode = self._new_batch(1, 1)
        self._together: EpisodeBatch | None = None
        self._renderer: Any = None
        self._episode.begin([np.random.default_rng(0)])

    @staticmethod
    @abstractmethod
    def _model() -> Any:
        """Return the compiled model."""

    @abstractmethod
    def _new_batch(self, count: int, threads: int) -> EpisodeBatch:
        """Return a batch of ``count`` episodes."""

    def joint_state(self) -> tuple[Array, Array]:
        """Return positions and velocities of the joints, each of shape (7,)."""
        return self._episode.q[0].copy(), self._episode.qd[0].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode, with noise from the environment's own generator."""
        super().reset(seed=seed)
        self._episode.begin([self.np_random])
        return self._observation(), self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action for one time step of the simulation."""
        reward = self._episode.step(np.asarray(action)[np.newaxis])
        return (
            self._observation(),
            float(reward[0]),
            bool(self._episode.over[0]),
            False,
            self._info(),
        )

    def rollout(
        self, plan: Plan, controller: Controller, seeds: Sequence[int], *, threads: int = 1
    ) -> Episodes:
        """Run an episode for each trajectory, all at the same time; see `BatchRollout`."""
        k = len(seeds)
        episodes = self._together
        if episodes is None or (episodes.batch.nsim, episodes.batch.nthread) != (k, threads):
            episodes = self._together = self._new_batch(k, threads)
        episodes.begin([seeding.np_random(int(seed))[0] for seed in seeds])
        positions = np.empty((k, self.horizon + 1, JOINTS))
        positions[:, 0] = episodes.q
        returns, lengths = np.zeros(k), np.zeros(k, dtype=np.int64)
        for t in range(self.horizon):
            on = ~episodes.over
            if not on.any():
                break
            action = controller(plan.position[:, t], plan.velocity[:, t], episodes.q, episodes.qd)
            returns += episodes.step(action)
            lengths += on
            positions[:, t + 1] = episodes.q
        positions[np.arange(self.horizon + 1) > lengths[:, np.newaxis]] = np.nan
        return Episodes(
            returns=returns,
            success=episodes.success.astype(float),
            collision=episodes.collision.astype(float),
            lengths=lengths,
            positions=positions,
            seeds=np.array(seeds, dtype=np.int64),
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture, shape (480, 640, 3)."""
        if self.render_mode != "rgb_array":
            return None
        if self._renderer is None:
            self._renderer = renderer(self.model, height=480, width=640)
        data = self._episode.batch.get_data(0)
        data.qpos[JOINTS:] = self._episode.ball[0]  # which may be held
        mujoco.mj_forward(self.model, data)
        self._renderer.update_scene(data, camera="view")
        picture: NDArray[np.uint8] = self._renderer.render()
        return picture.copy()

    def close(self) -> None:
        """Free the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _observation(self) -> Array:
        episodes = self._episode
        time = np.array([episodes.steps / self.horizon])
        parts = (episodes.q[0], episodes.qd[0], episodes.ball[0], episodes.ball_velocity[0], time)
        seen = np.nan_to_num(np.concatenate(parts))
        bounded: Array = seen.clip(-_LARGEST_OBSERVATION, _LARGEST_OBSERVATION)
        return bounded

    def _info(self) -> dict[str, Any]:
        return {
            "success": bool(self._episode.success[0]),
            "collision": bool(self._episode.collision[0]),
        }


def nearness(distance: Array) -> Array:
    """Return ``1 - x / (1 + x)`` of a distance x: 1 at 0, 0 far away."""
    near: Array = 1 - distance / (1 + distance)
    return near
