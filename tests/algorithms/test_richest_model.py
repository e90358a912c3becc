"""The richest model of a run: chosen, affordable, and in control of the entropy."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms import defaults
from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.gaussian import DiagonalDistribution, SearchDistribution
from casmore.algorithms.incremental_fit import IncrementalFit
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.models import Complexity, DiagonalModel, QuadraticModel
from casmore.algorithms.more import More
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.surrogate import DirectFit

Array = NDArray[np.float64]


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 6, X.shape[1])
    return values


def run(solver: Any, budget: int) -> Any:
    while not solver.stop() and solver.evaluations < budget:
        X = solver.ask()
        solver.tell(X, ellipsoid(X))
    return solver


@pytest.mark.parametrize(
    ("settings", "richest"),
    [
        ({}, Complexity.FULL),
        ({"queue_size": 101}, Complexity.FULL),  # 1.1 * 91 = 100.1
        ({"queue_size": 100}, Complexity.DIAGONAL),
        ({"queue_size": 28}, Complexity.DIAGONAL),  # 1.1 * 25 = 27.5
        ({"queue_size": 27}, Complexity.LINEAR),
        ({"richest_model": "linear"}, Complexity.LINEAR),
        ({"samples_per_parameter": 2.0, "queue_size": 137}, Complexity.DIAGONAL),
        ({"samples_per_parameter": 2.0}, Complexity.FULL),
    ],
)
def test_it_is_by_default_the_richest_that_the_queue_can_hold(
    settings: dict[str, Any], richest: Complexity
) -> None:
    p = CasMoreParameters.default(12, **settings)
    assert p.richest_model is richest
    assert p.queue_size >= p.samples_per_parameter * richest.parameters(12)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"queue_size": 100, "richest_model": "full"},
            "at least 101, so many a full model",
        ),
        ({"queue_size": 27, "richest_model": "diagonal"}, "at least 28"),
        ({"queue_size": 13}, "at least 15, so many a linear model"),
        ({"richest_model": "cubic"}, "'linear' or 'diagonal' or 'full'"),
    ],
)
def test_a_queue_too_small_for_what_is_asked_for_is_refused(
    settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        CasMoreParameters.default(12, population_size=5, **settings)


@pytest.mark.parametrize(
    ("queue_size", "budget"), [(137, 2500), (100, 2500), (27, 25_000)], ids=str
)
def test_a_queue_of_any_size_ends_up_with_a_controlled_entropy(
    queue_size: int, budget: int
) -> None:
    """With a queue too small for the full model, the step size was never adapted."""
    f_scale = np.logspace(0, 6 if queue_size >= 100 else 2, 12)
    solver = CasMore(np.full(12, 2.0), 1.0, seed=1, target=1e-8, queue_size=queue_size)
    while not solver.stop() and solver.evaluations < budget:
        X = solver.ask()
        solver.tell(X, X**2 @ f_scale)
    assert StopReason.TARGET in solver.stop()


@pytest.mark.parametrize("make", [CasMore, LeanCasMore, More])
def test_in_high_dimensions_the_default_is_diagonal_and_needs_little_memory(make: Any) -> None:
    tracemalloc.start()
    solver = make(np.ones(1000), 1.0, seed=1)
    X = solver.ask()
    solver.tell(X, ellipsoid(X))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solver.parameters.richest_model is Complexity.DIAGONAL
    # features of the queue, at most twice; a full model's normal matrix would be 2 * 10^6 MB
    assert peak < 2.5 * 8 * 2001 * solver.parameters.queue_size


def test_where_the_full_model_ends_to_be_the_default() -> None:
    assert defaults.richest_model(84) is Complexity.FULL
    assert defaults.richest_model(85) is Complexity.DIAGONAL
    assert CasMoreParameters.default(150, richest_model="full").queue_size > 17_000


def test_a_separable_function_in_high_dimensions() -> None:
    """pycma's CMA_diagonal takes 27 400 evaluations in 100-D (``benchmarks/large_dimensions``)."""
    solver = CasMore(np.full(100, 3.0), 1.0, seed=1, target=1e-8, richest_model="diagonal")
    run(solver, 27_400)
    assert StopReason.TARGET in solver.stop()


@pytest.mark.parametrize("make", [LeanCasMore, More])
def test_the_other_algorithms_run_with_a_diagonal_model(make: Any) -> None:
    solver = run(make(np.ones(10), 1.0, seed=1, target=1e-8, richest_model="diagonal"), 40_000)
    assert StopReason.TARGET in solver.stop()
    assert isinstance(solver.distribution, DiagonalDistribution)


def test_a_bayesian_model_is_full() -> None:
    with pytest.raises(ValueError, match="richest_model"):
        More(np.zeros(3), 1.0, model="bayesian", richest_model="diagonal")


def random_diagonal(n: int, rng: np.random.Generator) -> tuple[DiagonalModel, QuadraticModel]:
    d, a = rng.standard_normal(n), rng.standard_normal(n)
    return DiagonalModel(d, a, 0.3), QuadraticModel(np.diag(d), a, 0.3)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_diagonal_model_is_the_full_one_with_a_diagonal_matrix(n: int) -> None:
    rng = np.random.default_rng(n)
    lean, full = random_diagonal(n, rng)
    X = rng.standard_normal((5, n))
    assert lean(X) == pytest.approx(full(X))
    scales, offset = rng.uniform(0.5, 2, n), rng.standard_normal(n)
    ours, theirs = lean.substitute(scales, offset), full.substitute(np.diag(scales), offset)
    assert ours.A == pytest.approx(theirs.A)
    assert ours(X) == pytest.approx(theirs(X))
    assert ours.basis.d == pytest.approx(theirs.basis.d)
    z = rng.standard_normal(n)
    assert ours.basis.back(ours.basis.along(z)) == pytest.approx(z)
    d = ours.basis.d
    assert np.array([ours.basis.back(d * ours.basis.along(e)) for e in np.eye(n)]) == pytest.approx(
        ours.A
    )


@pytest.mark.parametrize("complexity", [Complexity.LINEAR, Complexity.DIAGONAL])
def test_without_matrices_the_fit_is_the_same(complexity: Complexity) -> None:
    n, rng = 4, np.random.default_rng(1)
    distribution = DiagonalDistribution(rng.standard_normal(n), np.logspace(-2, 2, n))
    X = distribution.sample(rng, 30)
    y = rng.standard_normal(30)
    queue = SampleQueue(n, 30)
    queue.add(X, y)
    full = DirectFit(n, 30, 1e-10)
    lean = DirectFit(n, 30, 1e-10, richest=Complexity.DIAGONAL)
    in_full = SearchDistribution(distribution.mean, np.diag(distribution.factor))
    as_matrix = full.fit(queue, y, complexity, in_full)
    ours = lean.fit(queue, y, complexity, distribution)
    Z = rng.standard_normal((5, n))
    assert ours(Z) == pytest.approx(as_matrix(Z))


def test_corrected_or_from_scratch_the_diagonal_model_is_the_same() -> None:
    n = 40
    solver = CasMore(np.full(n, 3.0), 1.0, seed=1, richest_model="diagonal")
    assert isinstance(solver.fit, IncrementalFit)
    direct = DirectFit(n, solver.queue.capacity, 1e-10, richest=Complexity.DIAGONAL)
    worst = 0.0
    while solver.evaluations < 3000:
        X = solver.ask()
        before = solver.distribution
        solver.tell(X, ellipsoid(X))
        if solver.complexity is Complexity.DIAGONAL and solver.model is not None:
            targets = solver._targets()
            assert targets is not None
            expected = direct.fit(solver.queue, targets, Complexity.DIAGONAL, before)
            Z = before.whiten(solver.queue.points)
            difference = solver.model(Z) - expected(Z)
            worst = max(worst, float(np.abs(difference).max() / expected(Z).std()))
    assert worst < 1e-6
    assert solver.fit.fallbacks <= 0.01 * solver.fit.fits


def test_the_diagonal_distribution_is_the_full_one_with_a_diagonal_factor() -> None:
    mean, s = np.arange(3.0), np.array([1e-100, 2.0, 1e100])
    lean, full = DiagonalDistribution(mean, s), SearchDistribution(mean, np.diag(s))
    assert lean.entropy == pytest.approx(full.entropy)
    assert lean.axis_lengths() == pytest.approx(full.axis_lengths())
    assert lean.deviations() == pytest.approx(full.deviations())
    a, b = (one.sample(np.random.default_rng(1), 4) for one in (lean, full))
    assert a == pytest.approx(b)
    assert lean.whiten(a) == pytest.approx(full.whiten(b))
    with pytest.raises(np.linalg.LinAlgError, match="double precision"):
        DiagonalDistribution(mean, np.array([1.0, np.inf, 1.0]))
