"""The fit against exact quadratics and plain least squares."""

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, Model, QuadraticModel, affordable_complexity
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit, build_features

Array = NDArray[np.float64]


def queue_of(X: Array) -> SampleQueue:
    queue = SampleQueue(X.shape[1], len(X))
    queue.add(X, np.zeros(len(X)))
    return queue


def random_quadratic(n: int, complexity: Complexity, rng: np.random.Generator) -> QuadraticModel:
    A = rng.standard_normal((n, n))
    A = A + A.T
    if complexity is Complexity.DIAGONAL:
        A = np.diag(np.diag(A))
    elif complexity is Complexity.LINEAR:
        A = np.zeros((n, n))
    return QuadraticModel(A, rng.standard_normal(n), float(rng.standard_normal()))


def in_original_coordinates(model: Model, distribution: SearchDistribution) -> QuadraticModel:
    assert isinstance(model, QuadraticModel)
    inverse = np.linalg.inv(distribution.factor)
    return model.substitute(inverse, -inverse @ distribution.mean)


def random_distribution(n: int, rng: np.random.Generator) -> SearchDistribution:
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return SearchDistribution(rng.standard_normal(n), U * np.logspace(-1, 1, n))


@pytest.mark.parametrize("whitening", [True, False])
@pytest.mark.parametrize("complexity", list(Complexity))
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_an_exact_quadratic_is_recovered(n: int, complexity: Complexity, whitening: bool) -> None:
    rng = np.random.default_rng(n)
    truth = random_quadratic(n, complexity, rng)
    distribution = random_distribution(n, rng)
    samples = 2 * complexity.parameters(n)
    X = distribution.sample(rng, samples)
    fit = DirectFit(n, samples, ridge=1e-12, whitening=whitening)
    model = in_original_coordinates(
        fit.fit(queue_of(X), truth(X), complexity, distribution), distribution
    )
    tolerance = 1e-6 if whitening else 1e-3  # raw coordinates are ill-conditioned: hence whitening
    assert model.A == pytest.approx(truth.A, rel=tolerance, abs=tolerance)
    assert model.a == pytest.approx(truth.a, rel=tolerance, abs=tolerance)
    assert model.a0 == pytest.approx(truth.a0, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_transformed_parameters_predict_the_same_in_both_spaces(n: int) -> None:
    rng = np.random.default_rng(n)
    whitened = random_quadratic(n, Complexity.FULL, rng)
    C = np.tril(rng.standard_normal((n, n))) + 3 * np.eye(n)
    mean = rng.standard_normal(n)
    inverse = np.linalg.inv(C).astype(np.float64)
    original = whitened.substitute(inverse, -inverse @ mean)
    X = rng.standard_normal((50, n))
    W = np.linalg.solve(C, (X - mean).T).T.astype(np.float64)
    assert original(X) == pytest.approx(whitened(W))
    # the paper's formulas for the matrix and the vector
    assert original.A == pytest.approx(inverse.T @ whitened.A @ inverse)
    assert original.a == pytest.approx(original.A @ mean + inverse.T @ whitened.a)


def test_the_features_are_the_papers() -> None:
    W = np.array([[2.0], [3.0], [5.0]])
    out = np.empty((9, 1))
    assert build_features(W, Complexity.FULL, out).ravel().tolist() == [
        2, 3, 5, 4, 6, 10, 9, 15, 25,
    ]  # fmt: skip
    assert build_features(W, Complexity.DIAGONAL, out).ravel().tolist() == [2, 3, 5, 4, 9, 25]
    assert build_features(W, Complexity.LINEAR, out).ravel().tolist() == [2, 3, 5]


def test_the_fit_is_ridge_regression_on_standardized_features() -> None:
    """Against the textbook formula, with features standardized explicitly."""
    rng = np.random.default_rng(0)
    n, q, ridge = 4, 40, 0.3  # a ridge large enough to show
    X = rng.standard_normal((q, n)) * [1, 2, 5, 10] + 3
    y = rng.standard_normal(q)
    rows, columns = np.triu_indices(n)
    raw = np.hstack([X, X[:, rows] * X[:, columns]])
    mean, deviation = raw.mean(axis=0), raw.std(axis=0)
    Phi = (raw - mean) / deviation
    beta = np.linalg.solve(Phi.T @ Phi + ridge * np.eye(raw.shape[1]), Phi.T @ y)
    expected = Phi @ beta + y.mean()

    standard_normal = SearchDistribution(np.zeros(n), np.eye(n))
    model = DirectFit(n, q, ridge, whitening=False).fit(
        queue_of(X), y, Complexity.FULL, standard_normal
    )
    assert model(X) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_full_fit_is_invariant_under_affine_maps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, q = 5, 50
    distribution = random_distribution(n, rng)
    X = distribution.sample(rng, q) + rng.standard_normal((q, n)) * 0.1
    y = rng.standard_normal(q)
    T = np.linalg.qr(rng.standard_normal((n, n)))[0] * np.logspace(-4, 4, n)
    shift = rng.standard_normal(n) * 100
    moved = SearchDistribution(T @ distribution.mean + shift, T @ distribution.factor)
    fit = DirectFit(n, q, ridge=1e-8)
    here = fit.fit(queue_of(X), y, Complexity.FULL, distribution)
    there = fit.fit(queue_of(X @ T.T + shift), y, Complexity.FULL, moved)
    # both are functions of the same whitened z
    assert there.A == pytest.approx(here.A, abs=1e-5)
    assert there.a == pytest.approx(here.a, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e-80, 1e80, 1e150])
def test_the_full_fit_does_not_mind_the_scale(scale: float) -> None:
    rng = np.random.default_rng(3)
    n, q = 4, 40
    L = np.linalg.qr(rng.standard_normal((n, n)))[0] * np.logspace(-3.5, 3.5, n)
    Z, y = rng.standard_normal((q, n)), rng.standard_normal(q)
    models = []
    for size in (1.0, scale):
        distribution = SearchDistribution(np.zeros(n), size * L)
        fit = DirectFit(n, q, ridge=1e-8)
        models.append(fit.fit(queue_of(Z @ (size * L).T), y, Complexity.FULL, distribution))
    assert models[1].A == pytest.approx(models[0].A, abs=1e-6)
    assert models[1].a == pytest.approx(models[0].a, abs=1e-6)


def test_samples_that_do_not_span_the_space_give_a_finite_model() -> None:
    rng = np.random.default_rng(1)
    n, q = 3, 30
    X = rng.standard_normal((q, 1)) * np.ones(n)
    fit = DirectFit(n, q, ridge=1e-8)
    model = fit.fit(
        queue_of(X), X[:, 0], Complexity.FULL, SearchDistribution(np.zeros(n), np.eye(n))
    )
    assert np.isfinite(model.A).all()
    assert model(X) == pytest.approx(X[:, 0], abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_the_switching_rule(n: int) -> None:
    """The richest of the models of 1 + n, 1 + 2 n and (n + 1) (n + 2) / 2 parameters."""
    sizes = {
        Complexity.LINEAR: 1 + n,
        Complexity.DIAGONAL: 1 + 2 * n,
        Complexity.FULL: (n + 1) * (n + 2) // 2,
    }
    for samples in range(1000):
        expected = None
        for complexity, size in sizes.items():  # from the poorest to the richest
            if samples >= 1.1 * size:
                expected = complexity
        assert affordable_complexity(samples, n) is expected


def test_samples_that_do_not_span_the_space_say_nothing_of_the_other_directions() -> None:
    n, rng = 4, np.random.default_rng(1)
    v = np.array([1.0, 2.0, 0.0, -1.0]) / np.sqrt(6)
    distribution = random_distribution(n, rng)
    X = distribution.sample(rng, 60)
    X -= np.outer(X @ v - 0.7, v)  # all in one hyperplane
    truth = random_quadratic(n, Complexity.FULL, rng)
    model = DirectFit(n, 60, 1e-10).fit(queue_of(X), truth(X), Complexity.FULL, distribution)
    assert model(distribution.whiten(X)) == pytest.approx(truth(X), rel=1e-6, abs=1e-6)
    # the direction that the whitened samples do not span, in which the model must be constant
    Z = distribution.whiten(X)
    missing = np.linalg.svd(Z - Z.mean(axis=0))[2][-1]
    assert model(Z + missing) == pytest.approx(model(Z), rel=1e-6, abs=1e-6)
