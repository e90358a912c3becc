"""lq-CMA-ES behind the bridge: pycma's own run, evaluation by evaluation."""

import pickle

import cma
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge
from casmore.solvers.lq_cma import make

Array = NDArray[np.float64]


def rosenbrock(x: Array) -> float:
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def drive(solver: Bridge, evaluations: int) -> Array:
    asked = [np.empty((0, 3))]
    while not solver.stop() and sum(map(len, asked)) < evaluations:
        X = solver.ask()
        solver.tell(X, np.array([rosenbrock(x) for x in X]))
        asked.append(X)
    return np.concatenate(asked)


def test_it_runs_as_pycma_runs_it() -> None:
    stream, seen = np.random.default_rng(5), []

    def f(x: Array) -> float:
        seen.append(np.array(x))
        return rosenbrock(np.asarray(x))

    cma.fmin_lq_surr2(
        f,
        np.zeros(3),
        0.5,
        {
            "verbose": -9,
            "verb_log": 0,
            "seed": np.nan,
            "randn": lambda *shape: stream.standard_normal(shape),
            "maxfevals": 150,
        },
    )
    solver = make(np.zeros(3), 0.5, seed=5)
    assert np.array_equal(drive(solver, len(seen)), np.array(seen))
    assert solver.population_size == 7


def test_it_needs_few_evaluations_and_names_the_target() -> None:
    solver = make(np.zeros(3), 0.5, seed=1, target=1e-8)
    drive(solver, 10_000)
    assert StopReason.TARGET in solver.stop()
    assert solver.evaluations < 300  # CMA-ES takes more than 700


def test_pickled_it_goes_on() -> None:
    whole, part = make(np.zeros(3), 0.5, seed=1), make(np.zeros(3), 0.5, seed=1)
    reference = drive(whole, 60)
    before = drive(part, 25)
    after = drive(pickle.loads(pickle.dumps(part)), 35)
    assert np.array_equal(np.concatenate([before, after]), reference)


def test_a_wrong_option_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no_such_option"):
        make(np.zeros(3), 0.5, no_such_option=1)
