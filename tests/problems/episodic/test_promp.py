"""Movement primitives against what is known of normalized radial bases."""

import numpy as np
import pytest

from casmore.problems.episodic.promp import ProMP

PAPER = [
    ProMP(joints=5, bases=3, duration=2.0, scale=0.1),
    ProMP(joints=7, bases=2, duration=1.0, scale=0.1, offset=-0.05, bandwidth=3.5),
]


@pytest.mark.parametrize("promp", PAPER)
def test_the_velocity_is_the_derivative_of_the_position(promp: ProMP) -> None:
    times, h = np.linspace(0.1, 0.9, 17) * promp.duration, 1e-5
    ahead, behind = promp.basis(times + h)[0], promp.basis(times - h)[0]
    assert promp.basis(times)[1] == pytest.approx((ahead - behind) / (2 * h), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("promp", PAPER)
def test_neighboring_bases_have_a_ratio_that_is_exponential_in_time(promp: ProMP) -> None:
    # two Gaussians of one width: linear in the log, equal half way between their centers
    times = np.linspace(0, promp.duration, 9)
    values = promp.basis(times)[0]
    spacing = promp.duration / (promp.bases + 1)  # in seconds
    last = promp.duration + promp.offset  # the last center
    for k in range(1, promp.bases):
        between = last - (promp.bases - k - 0.5) * spacing
        expected = promp.bandwidth * (times - between) / spacing
        assert np.log(values[:, k] / values[:, k - 1]) == pytest.approx(expected)


def test_bases_are_shares_of_one_and_begin_small() -> None:
    values, _ = PAPER[0].basis(np.linspace(0, 2, 50))
    assert (values > 0).all()
    assert (values.sum(axis=1) < 1).all()
    assert values[0].sum() < 0.01 < 0.99 < values[-1].sum()


def test_weights_are_ordered_joint_by_joint_and_linear() -> None:
    promp = PAPER[0]
    start = np.arange(5.0)
    for joint in range(5):
        weights = np.zeros(15)
        weights[3 * joint + 1] = 2.0
        plan = promp.plan(weights, start, steps=200, dt=0.01)
        moved = (plan.position != start).any(axis=0)
        assert moved.tolist() == [j == joint for j in range(5)]
        twice = promp.plan(2 * weights, start, steps=200, dt=0.01)
        assert twice.position - start == pytest.approx(2 * (plan.position - start))
        assert twice.velocity == pytest.approx(2 * plan.velocity)


def test_after_the_movement_the_last_position_is_held() -> None:
    promp = PAPER[1]
    weights = np.random.default_rng(1).standard_normal((4, 14))
    plan = promp.plan(weights, np.zeros(7), steps=1000, dt=0.002)
    assert plan.position.shape == plan.velocity.shape == (4, 1000, 7)
    assert np.ptp(plan.position[:, 499:], axis=1).max() == 0
    assert (plan.velocity[:, 499] != 0).all()
    assert (plan.velocity[:, 500:] == 0).all()


def test_a_trajectory_is_the_same_alone_and_among_others() -> None:
    promp, weights = PAPER[0], np.random.default_rng(2).standard_normal((9, 15))
    together = promp.plan(weights, np.ones(5), steps=200, dt=0.01)
    for i, w in enumerate(weights):
        alone = promp.plan(w, np.ones(5), steps=200, dt=0.01)
        assert np.array_equal(alone.position, together.position[i])
        assert np.array_equal(alone.velocity, together.velocity[i])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="bases must be at least 1, not 0"):
        ProMP(joints=1, bases=0, duration=1.0)
    with pytest.raises(ValueError, match=r"duration must be positive, not -1"):
        ProMP(joints=1, bases=1, duration=-1.0)
    with pytest.raises(ValueError, match=r"must have shape \(..., 15\), not \(14,\)"):
        PAPER[0].plan(np.zeros(14), np.zeros(5), steps=9, dt=0.01)
    with pytest.raises(ValueError, match=r"start must have shape \(5,\)"):
        PAPER[0].plan(np.zeros(15), np.zeros(4), steps=9, dt=0.01)
