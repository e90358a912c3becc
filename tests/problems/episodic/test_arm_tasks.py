"""Table tennis and beer pong against a plain loop over MuJoCo's own step, one episode at a time."""

import warnings
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from casmore.problems.episodic import TASKS, beer_pong, table_tennis
from casmore.problems.episodic.objective import EpisodicObjective

Array = NDArray[np.float64]

TENNIS, PONG = "casmore/TableTennis-v0", "casmore/BeerPong-v0"
# a smash and a throw, found by CAS-MORE and CMA-ES
SMASH = np.array(
    [9.66, -5.07, 12.33, -2.21, 7.81, -3.17, 1.75, -2.81, -7.16, -6.57, -5.58, 11.16, 1.12, 3.46]
)
THROW = np.array([-2.6, -2.3, -3.3, -10.0, -1.2, 4.6, 26.8, -0.5, 7.3, 5.0, 10.7, -10.4, -1.5, 1.9])
# stiffness and damping of the paper's controllers
GAINS = {
    TENNIS: (
        np.array([0.5, 2, 1, 2, 0.5, 2, 0.5]),
        np.array([0.05, 0.2, 0.1, 0.2, 0.05, 0.2, 0.05]),
    ),
    PONG: (
        np.array([1.5, 5, 2.55, 3, 2, 2, 1.25]),
        np.array([0.02333, 0.1, 0.0625, 0.08, 0.03, 0.03, 0.0125]),
    ),
}


@pytest.fixture(scope="module")
def objectives() -> dict[str, EpisodicObjective]:
    return {name: TASKS[name].objective(seed=1, threads=2) for name in (TENNIS, PONG)}


def weights(name: str) -> Array:
    """Movements with all kinds of ends."""
    solved = SMASH if name == TENNIS else THROW
    rng = np.random.default_rng(4)
    spread = np.array([0, 0, 0, 0, 0.3, 0.6, 1, 2, 2])[:, np.newaxis]
    near = solved + spread * rng.standard_normal((9, 14))
    return np.concatenate([near, 2 * rng.standard_normal((3, 14))])


def nearness(distance: Any) -> float:
    return 1 / (1 + float(distance))


class Loop:
    """An episode step by step: what is common to both tasks, for one MjData."""

    def __init__(self, task: Any, w: Array) -> None:
        self.model = task.model()
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:7] = task.START
        name = TENNIS if task is table_tennis else PONG
        self.plan = TASKS[name].promp.plan(w, task.START, steps=task.HORIZON, dt=task.DT)
        self.p, self.d = GAINS[name]
        self.gear, self.effort = task.GEAR, 0.0

    def act(self, t: int) -> None:
        """Set the motors' controls, by a PD law with all forces but inertia compensated."""
        data = self.data
        u = self.p * (self.plan.position[t] - data.qpos[:7])
        u += self.d * (self.plan.velocity[t] - data.qvel[:7])
        u += data.qfrc_bias[:7] / self.gear
        self.effort += float(u @ u)
        data.ctrl[:] = np.clip(u, -1, 1)
        mujoco.mj_step2(self.model, data)
        mujoco.mj_step1(self.model, data)  # contacts and forces of the new state

    def touches(self, *names: str) -> bool:
        """Whether the ball touches one of these geoms or bodies."""
        for contact in self.data.contact:
            pair = {self.model.geom(g).name for g in contact.geom}
            bodies = {self.model.body(self.model.geom(g).bodyid[0]).name for g in contact.geom}
            if "ball" in pair and (pair | bodies) & {*names}:
                return True
        return False


def smash(w: Array, seed: int) -> tuple[float, bool]:
    loop = Loop(table_tennis, w)
    data = loop.data
    data.qpos[7:] = -0.2, -0.8, 1.85
    data.qvel[7:] = np.random.default_rng(seed).uniform(2.49, 2.51), 2, 0.5
    mujoco.mj_step1(loop.model, data)
    to_bat, to_edge, hit, landed = [], [], False, False
    for t in range(1000):
        loop.act(t)
        ball = data.qpos[7:]
        to_bat.append(np.linalg.norm(ball - data.body("bat").xpos))
        to_edge.append(np.linalg.norm(ball[[0, 2]] - [-1.37, 0.77]))
        if hit and loop.touches("table", "floor"):
            landed = True
            break
        hit = hit or loop.touches("bat")
    d, (x, _, z) = min(to_bat), ball
    if not hit:
        return 0.2 * nearness(d), False
    cost = 1e-5 * loop.effort
    if not landed:
        return 0.5 * nearness(d) + nearness(min(to_edge)) - cost, False
    if x < 0 and z > 0.7:
        return 5 * nearness(d) - 10 * x - cost, True
    return 2 * nearness(d) + 3 * nearness(abs(x + 1.37)) - cost, False


def throw(w: Array, seed: int) -> tuple[float, bool]:
    loop = Loop(beer_pong, w)
    model, data = loop.model, loop.data
    noise = np.random.default_rng(seed).normal(0, 0.02, 3)
    to_top, bounced = [], False
    for t in range(600):
        if t <= 175:  # in the hand
            mujoco.mj_forward(model, data)
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jacSite(model, data, jacobian, None, model.site("palm").id)
            data.qpos[7:] = data.site("palm").xpos
            data.qvel[7:] = jacobian @ data.qvel + (noise if t == 175 else 0)
        if t > 0:
            to_top.append(np.linalg.norm(data.qpos[7:] - [0.3, -1.6335, 0.95]))
        loop.act(t)
        bounced = bounced or (t >= 175 and loop.touches("table"))
    ball = data.qpos[7:]
    to_top.append(np.linalg.norm(ball - [0.3, -1.6335, 0.95]))
    m, f = nearness(min(to_top)), nearness(np.linalg.norm(ball - [0.3, -1.6335, 0.865]))
    if loop.touches("cup_bottom"):
        if bounced:
            return 2 * f + m + 3 - 5e-2 * loop.effort, True
        return 2 * f + m + 1 - 1e-2 * loop.effort, False
    if bounced:
        return m + 0.5 * f - 5e-3 * loop.effort, False
    return 0.2 * m + 0.1 * f - 1e-3 * loop.effort, False


@pytest.mark.parametrize(("name", "plain"), [(TENNIS, smash), (PONG, throw)])
def test_episodes_are_those_of_a_plain_loop(
    name: str, plain: Any, objectives: dict[str, EpisodicObjective]
) -> None:
    W = weights(name)
    episodes = objectives[name].run(W, range(len(W)))
    for i, w in enumerate(W):
        value, success = plain(w, i)
        assert episodes.returns[i] == pytest.approx(value, rel=1e-6)
        assert episodes.success[i] == success
    assert 0 < episodes.success.mean() < 1


def test_an_episode_ends_once_its_ball_is_out_of_reach(
    objectives: dict[str, EpisodicObjective],
) -> None:
    W = weights(TENNIS)[-3:]  # misses, whose returns are compared with complete episodes above
    episodes = objectives[TENNIS].run(W, range(3))
    assert (episodes.lengths < table_tennis.HORIZON).all()
    for length, q in zip(episodes.lengths, episodes.positions, strict=True):
        assert not np.isnan(q[: length + 1]).any()
        assert np.isnan(q[length + 1 :]).all()


def test_the_bat_does_not_reach_farther_than_assumed() -> None:
    model = table_tennis.model()
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    base, farthest = model.body("base").pos, 0.0
    lowest, highest = model.jnt_range[:7].T
    for q in rng.uniform(lowest, highest, (1000, 7)):
        data.qpos[:7] = q
        mujoco.mj_kinematics(model, data)
        farthest = max(farthest, np.hypot(*(data.site("bat").xpos - base)[:2]))
    assert 0.9 < farthest < table_tennis.REACH


@pytest.mark.parametrize("name", [TENNIS, PONG])
def test_an_episode_alone_is_the_same_as_in_a_batch(
    name: str, objectives: dict[str, EpisodicObjective]
) -> None:
    W = weights(name)
    batch = objectives[name].run(W, range(len(W)))
    one_thread = TASKS[name].objective(seed=1).run(W, range(len(W)))
    assert np.array_equal(batch.returns, one_thread.returns)
    for i in (0, 4, 11):
        alone = objectives[name].episode(W[i], i)
        for column in ("returns", "success", "collision", "lengths"):
            assert getattr(alone, column)[0] == getattr(batch, column)[i]
        assert np.array_equal(alone.positions[0], batch.positions[i], equal_nan=True)


@pytest.mark.parametrize(("name", "reward"), [(TENNIS, -25.0), (PONG, -30.0)])
def test_a_simulation_that_fails_is_punished(
    name: str, reward: float, objectives: dict[str, EpisodicObjective]
) -> None:
    episodes = objectives[name].env.unwrapped._new_batch(2, 1)  # type: ignore[attr-defined]
    episodes.begin([np.random.default_rng(1), np.random.default_rng(2)])
    episodes.batch.bind("qvel")[0, 3] = 1e12
    rewards = episodes.step(np.zeros((2, 7)))
    assert rewards.tolist() == [reward, 0.0]
    assert episodes.over.tolist() == [True, False]


@pytest.mark.parametrize("name", [TENNIS, PONG])
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    env = gymnasium.make(name, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (480, 640, 3)
    assert picture.std() > 10  # something is drawn
    ball = env.unwrapped._episode.ball[0]  # type: ignore[attr-defined]
    assert np.abs(ball).max() < 3  # in the scene, before the release, too
    env.close()
