"""The planar arm against complex numbers, a closed form, and dense sampling of its links."""

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.problems.episodic import hole_physics as physics
from casmore.problems.episodic.controllers import PDController
from casmore.problems.episodic.hole_physics import Hole

Array = NDArray[np.float64]

FIRST, SECOND = np.array([(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]).T


def random_rollouts(count: int) -> Array:
    """Postures along random straight movements, half of them from above the hole, (count, 40, 5).

    Most end on the ground, in the walls of the hole or in themselves.
    """
    rng = np.random.default_rng(3)
    start = np.where(
        rng.random((count, 1)) < 0.5, physics.START, [1.61, -0.45, -0.92, -1.08, -0.73]
    )
    end = start + rng.normal(0, 1.2, (count, 5))
    down = np.array([1.3, -0.3, -0.6, -1.1, -0.87])  # into the hole
    end = np.where(rng.random((count, 1)) < 0.5, end, down + rng.normal(0, 0.05, (count, 5)))
    return (
        start[:, np.newaxis] + np.linspace(0, 1, 40)[:, np.newaxis] * (end - start)[:, np.newaxis]
    )


def test_corners_are_sums_of_unit_vectors() -> None:
    q = np.random.default_rng(1).uniform(-3, 3, (50, 5))
    x, y = physics.corners(q)
    points = np.zeros((6, 50), dtype=complex)
    for joint in range(5):
        points[joint + 1] = points[joint] + np.prod(np.exp(1j * q[:, : joint + 1]), axis=1)
    assert x + 1j * y == pytest.approx(points)


def test_a_held_target_is_approached_as_the_closed_form_says() -> None:
    """The PD law on a double integrator is a linear map: its powers, by its eigenvalues."""
    target = np.array([1.0, -0.5, 0.3, 0.0, 2.0])
    control = PDController(100.0, 10.0)
    q, qd = np.zeros(5), np.zeros(5)
    dt = physics.DT
    once = np.array([[1 - 100 * dt**2, dt - 10 * dt**2], [-100 * dt, 1 - 10 * dt]])
    values, vectors = np.linalg.eig(once)
    parts = np.linalg.solve(vectors, np.array([-1.0, 0.0]))  # of an error of -1, at rest
    for t in range(1, 201):
        q, qd = physics.step(q, qd, control(target, np.zeros(5), q, qd))
        error, rate = (vectors @ (parts * values**t)).real
        assert q == pytest.approx(target * (1 + error), abs=1e-12)
        assert qd == pytest.approx(target * rate, abs=1e-12)
    # ... which tends to the solution of the differential equation: x'' = -100 x - 10 x'
    omega, time = np.sqrt(75.0), 0.2
    error = np.exp(-5 * time) * (np.cos(omega * time) + 5 / omega * np.sin(omega * time))
    q, qd = np.zeros(5), np.zeros(5)
    for _ in range(20):
        q, qd = physics.step(q, qd, control(target, np.zeros(5), q, qd))
    assert 1 - q[0] == pytest.approx(error, abs=5 * dt)


def test_collisions_agree_with_sampled_links() -> None:
    rollouts = random_rollouts(300)
    depths = np.random.default_rng(5).uniform(0.9, 1.1, (len(rollouts), 1))
    found = Hole(0.2, depths).collides(rollouts)
    kinds = np.zeros(4)
    for q, depth, collided in zip(rollouts, depths, found, strict=True):
        first = [sampled(posture, 0.2, depth[0]) for posture in q]
        kinds += np.any(first, axis=0)
        assert collided.tolist() == [any(kind) for kind in first]
    assert (kinds >= 10).all()  # each kind of collision has been met
    assert (~found.any(axis=1)).sum() >= 10


def sampled(q: Array, width: float, depth: float) -> tuple[bool, bool, bool, bool]:
    """Whether joint limits, the ground, the hole's bottom, or another link are hit.

    Links are rows of 1000 points; two links cross if the straight lines through them meet within
    both.
    """
    tips = np.concatenate([[0], np.cumsum(np.exp(1j * np.cumsum(q)))])
    share = np.linspace(0, 1, 1000)
    along = np.diff(tips)
    z = (tips[:-1, np.newaxis] + share * along[:, np.newaxis]).ravel()
    below = z.imag < 0
    inside = np.abs(z.real - 2) < width / 2
    u, v = along[FIRST], along[SECOND]
    w = tips[:-1][SECOND] - tips[:-1][FIRST]
    lines = np.stack([[u.real, -v.real], [u.imag, -v.imag]]).transpose(2, 0, 1)
    meet = np.linalg.solve(lines, np.stack([w.real, w.imag], axis=1)[..., np.newaxis])[..., 0]
    return (
        bool((np.abs(q) > np.pi).any()),
        bool((below & ~inside).any()),
        bool((below & (z.imag < -depth)).any()),
        bool(((meet > 0) & (meet < 1)).all(axis=1).any()),
    )
