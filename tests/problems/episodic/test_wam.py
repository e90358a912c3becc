"""The WAM arm and the ball against Barrett's own parameters, conserved energy, and ballistics."""

import copy
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.problems.episodic import beer_pong, table_tennis

Array = NDArray[np.float64]

# Denavit-Hartenberg parameters that Barrett publishes for the arm with seven joints: a, alpha, d;
# the last d is that of a tool
BARRETT = [
    (0, -np.pi / 2, 0),
    (0, np.pi / 2, 0),
    (0.045, -np.pi / 2, 0.55),
    (-0.045, np.pi / 2, 0),
    (0, -np.pi / 2, 0.3),
    (0, np.pi / 2, 0),
]


def transform(q: float, a: float, alpha: float, d: float) -> Array:
    c, s, ca, sa = np.cos(q), np.sin(q), np.cos(alpha), np.sin(alpha)
    return np.array(
        [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    )


def tool(q: Array, base: Array, length: float) -> Array:
    """Return where a tool is, by the product of the joints' transforms."""
    T = base
    for angle, (a, alpha, d) in zip(q, [*BARRETT, (0, 0, length)], strict=True):
        T = T @ transform(angle, a, alpha, d)
    position: Array = T[:3, 3]
    return position


def test_the_hanging_arm_is_where_barretts_parameters_say() -> None:
    model, data = fresh(table_tennis.model())
    base = np.diag([-1.0, 1.0, -1.0, 1.0])  # upside down
    base[:3, 3] = 2.1, 0, 2.0 - 0.346
    for q in random_postures(model):
        data.qpos[:7] = q
        mujoco.mj_kinematics(model, data)
        assert data.site("bat").xpos == pytest.approx(tool(q, base, 0.26), abs=1e-6)
    data.qpos[:7] = table_tennis.START
    mujoco.mj_kinematics(model, data)
    assert data.site("bat").xpos == pytest.approx([1.50, 0, 1.02], abs=1e-3)


def test_the_throwing_arm_is_where_barretts_parameters_say() -> None:
    model, data = fresh(beer_pong.model())
    base = np.array([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0.6 + 0.344], [0, 0, 0, 1.0]])
    for q in random_postures(model):
        data.qpos[:7] = q
        mujoco.mj_kinematics(model, data)
        assert data.site("palm").xpos == pytest.approx(tool(q, base, 0.06 + 0.035), abs=1e-6)


@pytest.mark.parametrize("task", [table_tennis, beer_pong])
def test_energy_is_kept_without_damping(task: Any) -> None:
    model, data = fresh(task.model())
    model.dof_damping[:] = model.dof_frictionloss[:] = 0
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.opt.timestep = 0.0005
    data.qpos[:7] = task.START
    data.qvel[:] = np.random.default_rng(1).uniform(-1, 1, model.nv)
    energies = []
    for _ in range(1000):
        mujoco.mj_step(model, data)
        energies.append(data.energy.copy())
    kinetic, total = np.array(energies)[:, 1], np.sum(energies, axis=1)
    assert np.ptp(kinetic) > 1  # J: the arm falls
    assert np.ptp(total) < 1e-5 * np.ptp(kinetic)


@pytest.mark.parametrize("task", [table_tennis, beer_pong])
def test_an_action_of_zero_holds_the_arm(task: Any) -> None:
    batch_type = table_tennis.TableTennisBatch if task is table_tennis else beer_pong.BeerPongBatch
    episodes = batch_type(task.model(), 1, 1)
    episodes.begin([np.random.default_rng(1)])
    for _ in range(100):
        episodes.step(np.zeros((1, 7)))
    assert episodes.q[0] == pytest.approx(task.START, abs=1e-9)
    assert abs(episodes._bias[0, :7]).max() > 1  # N m: gravity does pull


def test_a_ball_flies_and_bounces() -> None:
    model, data = fresh(table_tennis.model())
    data.qpos[:7] = table_tennis.START  # out of the way
    start, velocity = np.array([-0.2, -0.8, 1.85]), np.array([2.5, 2.0, 0.5])
    data.qpos[7:], data.qvel[7:] = start, velocity
    path = []
    for _ in range(351):
        mujoco.mj_step(model, data)
        path.append(np.concatenate([data.qpos[7:], data.qvel[7:]]))
    positions, velocities = np.split(np.array(path), 2, axis=1)
    times = table_tennis.DT * np.arange(1, 352)
    lowest = int(positions[:, 2].argmin())
    assert times[lowest] == pytest.approx(0.52, abs=0.004)
    assert positions[lowest, 0] == pytest.approx(1.1, abs=0.01)
    before = slice(0, lowest - 10)
    parabola = start + np.outer(times, velocity) - np.outer(times**2 / 2, [0, 0, 9.81])
    assert positions[before] == pytest.approx(parabola[before], abs=9.81 * 0.5 * 0.002)
    # restitution: speeds at the height at which the ball touches the table, by conservation
    touching = 0.77 + 0.025
    fall, rise = (
        np.sqrt(velocities[t, 2] ** 2 + 2 * 9.81 * (positions[t, 2] - touching))
        for t in (lowest - 10, lowest + 10)
    )
    assert rise / fall == pytest.approx(0.93, abs=0.02)
    assert positions[349] == pytest.approx([1.49, 0.55, 1.40], abs=0.01)


@pytest.mark.parametrize(
    ("geom", "xy", "damping"), [("table", (0.2, -1.5), 10), ("cup_bottom", beer_pong.CUP, 100)]
)
def test_a_ball_bounces_off_the_table_and_hardly_in_the_cup(
    geom: str, xy: tuple[float, float], damping: float
) -> None:
    model, data = fresh(beer_pong.model())
    model.opt.timestep = 2e-4
    top = model.geom(geom).pos[2] + model.geom(geom).size[1 if geom == "cup_bottom" else 2]
    data.qpos[:7] = beer_pong.START
    data.qpos[7:] = *xy, top + 0.025 + 0.3
    heights, velocities = [], []
    for _ in range(2000):
        mujoco.mj_step(model, data)
        heights.append(data.qpos[9])
        velocities.append(data.qvel[9])
    lowest = int(np.argmin(heights))
    ratio = -max(velocities[lowest:]) / min(velocities[:lowest])
    # of a spring with a damper that can't pull (Schwager and Poeschel, 2007); MuJoCo divides
    # stiffness and damping by the square and the first power of the impedance, here 0.95
    zeta = damping / 0.95 / 2 / np.sqrt(10000 / 0.95**2)
    root = np.sqrt(1 - zeta**2)
    expected = np.exp(-zeta / root * np.arctan2(2 * zeta * root, 2 * zeta**2 - 1))
    assert ratio == pytest.approx(expected, abs=0.02)


def fresh(model: Any) -> tuple[Any, Any]:
    """Return a copy of a model, to be changed at will, and its data."""
    model = copy.copy(model)
    return model, mujoco.MjData(model)


def random_postures(model: Any) -> Array:
    low, high = model.jnt_range[:7].T
    return np.random.default_rng(2).uniform(low, high, (50, 7))
