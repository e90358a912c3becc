"""The path against sums written out by hand."""

import math

import numpy as np
import pytest

from casmore.algorithms.evolution_path import EvolutionPath


def test_path_and_desired_length_as_printed_in_the_paper() -> None:
    c, epsilon, theta = 0.2, 0.5, 3 * math.pi / 8
    path = EvolutionPath(2, c, epsilon)
    steps = np.random.default_rng(0).standard_normal((10, 2))
    p, desired = np.zeros(2), 0.0
    for step in steps:
        step = step / np.linalg.norm(step) * math.sqrt(2 * epsilon)
        path.update(step)
        p = (1 - c) * p + math.sqrt(c * (2 - c) / (2 * epsilon)) * step
        a, b = (1 - c) * desired, math.sqrt(c * (2 - c))
        desired = math.sqrt(a**2 + b**2 + 2 * a * b * math.cos(theta))
        assert path.path == pytest.approx(p)
        assert path.desired_length == pytest.approx(desired)
        expected = 1 - np.linalg.norm(p) / desired
        assert path.entropy_decrease() == pytest.approx(float(np.clip(expected, -1, 1)))


def test_steps_at_the_desired_angle_keep_the_entropy() -> None:
    """Each step at 3/8 pi to the path so far: the path has the desired length."""
    path = EvolutionPath(2, 0.3, 0.5)
    for _ in range(50):
        angle = math.atan2(path.path[1], path.path[0]) + 3 * math.pi / 8
        path.update(np.array([math.cos(angle), math.sin(angle)]))
        assert path.entropy_decrease() == pytest.approx(0, abs=1e-12)


def test_the_change_is_clipped_and_has_the_right_sign() -> None:
    straight, dithering = EvolutionPath(1, 0.1, 0.5), EvolutionPath(1, 0.1, 0.5)
    for i in range(60):
        straight.update(np.array([1.0]))
        dithering.update(np.array([(-1.0) ** i]))
    assert straight.entropy_decrease() == -1.0  # the entropy grows
    assert 0.5 < dithering.entropy_decrease() <= 1.0


@pytest.mark.parametrize("gain", [0.0, 0.5, 1.0, 3.0])
def test_the_gain_is_the_change_that_a_path_of_no_length_asks_for(gain: float) -> None:
    dithering, straight = EvolutionPath(2, 0.3, 0.5, gain), EvolutionPath(2, 0.3, 0.5, gain)
    for _ in range(30):
        dithering.update(np.array([1.0, 0.0]))
        straight.update(np.array([3.0, 0.0]))
    dithering.path[:] = 0
    assert dithering.entropy_decrease() == gain
    assert straight.entropy_decrease() == -gain  # more than twice the desired length


def test_no_step_no_change() -> None:
    assert EvolutionPath(3, 0.1, 0.5).entropy_decrease() == 0.0
