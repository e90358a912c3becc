"""Weights of samples: their closed forms, at both ends of double precision."""

import numpy as np
import pytest

from casmore.algorithms.sample_weights import gaps_to_best, outlier_weights, rank_weights


def test_rank_weights_fall_linearly_and_have_mean_1() -> None:
    rewards = np.array([3.0, -1.0, 10.0, 4.0, -2.0])
    # 20, 15.25, 10.5, 5.75 and 1 in units of their mean
    assert rank_weights(rewards, 20.0) * 10.5 == pytest.approx([10.5, 5.75, 20, 15.25, 1])
    assert rank_weights(rewards, 1.0).tolist() == [1] * 5


def test_gaps_are_in_units_of_their_median() -> None:
    assert gaps_to_best(np.array([7.0, 5.0, 1.0])).tolist() == [0, 1, 3]
    # more than half are the best
    assert gaps_to_best(np.array([7.0, 7.0, 7.0, 5.0, 3.0])).tolist() == [0, 0, 0, 0.5, 1]


def test_gaps_keep_the_digits_of_the_best() -> None:
    rewards = -np.array([0.0, 1e-10, 2e-10, 1e10, 2e-10])
    assert gaps_to_best(rewards)[:3].tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("size", [1e-320, 1e-150, 1e150, 1.7e308])
def test_gaps_of_any_size(size: float) -> None:
    gaps = gaps_to_best(np.array([-1.0, 1.0, 0.0]) * size)
    assert gaps == pytest.approx([2, 0, 1], rel=1e-3)  # a denormal has few digits
    far = gaps_to_best(np.array([-1.7e308, 0.0, -1e-300, -2e-300, -3e-300]))
    assert np.isfinite(far).all()
    assert np.isfinite(far**2).all()


def test_outliers_count_as_in_cauchys_regression() -> None:
    weights = outlier_weights(np.array([0.0, 0.5, 1.0, 1e100]), 0.5)
    assert weights == pytest.approx([1, 1 / 2, 1 / 5, 0])
