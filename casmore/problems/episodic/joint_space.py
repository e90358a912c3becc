"""The interface of environments that a movement primitive can drive."""

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from casmore.problems.episodic.controllers import Controller
from casmore.problems.episodic.episodes import Episodes
from casmore.problems.episodic.promp import Plan

Array = NDArray[np.float64]


@runtime_checkable
class JointSpace(Protocol):
    """An environment, or a wrapper of one, that tells the state of its joints.

    Attributes
    ----------
    dt
        Time of a step in seconds.
    horizon
        Number of steps of an episode that is not ended earlier.
    """

    dt: float
    horizon: int

    def joint_state(self) -> tuple[Array, Array]:
        """Return positions and velocities of the joints, each of shape (joints,).

        Their units are those of the environment, for example rad and rad/s.
        """


@runtime_checkable
class BatchRollout(Protocol):
    """An environment that can run many episodes at a time, faster than one by one."""

    def rollout(
        self, plan: Plan, controller: Controller, seeds: Sequence[int], *, threads: int = 1
    ) -> Episodes:
        """Run an episode for each of the plan's trajectories, as ``reset`` and ``step`` would.

        Parameters
        ----------
        plan
            Of arrays of shape (k, horizon, joints).
        controller
            Computes the actions of all episodes at once.
        seeds
            For ``reset``, one for each episode.
        threads
            Number of threads to use; the result does not depend on it.
        """


class MujocoJointSpace(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Joint states of Gymnasium's own MuJoCo environments, and of those made like them.

    Parameters
    ----------
    env
        With the attributes ``model``, ``data`` and ``dt`` of ``gymnasium.envs.mujoco.MujocoEnv``.
    joints
        Names of the joints that the actions drive, in the order of the actions.

    Raises
    ------
    ValueError
        If the model has no such joint, or the environment no time limit.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], joints: Sequence[str]) -> None:
        super().__init__(env)
        mujoco_env: Any = env.unwrapped
        model = mujoco_env.model
        known = [model.joint(i).name for i in range(model.njnt)]
        if unknown := [name for name in joints if name not in known]:
            raise ValueError(
                f"the model has no joint {', '.join(unknown)}; it has {', '.join(known)}"
            )
        self._q = [int(model.joint(name).qposadr[0]) for name in joints]
        self._qd = [int(model.joint(name).dofadr[0]) for name in joints]
        if env.spec is None or env.spec.max_episode_steps is None:
            raise ValueError(f"{env} has no max_episode_steps: make it with gymnasium.make")
        self.dt = float(mujoco_env.dt)
        self.horizon = env.spec.max_episode_steps

    def joint_state(self) -> tuple[Array, Array]:
        """Return positions and velocities of the joints, each of shape (joints,)."""
        data = cast(Any, self.env.unwrapped).data
        return data.qpos[self._q].copy(), data.qvel[self._qd].copy()
