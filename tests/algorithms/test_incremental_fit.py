"""The incremental fit against the direct one."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import rosen

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.incremental_fit import IncrementalFit
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.surrogate_search import FitMethod
from casmore.algorithms.targets import robust

Array = NDArray[np.float64]


def rosenbrock(X: Array) -> Array:
    values: Array = rosen(X.T)
    return values


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 6, X.shape[1])
    return values


def disagreement(ours: Model, theirs: Model, Z: Array) -> float:
    """Largest difference of predicted values, relative to their spread."""
    expected = theirs(Z)
    return float(np.abs(ours(Z) - expected).max() / expected.std())


@pytest.mark.parametrize("f", [rosenbrock, ellipsoid])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_it_agrees_with_the_direct_fit_all_along_a_run(n: int, f: Callable[[Array], Array]) -> None:
    solver = CasMore(np.full(n, 3.0), 1.0, seed=n, fit_method="incremental")
    direct = DirectFit(n, solver.queue.capacity, solver.parameters.ridge)
    worst = 0.0
    for _ in range(40 * n):
        if solver.stop():
            break
        X = solver.ask()
        before = solver.distribution
        solver.tell(X, f(X))
        if solver.complexity is Complexity.FULL and solver.model is not None:
            targets = robust(-solver.queue.values)
            expected = direct.fit(solver.queue, targets, Complexity.FULL, before)
            for points in (X, solver.queue.points):
                worst = max(worst, disagreement(solver.model, expected, before.whiten(points)))
    assert worst < 1e-6
    assert isinstance(solver.fit, IncrementalFit)
    assert solver.fit.fits > 50
    assert solver.fit.fallbacks <= 0.01 * solver.fit.fits
    assert solver.fit.renewals < 0.3 * solver.fit.fits


def test_any_sizes_of_batches() -> None:
    rng = np.random.default_rng(1)
    n, capacity = 4, 50
    queue = SampleQueue(n, capacity)
    distribution = SearchDistribution(np.zeros(n), np.eye(n))
    ours, theirs = IncrementalFit(n, capacity, 1e-10), DirectFit(n, capacity, 1e-10)
    for k in (20, 3, 1, 7, 30, 2, 2, 49, 1, 50, 5, 120, 4, 4, 13, 0, 8):
        X = rng.standard_normal((k, n)) * rng.uniform(0.5, 2)
        queue.add(X, rosenbrock(X))
        y = robust(-queue.values)
        expected = theirs.fit(queue, y, Complexity.FULL, distribution)
        model = ours.fit(queue, y, Complexity.FULL, distribution)
        assert disagreement(model, expected, queue.points) < 1e-6
    assert ours.fallbacks == 0
    assert ours.renewals < ours.fits


def test_the_runs_are_the_same() -> None:
    runs = []
    for method in (FitMethod.DIRECT, FitMethod.INCREMENTAL):
        solver = CasMore(np.full(10, 2.0), 1.0, seed=1, target=1e-8, fit_method=method)
        while not solver.stop():
            X = solver.ask()
            solver.tell(X, ellipsoid(X))
        runs.append(solver)
    direct, incremental = runs
    assert incremental.evaluations == pytest.approx(direct.evaluations, abs=20)
    assert incremental.distribution.entropy == pytest.approx(direct.distribution.entropy, abs=1)


@pytest.mark.parametrize("error", [1e-4, 0.3, np.nan])
def test_an_inverse_gone_bad_is_noticed_and_made_anew(error: float) -> None:
    rng = np.random.default_rng(2)
    n, capacity = 6, 70
    queue = SampleQueue(n, capacity)
    distribution = SearchDistribution(np.zeros(n), np.eye(n))
    ours, theirs = IncrementalFit(n, capacity, 1e-10), DirectFit(n, capacity, 1e-10)
    worst = 0.0
    for i in range(40):
        X = rng.standard_normal((6, n))
        queue.add(X, rosenbrock(X))
        if len(queue) < capacity:
            continue
        if i == 20:
            state = ours._state
            assert state is not None
            state._inverse *= 1 + error * rng.standard_normal(state._inverse.shape)
        y = robust(-queue.values)
        model = ours.fit(queue, y, Complexity.FULL, distribution)
        if i >= 25:  # the next check comes within five fits
            expected = theirs.fit(queue, y, Complexity.FULL, distribution)
            worst = max(worst, disagreement(model, expected, queue.points))
    assert ours.fallbacks == 1
    assert worst < 1e-6


def test_samples_that_do_not_span_the_space_are_left_to_the_direct_fit() -> None:
    n = 3
    queue = SampleQueue(n, 30)
    X = np.random.default_rng(0).standard_normal((30, 1)) * np.ones(n)
    queue.add(X, X[:, 0])
    distribution = SearchDistribution(np.zeros(n), np.eye(n))
    for _ in range(3):
        model = IncrementalFit(n, 30, 1e-10).fit(queue, X[:, 0], Complexity.FULL, distribution)
        assert model(X) == pytest.approx(X[:, 0], abs=1e-4)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_scale_does_not_matter(scale: float) -> None:
    finals = []
    for size in (1.0, scale):
        solver = CasMore(np.full(5, 2 * size), size, seed=1, target=1e-8, fit_method="incremental")
        while not solver.stop():
            X = solver.ask()
            solver.tell(X, ellipsoid(X / size))
        finals.append(solver.evaluations)
    assert finals[1] == pytest.approx(finals[0], rel=0.05)


def test_a_pickled_run_goes_on_bit_for_bit() -> None:
    whole = CasMore(np.full(12, 2.0), 1.0, seed=1, fit_method="incremental")
    part = CasMore(np.full(12, 2.0), 1.0, seed=1, fit_method="incremental")
    for i in range(60):
        if i == 33:
            part = pickle.loads(pickle.dumps(part))
        for solver in (whole, part):
            X = solver.ask()
            solver.tell(X, ellipsoid(X))
    assert (whole.mean == part.mean).all()
    assert (whole.distribution.factor == part.distribution.factor).all()


def test_it_follows_a_queue_of_changing_capacity() -> None:
    rng = np.random.default_rng(6)
    n = 3
    queue, fit = SampleQueue(n, 30), IncrementalFit(n, 30, 1e-10)
    distribution = SearchDistribution.isotropic(np.zeros(n), 1.0)
    for capacity in (30, 30, 45, 45, 45, 25, 25, 60, 60, 60):
        queue.resize(capacity)
        X = rng.standard_normal((20, n))
        queue.add(X, rosenbrock(X))
        y = robust(-queue.values)
        ours = fit.fit(queue, y, Complexity.FULL, distribution)
        theirs = DirectFit(n, capacity, 1e-10).fit(queue, y, Complexity.FULL, distribution)
        assert disagreement(ours, theirs, rng.standard_normal((50, n))) < 1e-7
    assert fit.renewals < fit.fits


def test_targets_too_small_for_their_squares_are_left_to_the_direct_fit() -> None:
    """In 10-D the incremental fit is the default; the targets are not normalized."""

    def run(scale: float) -> CasMore:
        solver = CasMore([3.0] * 10, 1.0, seed=1, target_normalization="none")
        for _ in range(100):
            X = solver.ask()
            solver.tell(X, scale * (X**2).sum(axis=1))
        return solver

    tiny, unit = run(1e-200), run(1.0)
    assert tiny.best_y < 1e-203
    assert unit.best_y < 1e-3
