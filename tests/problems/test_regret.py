"""The regret of samples, against a log of every value."""

import math
from pathlib import Path
from typing import Any

import cocoex
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.problems import bbob
from casmore.problems.regret import QUANTILES, RegretRecorder
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, UniformStart


def _record(values: NDArray[np.float64], batch: int) -> dict[str, Any]:
    recorder = RegretRecorder(lambda: np.zeros(1), lambda _: math.nan)
    for begin in range(0, len(values), batch):
        recorder.add(values[begin : begin + batch])
    recorder.end()
    return recorder.document(0.0)


def _written(value: float) -> float | None:
    recorder = RegretRecorder(lambda: np.zeros(1), lambda _: value)
    recorder.add(np.zeros(1))
    recorder.end()
    written: float | None = recorder.document(0.0)["mean"][0]
    return written


def _quantile(values: NDArray[np.float64], q: float) -> float:
    """Return the smallest value that at least a share q of all does not exceed."""
    return min(float(v) for v in values if np.mean(values <= v) >= q)


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_quantiles_of_recent_values(batch: int) -> None:
    values = np.round(np.random.default_rng(1).exponential(size=731), 4)
    record = _record(values, batch)
    assert record["evaluations"][:13] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15]
    assert record["evaluations"][-3:] == [631, 708, 731]
    for count, row in zip(record["evaluations"], record["samples"], strict=True):
        recent = values[:count][-max(20, count // 10) :]
        assert row == [_quantile(recent, q) for q in QUANTILES]


def test_the_value_at_the_mean_is_of_the_iteration_in_which_the_point_lies() -> None:
    mean = np.zeros(2)
    recorder = RegretRecorder(lambda: mean, lambda x: float(x[0]))
    for _ in range(5):
        recorder.add(np.zeros(3))
        mean += 1.0  # a solver may modify the mean that it gives
    recorder.end()
    record = recorder.document(0.0)
    assert record["mean"] == [(evaluation - 1) // 3 for evaluation in record["evaluations"]]


def test_the_points_are_spaced_evenly_on_a_logarithmic_axis() -> None:
    evaluations = np.array(_record(np.zeros(100_000), 1000)["evaluations"])
    late = evaluations[evaluations >= 1000]
    assert np.diff(np.log10(late)) == pytest.approx(np.full(len(late) - 1, 0.05), abs=1e-3)
    assert late[-1] == 100_000
    assert _record(np.zeros(0), 1)["evaluations"] == []


def test_infinite_values_are_samples_like_others() -> None:
    record = _record(np.array([1.0, np.inf, 2.0, np.inf]), 4)
    assert record["samples"][-1] == [1.0, 1.0, 2.0, None, None]
    assert record["mean"] == [None] * 4


def test_a_solver_that_modifies_its_values_does_not_change_the_record() -> None:
    recorder = RegretRecorder(lambda: np.zeros(1), lambda _: 0.0)
    values = np.array([3.0, 1.0, 2.0])
    recorder.add(values)
    values -= values.min()
    values.sort()
    recorder.end()
    assert recorder.document(0.0)["samples"][0] == [3.0] * len(QUANTILES)


def test_numbers_have_six_digits_as_if_they_were_formatted() -> None:
    rng = np.random.default_rng(2)
    exponents = np.arange(-30.0, 31.0)
    values = np.concatenate(
        [
            rng.uniform(-10, 10, 5000) * 10.0 ** rng.integers(-30, 31, 5000),
            10.0**exponents,
            np.nextafter(10.0**exponents, 0.0),
            9.999995 * 10.0**exponents,  # halfway between two numbers of six digits
            rng.integers(100_000, 1_000_000, 2000) / 10.0 + 0.05,
            rng.integers(100_000, 1_000_000, 2000) * 10.0 + 5.0,
            rng.integers(100_000, 1_000_000, 2000) * 10.0 ** rng.integers(-20, 20, 2000),
            [0.0, -0.0, 5e-324, 1.7e308],
        ]
    )
    # the value at the mean after one sample is written as it is
    for value in values.tolist():
        assert repr(_written(value)) == repr(float(f"{value:.6g}"))
    assert _written(math.inf) is None
    assert _written(math.nan) is None


class _Logging(bbob.ObservedProblem):
    values: list[float]

    def evaluate(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        y, noise_free = super().evaluate(X)
        self.values.extend(noise_free.tolist())
        return y, noise_free


def test_a_trial_on_bbob(tmp_path: Path) -> None:
    means: list[NDArray[np.float64]] = []
    with _Logging(
        8, 3, 2, outer_folder=tmp_path, algorithm_name="TEST", algorithm_info="regret"
    ) as problem:
        problem.values = []
        solver = Restarting(registry.factory("cas-more"), UniformStart(3), 2.0, seed=1)

        def mean() -> NDArray[np.float64]:
            means.append(solver.mean)
            return solver.mean

        recorder = RegretRecorder(mean, problem.value_at)
        bbob.minimize(solver, problem, 600, recorder)
        assert problem.evaluations == len(problem.values)  # none at the mean

    suite = cocoex.Suite("bbob", "instances:2", "dimensions:3 function_indices:8")
    plain = suite.get_problem(0)
    optimal = min(problem.values) - 3.0
    record = recorder.document(optimal)
    assert len(record["evaluations"]) > 40
    assert record["evaluations"][-1] == len(problem.values)
    for count, row in zip(record["evaluations"], record["samples"], strict=True):
        recent = np.array(problem.values[:count][-max(20, count // 10) :])
        expected = [_quantile(recent, q) - optimal for q in QUANTILES]
        assert row == pytest.approx(expected, rel=1e-5)
    # one evaluation at the mean for each iteration in which a point lies
    at_means = {float(f"{plain(mean) - optimal:.6g}") for mean in means}
    assert set(record["mean"]) == at_means
    assert record["mean"][0] == float(f"{plain(means[0]) - optimal:.6g}")
    plain.free()
