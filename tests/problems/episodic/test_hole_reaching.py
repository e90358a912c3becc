"""The hole-reaching environments against a plain second implementation of an episode."""

import math
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from casmore.problems.episodic import TASKS, hole_physics
from casmore.problems.episodic.objective import EpisodicObjective

Array = NDArray[np.float64]

NAMES = [name for name in TASKS if "Hole" in name]
SEEDS = list(range(40))


def objective(name: str) -> EpisodicObjective:
    return TASKS[name].objective(seed=1)


# movements into the hole, found by CAS-MORE; the first brings the end-effector to y = -0.985
INTO_HOLE = np.array(
    [
        (3.52, 1.35, -0.01),
        (-0.66, -13.25, -9.63),
        (-7.85, -7.81, -12.29),
        (-10.05, -7.47, -6.52),
        (-10.39, -8.0, -0.97),
    ]
).ravel()
BY_VELOCITY = np.array(
    [
        (-6.77, 13.63, 0.32),
        (8.64, 22.51, -18.41),
        (-6.98, -5.81, -12.51),
        (-3.04, -11.08, -6.03),
        (0.08, -5.62, -4.8),
    ]
).ravel()


def weights(name: str) -> Array:
    """Movements of all kinds: into the hole, onto its walls, into the air."""
    rng = np.random.default_rng(2)
    solved = BY_VELOCITY if "Penalty" in name else INTO_HOLE
    spread = np.repeat([0.003, 0.3], len(SEEDS) // 4)[:, np.newaxis]
    return np.concatenate(
        [
            solved + spread * rng.standard_normal((len(SEEDS) // 2, 15)),
            TASKS["casmore/HoleReaching-v0"].mean + rng.standard_normal((len(SEEDS) // 2, 15)),
        ]
    )


def plain_episode(name: str, w: Array, depth: float) -> tuple[float, bool, int]:
    """Return, collision, and number of steps of an episode, one number at a time."""
    promp, penalty = TASKS[name].promp, "Penalty" in name
    values, slopes = promp.basis(np.linspace(0, 2, 200))
    width = 0.25 if penalty else 0.2
    q, qd = [math.pi / 2, 0.0, 0.0, 0.0, 0.0], [0.0] * 5
    effort, noted = 0.0, None
    for t in range(200):
        for j in range(5):
            theirs = w[3 * j : 3 * j + 3]
            wanted = (math.pi / 2 if j == 0 else 0) + 0.1 * float(values[t] @ theirs)
            speed = 0.1 * float(slopes[t] @ theirs)
            if penalty:
                a = (min(max(speed, -2 * math.pi), 2 * math.pi) - qd[j]) / 0.01
            else:
                a = min(max(100 * (wanted - q[j]) + 10 * (speed - qd[j]), -1000), 1000)
            qd[j] += 0.01 * a
            q[j] += 0.01 * qd[j]
            effort += 5e-6 * a * a
        tip = sum(np.exp(1j * np.cumsum(q)))
        collided = bool(hole_physics.Hole(width, depth).collides(np.array(q)))
        if collided or t == 180:
            noted = tip
        if collided or t == 199:
            break
    if penalty:
        return -(abs(tip - (2 - 1j)) ** 2) - 1000 * collided - effort, collided, t + 1
    assert noted is not None
    reward = math.exp(-abs(noted - (2 - 0.1j)))
    if collided:
        reward *= 0.25
    elif tip.imag <= 0:
        reward = 1 - noted.imag
    return reward - effort, collided, t + 1


@pytest.mark.parametrize("name", NAMES)
def test_episodes_are_those_of_a_plain_implementation(name: str) -> None:
    W = weights(name)
    episodes = objective(name).run(W, SEEDS)
    for i, w in enumerate(W):
        depth = 1.0
        if "Noisy" in name:  # as gymnasium seeds its environments
            depth = np.random.default_rng(SEEDS[i]).uniform(0.98, 1.02)
        value, collided, length = plain_episode(name, w, depth)
        assert episodes.returns[i] == pytest.approx(value, rel=1e-9)
        assert (episodes.collision[i], episodes.lengths[i]) == (collided, length)
        assert np.isfinite(episodes.positions[i]).all(axis=1).sum() == length + 1
    assert 5 < episodes.collision.sum() < len(W) - 5
    assert episodes.success.sum() >= 3
    assert not (episodes.success * episodes.collision).any()


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_alone_is_the_same_as_in_a_batch(name: str) -> None:
    of, W = objective(name), weights(name)
    batch = of.run(W, SEEDS)
    for i, w in enumerate(W):
        alone = of.episode(w, SEEDS[i])
        for column in ("returns", "success", "collision", "lengths"):
            assert getattr(alone, column)[0] == getattr(batch, column)[i]
        assert np.array_equal(alone.positions[0], batch.positions[i], equal_nan=True)


def test_a_hole_that_is_not_deep_enough_is_hit() -> None:
    still = objective("casmore/HoleReaching-v0").run(INTO_HOLE[np.newaxis], [0])
    lowest = hole_physics.corners(still.positions[0])[1][-1].min()
    assert -1 < lowest < -0.98
    depths = [np.random.default_rng(seed).uniform(0.98, 1.02) for seed in range(100)]
    noisy = objective("casmore/HoleReaching-Noisy-v0")
    episodes = noisy.run(INTO_HOLE[np.newaxis].repeat(100, axis=0), range(100))
    assert episodes.collision.tolist() == [float(-lowest > depth) for depth in depths]
    assert 0 < episodes.collision.mean() < 1


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    env = gymnasium.make(name, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (480, 480, 3)
    assert picture.dtype == np.uint8
    assert picture.std() > 10  # something is drawn
