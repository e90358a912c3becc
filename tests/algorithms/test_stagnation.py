"""The end of a run in noise."""

import numpy as np
import pytest

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.stagnation import Stagnation
from casmore.algorithms.stopping import StopReason


def iterations_until_the_end(values: list[float], n: int = 2, k: int = 6) -> int | None:
    stagnation = Stagnation(n)
    for i, value in enumerate(values):
        stagnation.update(np.full(k, value))
        if stagnation.found() is not None:
            return i + 1
    return None


def test_equal_values_end_a_run_once_the_windows_are_full() -> None:
    assert iterations_until_the_end([3.0] * 500) == 100
    # 20 x (5 + 100 / 12) iterations; windows of 85 would be full after 170
    assert iterations_until_the_end([3.0] * 500, n=20, k=12) == 267


def test_infinite_values_end_a_run_without_a_warning() -> None:
    assert iterations_until_the_end([np.inf] * 500) == 100


def test_a_slow_decrease_goes_on_and_ends_when_it_stops() -> None:
    decreasing = list(np.linspace(1, 0, 1000))
    assert iterations_until_the_end(decreasing) is None
    end = iterations_until_the_end([*decreasing, *[0.0] * 1000])
    assert end is not None
    # a window is a tenth of the iterations; most of the older one must be without a decrease
    assert 1000 < end <= 1000 + 2 * 0.1 * end + 2


@pytest.mark.parametrize("handling", ["none", "auto"])
def test_with_noise_handling_a_run_on_noise_alone_ends(handling: str) -> None:
    rng = np.random.default_rng(2)
    solver = CasMore(np.zeros(2), 1.0, seed=1, noise=handling)
    while not solver.stop() and solver.evaluations < 20_000:
        X = solver.ask()
        solver.tell(X, rng.standard_normal(len(X)))
    if handling == "auto":
        assert set(solver.stop()) == {StopReason.NO_PROGRESS}
    else:
        assert StopReason.NO_PROGRESS not in solver.stop()


def test_without_noise_nothing_ends_earlier() -> None:
    ended = []
    for handling in ("none", "auto"):
        solver = CasMore(np.full(3, 2.0), 1.0, seed=3, noise=handling)
        while not solver.stop():
            X = solver.ask()
            solver.tell(X, (100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2).sum(1))
        assert solver.best_y < 1e-10
        ended.append(solver.evaluations)
    assert ended[1] < 1.3 * ended[0]
