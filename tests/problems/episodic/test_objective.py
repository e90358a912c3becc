"""An episode as a function to be minimized, of our environments and of others."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import casmore
from casmore.problems.episodic import (
    TASKS,
    EpisodicObjective,
    MujocoJointSpace,
    PDController,
    ProMP,
)

NOISY = TASKS["casmore/HoleReaching-Noisy-v0"]


def test_fmin_takes_it_one_by_one_and_in_batches() -> None:
    results = []
    for vectorized in (False, True):
        objective = NOISY.objective(seed=5)
        f = objective.batch if vectorized else objective
        result = casmore.fmin(f, NOISY.mean, 1.0, budget=200, seed=1, vectorized=vectorized)
        results.append(result.fun)
        assert objective.evaluations == 200
    assert results[0] == results[1] < -0.6


def test_the_same_seed_gives_the_same_episodes() -> None:
    W = np.array(NOISY.mean) + np.random.default_rng(1).standard_normal((30, 15))
    first, again, other = (NOISY.objective(seed=seed) for seed in (1, 1, 2))
    y = first.batch(W)
    assert np.array_equal(y, [again(w) for w in W])
    assert first.latest is not None
    assert first.latest.returns.tolist() == (-y).tolist()
    other.batch(W)
    assert other.latest is not None
    assert not set(first.latest.seeds) & set(other.latest.seeds)
    # episodes with seeds of one's own leave the noise as it is
    first.run(W, range(30))
    assert np.array_equal(first.batch(W), [again(w) for w in W])


def test_copies_in_other_processes_do_not_share_the_noise() -> None:
    W = np.array(NOISY.mean) + np.random.default_rng(1).standard_normal((8, 15))
    seeds = []
    for _ in range(2):  # as of processes that got some of the points each
        objective = pickle.loads(pickle.dumps(NOISY.objective(seed=1)))
        objective.batch(W[:4])
        first = objective.latest.seeds.tolist()
        objective.batch(W[[4, 4, 5]])
        seeds.append([*first, *objective.latest.seeds.tolist()])
    assert seeds[0] == seeds[1]  # it does not matter in which process
    assert len(set(seeds[0])) == 7  # that of the repeated point differs as well
    objective.batch(W[:1])
    assert objective.latest.seeds[0] == seeds[0][0]


class SeedOf:
    def __init__(self, objective: EpisodicObjective) -> None:
        self.objective = objective

    def __call__(self, weights: Any) -> float:
        self.objective(weights)
        assert self.objective.latest is not None
        return float(self.objective.latest.seeds[0])


def test_workers_do_not_share_the_noise(tmp_path: Path) -> None:
    histories = []
    for workers in (2, 3):
        path = tmp_path / f"{workers}.csv"
        seed_of = SeedOf(NOISY.objective(seed=3))
        casmore.fmin(seed_of, NOISY.mean, 1.0, workers=workers, seed=1, budget=12, history=path)
        histories.append(sorted(np.loadtxt(path, delimiter=",", skiprows=1)[:, 2]))
    assert len(set(histories[0])) == 12
    assert histories[0] == histories[1]


def reacher(**options: Any) -> EpisodicObjective:
    env = MujocoJointSpace(gymnasium.make("Reacher-v5", **options), ["joint0", "joint1"])
    return EpisodicObjective(
        env, ProMP(joints=2, bases=3, duration=0.8), PDController(1.0, 0.1), seed=1
    )


def test_an_environment_of_others() -> None:
    objective = reacher()
    y = objective.batch(np.random.default_rng(1).standard_normal((3, 6)))
    assert objective.latest is not None
    assert objective.latest.lengths.tolist() == [50, 50, 50]
    assert objective.latest.positions.shape == (3, 51, 2)
    assert np.isnan(objective.latest.success).all()  # it does not tell
    # by hand, without the objective
    seed = int(objective.latest.seeds[0])
    env = gymnasium.make("Reacher-v5")
    env.reset(seed=seed)
    data = env.unwrapped.data  # type: ignore[attr-defined]
    plan = objective.promp.plan(
        np.random.default_rng(1).standard_normal((3, 6))[0], data.qpos[:2], steps=50, dt=0.02
    )
    total = 0.0
    for t in range(50):
        error, rate = plan.position[t] - data.qpos[:2], plan.velocity[t] - data.qvel[:2]
        action = np.clip(error + 0.1 * rate, -1, 1).astype(np.float32)
        total += float(env.step(action)[1])
    assert y[0] == pytest.approx(-total, rel=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    control = PDController(1.0, 0.1)
    with pytest.raises(TypeError, match=r"wrap it in MujocoJointSpace"):
        EpisodicObjective("CartPole-v1", ProMP(joints=1, bases=2, duration=1.0), control)
    with pytest.raises(ValueError, match="primitive has 4 joints, the environment 5"):
        EpisodicObjective(str(NOISY.env), ProMP(joints=4, bases=2, duration=2.0), control)
    with pytest.raises(ValueError, match="no joint elbow; it has joint0, joint1"):
        MujocoJointSpace(gymnasium.make("Reacher-v5"), ["elbow"])


def test_without_gymnasium_the_message_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None; sys.modules['mujoco'] = None\n"
        "import casmore, casmore.experiments.config.check\n"
        "from casmore.problems.episodic import TASKS\n"
        "try: TASKS['casmore/HoleReaching-v0'].objective()\n"
        "except ImportError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs Gymnasium: pip install 'casmore[robot]'" in ran.stdout
