"""The weighted fit against LAPACK's least squares, at both ends of double precision."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms import weighted_fit
from casmore.algorithms.gaussian import DiagonalDistribution, SearchDistribution
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.models import Complexity
from casmore.algorithms.noise import Reliability
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.weighted_fit import WeightedFit

Array = NDArray[np.float64]


def queue_of(X: Array) -> SampleQueue:
    queue = SampleQueue(X.shape[1], len(X))
    queue.add(X, np.zeros(len(X)))
    return queue


def distribution_of(n: int, condition: float, sigma: float, seed: int) -> SearchDistribution:
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    scales = np.logspace(0, -0.5 * np.log10(condition), n)
    return SearchDistribution(sigma * rng.standard_normal(n), sigma * (U * scales) @ V)


def monomials(Z: Array) -> Array:
    rows, columns = np.triu_indices(Z.shape[1])
    return np.hstack([np.ones((len(Z), 1)), Z, Z[:, rows] * Z[:, columns]])


def least_squares(Z: Array, y: Array, weights: Array, points: Array) -> Array:
    """Predict at the points, shape (k, n), by a singular value decomposition of all samples."""
    roots = np.sqrt(weights)
    solution = np.linalg.lstsq(monomials(Z) * roots[:, np.newaxis], y * roots, rcond=None)[0]
    predicted: Array = monomials(points) @ solution
    return predicted


@pytest.mark.parametrize("sigma", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize(("n", "condition"), [(1, 1.0), (2, 1e14), (5, 1e14), (9, 1e6), (28, 1e14)])
def test_the_models_are_the_weighted_least_squares(n: int, condition: float, sigma: float) -> None:
    """In 28-D the normal matrix is factored in single precision, and the result refined."""
    assert (Complexity.FULL.parameters(n) >= weighted_fit._MANY) == (n == 28)
    rng = np.random.default_rng(n)
    distribution = distribution_of(n, condition, sigma, seed=n)
    q = 3 * Complexity.FULL.parameters(n) // 2 + 4
    X = distribution.sample(rng, q)
    Z = distribution.whiten(X)
    tasks = [(np.exp(rng.standard_normal(q)), rng.uniform(0.05, 1.95, q)) for _ in range(2)]
    models = WeightedFit(n, q, 0.0).fit(queue_of(X), tasks, Complexity.FULL, distribution)
    points = rng.standard_normal((20, n))
    for model, (y, weights) in zip(models, tasks, strict=True):
        expected = least_squares(Z, y, weights, points)
        assert model(points) == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("n", [1, 5, 28])
def test_a_quadratic_is_recovered_with_any_weights(n: int) -> None:
    """Also where most samples hardly count, and there are barely enough others."""
    rng = np.random.default_rng(n)
    parameters = Complexity.FULL.parameters(n)
    q = 3 * parameters // 2 + 4
    Z = rng.standard_normal((q, n))
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    f = (Z @ U) ** 2 @ np.logspace(0, 3, n) + Z[:, 0]
    weights = np.logspace(0, -4, q)
    standard_normal = SearchDistribution(np.zeros(n), np.eye(n))
    (model,) = WeightedFit(n, q, 1e-10).fit(
        queue_of(Z), [(f, weights / weights.mean())], Complexity.FULL, standard_normal
    )
    assert model(Z) == pytest.approx(f, rel=1e-6, abs=1e-6 * f.max())


def test_double_precision_where_single_precision_does_not_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of the samples, which do not determine the model alone, hardly count."""
    n = 28
    rng = np.random.default_rng(1)
    q = 3 * Complexity.FULL.parameters(n) // 2
    Z, y = rng.standard_normal((q, n)), rng.standard_normal(q)
    weights = np.where(np.arange(q) < q // 2, 1e-9, 1.0)
    refined = []
    original = WeightedFit._refined

    def spy(*arguments: Any) -> Array | None:
        refined.append(original(*arguments))
        return refined[-1]

    monkeypatch.setattr(WeightedFit, "_refined", spy)
    (model,) = WeightedFit(n, q, 0.0).fit(
        queue_of(Z),
        [(y, weights / weights.mean())],
        Complexity.FULL,
        SearchDistribution(np.zeros(n), np.eye(n)),
    )
    assert refined == [None]
    points = rng.standard_normal((20, n))
    expected = least_squares(Z, y, weights, points)
    assert model(points) == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("n", [3, 28])
def test_a_model_of_noise_shrinks_as_the_unweighted_one_does(n: int) -> None:
    rng = np.random.default_rng(n)
    q = 3 * Complexity.FULL.parameters(n) // 2
    Z, y = rng.standard_normal((q, n)) + 1, rng.standard_normal(q)
    unsure = Reliability(linear=0.7, quadratic=0.2, explained=0.3)
    setting = (Complexity.FULL, SearchDistribution(np.zeros(n), np.eye(n)))
    (model,) = WeightedFit(n, 10, 1e-10).fit(queue_of(Z), [(y, np.ones(q))], *setting, unsure)
    expected = DirectFit(n, q, 1e-10).fit(queue_of(Z), y, *setting, reliability=unsure)
    points = rng.standard_normal((20, n))
    assert model(points) == pytest.approx(expected(points), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("complexity", list(Complexity))
def test_weights_count_samples(complexity: Complexity) -> None:
    """A sample of weight 3 counts as the same one three times, a sample of weight 0 not at all."""
    rng = np.random.default_rng(3)
    n = 4
    distribution = distribution_of(n, 1e4, 1.0, seed=3)
    counts = rng.integers(0, 4, 60)
    X, y = distribution.sample(rng, 60), rng.standard_normal(60)
    (weighted,) = WeightedFit(n, 60, 1e-10).fit(
        queue_of(X), [(y, counts / counts.mean())], complexity, distribution
    )
    repeated = DirectFit(n, int(counts.sum()), 1e-10).fit(
        queue_of(X.repeat(counts, axis=0)), y.repeat(counts), complexity, distribution
    )
    points = rng.standard_normal((20, n))
    assert weighted(points) == pytest.approx(repeated(points), rel=1e-8, abs=1e-8)


def test_a_diagonal_model_for_a_diagonal_distribution() -> None:
    rng = np.random.default_rng(5)
    n, q = 30, 100
    distribution = DiagonalDistribution(rng.standard_normal(n), rng.uniform(0.1, 10, n))
    Z = rng.standard_normal((q, n))
    X = distribution.mean + distribution.unwhiten(Z)
    y = Z**2 @ np.arange(n) + Z[:, 1]
    (model,) = WeightedFit(n, q, 1e-10, Complexity.DIAGONAL).fit(
        queue_of(X), [(y, rng.uniform(0.5, 1.5, q))], Complexity.DIAGONAL, distribution
    )
    assert model(Z) == pytest.approx(y, rel=1e-6, abs=1e-6)


def test_samples_that_do_not_span_the_space() -> None:
    """A coordinate that is fixed has no influence."""
    rng = np.random.default_rng(6)
    Z = rng.standard_normal((40, 3)) * [1, 1, 0]
    y = Z[:, 0] + Z[:, 1] ** 2
    (model,) = WeightedFit(3, 40, 1e-10).fit(
        queue_of(Z),
        [(y, np.ones(40))],
        Complexity.FULL,
        SearchDistribution(np.zeros(3), np.eye(3)),
    )
    assert model(Z) == pytest.approx(y, abs=1e-6)
    assert model(Z + np.array([0, 0, 5])) == pytest.approx(y, abs=1e-6)


def test_a_pickled_run_is_small_and_goes_on_bit_for_bit() -> None:
    solver = LeanCasMore([3.0] * 10, 1.0, seed=1)
    for _ in range(60):
        X = solver.ask()
        solver.tell(X, (X**2).sum(axis=1))
    content = pickle.dumps(solver)
    assert len(content) < 4 * (solver.queue.points.nbytes + solver.queue.values.nbytes) + 20_000
    copy = pickle.loads(content)
    for _ in range(5):
        X = solver.ask()
        assert np.array_equal(copy.ask(), X)
        for each in (solver, copy):
            each.tell(X, (X**2).sum(axis=1))
