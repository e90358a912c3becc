"""Objective functions from the episodes of a robot."""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.problems.episodic.controllers import Controller
from casmore.problems.episodic.episodes import Episodes
from casmore.problems.episodic.joint_space import BatchRollout, JointSpace
from casmore.problems.episodic.promp import Plan, ProMP

Array = NDArray[np.float64]

_SEEDS = 2**31  # environments that are made with older habits take no larger ones


class EpisodicObjective:
    """The negative return of an episode, as a function of a movement primitive's weights.

    ``casmore.fmin(objective, x0, sigma0)`` evaluates it one by one,
    ``casmore.fmin(objective.batch, x0, sigma0, vectorized=True)`` a population at a time. With
    ``workers``, pass the objective itself; each process has a copy. The noise of an episode then
    follows from the seed and the weights, so that it does not depend on which process runs it.
    Episodes with the same weights in several processes have the same noise.

    Parameters
    ----------
    env
        A Gymnasium environment, or its id. It, or one of its wrappers, must provide the state of
        its joints: see `JointSpace`, and `MujocoJointSpace` for Gymnasium's own environments.
    promp
        Turns weights into a desired trajectory of the joints.
    controller
        Turns desired and actual joint states into an action.
    seed
        Seed of the episodes' noise: the same seed gives the same sequence of episodes.
    threads
        Number of threads of environments that can run several episodes at a time
        (`BatchRollout`); the results do not depend on it.

    Attributes
    ----------
    latest : Episodes or None
        The episodes of the last evaluation: returns, success, collisions, trajectories.
    evaluations : int
        Number of episodes so far.

    Raises
    ------
    TypeError
        If the environment does not provide the state of its joints.
    ValueError
        If the movement primitive has another number of joints.
    """

    def __init__(
        self,
        env: str | gymnasium.Env[Any, Any],
        promp: ProMP,
        controller: Controller,
        *,
        seed: int | np.random.SeedSequence | None = None,
        threads: int = 1,
    ) -> None:
        self.env = gymnasium.make(env) if isinstance(env, str) else env
        self.promp, self.controller, self.threads = promp, controller, threads
        self._joints = _joint_space(self.env)
        self._rng = np.random.default_rng(seed)
        # an integer for copies in other processes, which would all draw the same sequence
        self._common = int(self._rng.bit_generator.seed_seq.generate_state(1, np.uint64)[0])
        self._process = os.getpid()
        self._previous = b"", 0  # the last weights in a copy, and how often they were repeated
        self.latest: Episodes | None = None
        self.evaluations = 0
        self.env.reset(seed=0)
        found = len(self._joints.joint_state()[0])
        if found != promp.joints:
            raise ValueError(
                f"the movement primitive has {promp.joints} joints, the environment {found}"
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _process=-1)  # a copy, wherever it is

    @property
    def dimension(self) -> int:
        """Number of weights."""
        return self.promp.dimension

    def __call__(self, weights: ArrayLike) -> float:
        """Return the negative return of an episode with these weights, shape (n,)."""
        return float(self.batch(np.asarray(weights, dtype=float)[np.newaxis])[0])

    def batch(self, weights: ArrayLike) -> Array:
        """Return the negative returns of episodes, shape (k, n) -> (k,)."""
        weights = np.asarray(weights, dtype=float)
        seeds = self._seeds(weights)
        self.latest = self.run(weights, seeds)
        self.evaluations += len(weights)
        return -self.latest.returns

    def _seeds(self, weights: Array) -> NDArray[np.int64]:
        """Return the seeds of episodes with these weights, shape (k, n) -> (k,)."""
        if os.getpid() == self._process:
            return self._rng.integers(_SEEDS, size=len(weights))
        return np.array([self._seed_in_copy(w.tobytes()) for w in weights])

    def _seed_in_copy(self, weights: bytes) -> int:
        last, repeats = self._previous
        repeats = repeats + 1 if weights == last else 0  # the noise of repeated episodes differs
        self._previous = weights, repeats
        digest = hashlib.blake2b(weights, digest_size=16)
        digest.update(b"%d %d" % (self._common, repeats))
        return int.from_bytes(digest.digest(), "little") % _SEEDS

    def run(self, weights: ArrayLike, seeds: Sequence[int] | NDArray[np.int64]) -> Episodes:
        """Run episodes with given seeds; these do not count, and leave the noise as it is.

        Parameters
        ----------
        weights
            Shape (k, n).
        seeds
            For ``env.reset``, k whole numbers.
        """
        weights = np.asarray(weights, dtype=float)
        seeds = [int(seed) for seed in seeds]
        env: object = self._joints
        if isinstance(env, BatchRollout):
            self.env.reset(seed=0)
            plan = self._plan(weights)
            return env.rollout(plan, self.controller, seeds, threads=self.threads)
        episodes = [self.episode(w, seed) for w, seed in zip(weights, seeds, strict=True)]
        return _joined(episodes)

    def episode(self, weights: ArrayLike, seed: int, *, every: int = 0) -> Episodes:
        """Run one episode step by step, through the environment's own ``reset`` and ``step``.

        Parameters
        ----------
        weights
            Shape (n,).
        seed
            For ``env.reset``.
        every
            Number of steps from one picture to the next; 0: no pictures. The environment has to
            be made with ``render_mode="rgb_array"``.
        """
        self.env.reset(seed=int(seed))
        plan = self._plan(np.asarray(weights, dtype=float))
        q, qd = self._joints.joint_state()
        positions = np.full((self._joints.horizon + 1, self.promp.joints), np.nan)
        positions[0] = q
        frames: list[NDArray[np.uint8]] = []
        total, info = 0.0, dict[str, Any]()
        space = self.env.action_space
        for t in range(self._joints.horizon):
            if every and t % every == 0:
                frames.append(np.asarray(self.env.render()))
            action = self.controller(plan.position[t], plan.velocity[t], q, qd)
            if isinstance(space, gymnasium.spaces.Box):
                action = np.clip(action, space.low, space.high).astype(space.dtype)
            _, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            q, qd = self._joints.joint_state()
            positions[t + 1] = q
            if terminated or truncated:
                break
        if every:
            frames.append(np.asarray(self.env.render()))
        return Episodes(
            returns=np.array([total]),
            success=np.array([float(info.get("success", info.get("is_success", np.nan)))]),
            collision=np.array([float(info.get("collision", np.nan))]),
            lengths=np.array([t + 1]),
            positions=positions[np.newaxis],
            seeds=np.array([seed], dtype=np.int64),
            frames=tuple(frames),
        )

    def _plan(self, weights: Array) -> Plan:
        """Return the desired trajectories, from where the joints are."""
        start = self._joints.joint_state()[0]
        return self.promp.plan(weights, start, steps=self._joints.horizon, dt=self._joints.dt)


def _joint_space(env: gymnasium.Env[Any, Any]) -> JointSpace:
    """Return the outermost of an environment's wrappers, or itself, that tells joint states."""
    layer = env
    while not isinstance(layer, JointSpace):
        if not isinstance(layer, gymnasium.Wrapper):
            raise TypeError(
                f"{env} does not tell the state of its joints: give it joint_state(), dt and "
                "horizon, or wrap it in MujocoJointSpace"
            )
        layer = layer.env
    return layer


def _joined(episodes: Sequence[Episodes]) -> Episodes:
    return Episodes(
        returns=np.concatenate([e.returns for e in episodes]),
        success=np.concatenate([e.success for e in episodes]),
        collision=np.concatenate([e.collision for e in episodes]),
        lengths=np.concatenate([e.lengths for e in episodes]),
        positions=np.concatenate([e.positions for e in episodes]),
        seeds=np.concatenate([e.seeds for e in episodes]),
    )
