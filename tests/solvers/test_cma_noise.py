"""pycma's noise handling behind the bridge: pycma's own run, evaluation by evaluation."""

import pickle

import cma
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.solvers.bridge import Bridge
from casmore.solvers.cma_noise import make

Array = NDArray[np.float64]


class NoisySphere:
    """A sphere with additive noise, the same for the same sequence of calls."""

    def __init__(self, noise: float = 0.1) -> None:
        self.noise = noise
        self.rng = np.random.default_rng(3)
        self.points: list[Array] = []

    def __call__(self, x: Array) -> float:
        self.points.append(np.array(x))
        return float(np.asarray(x) @ x) + self.noise * self.rng.standard_normal()


def drive(solver: Bridge, evaluations: int, f: NoisySphere) -> Array:
    start = len(f.points)
    while not solver.stop() and len(f.points) < start + evaluations:
        X = solver.ask()
        solver.tell(X, np.array([f(x) for x in X]))
    return np.array(f.points[start:])


def test_it_runs_as_pycma_runs_it() -> None:
    stream, f = np.random.default_rng(5).spawn(1)[0], NoisySphere()
    options = {
        "verbose": -9,
        "verb_log": 0,
        "seed": np.nan,
        "randn": lambda *shape: stream.standard_normal(shape),
        "popsize": 20,  # pycma evaluates 2 + 20 / 20 points again, without rounding at random
        "maxfevals": 1500,
        "eval_final_mean": False,
    }
    cma.fmin2(f, np.ones(3), 0.5, options, noise_handler=cma.NoiseHandler(3, [1, 1, 30]))
    ours = NoisySphere()
    solver = make(np.ones(3), 0.5, seed=5, population_size=20)
    drive(solver, len(f.points), ours)
    assert len(f.points) >= 1500
    assert np.array_equal(ours.points, f.points)


def test_it_evaluates_points_more_often_where_there_is_noise() -> None:
    most = []
    for noise in (0.0, 0.1):
        solver, f = make(np.full(3, 1e-3), 1e-3, seed=1), NoisySphere(noise)
        X = drive(solver, 4000, f)
        most.append(np.unique(X, axis=0, return_counts=True)[1].max())
    assert most[0] <= 2
    assert 10 < most[1] <= 30


def test_pickled_it_goes_on() -> None:
    whole = drive(make(np.ones(3), 0.5, seed=1), 60, NoisySphere())
    part, f = make(np.ones(3), 0.5, seed=1), NoisySphere()
    drive(part, 25, f)
    drive(pickle.loads(pickle.dumps(part)), 35, f)
    assert np.array_equal(f.points, whole)


@pytest.mark.parametrize("wrong", [0, 2.5, True])
def test_a_wrong_number_of_evaluations_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"most_evaluations = .* must be an integer of at least 1"):
        make(np.zeros(3), 0.5, most_evaluations=wrong)  # type: ignore[arg-type]


def test_a_wrong_option_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no_such_option"):
        make(np.zeros(3), 0.5, no_such_option=1)
