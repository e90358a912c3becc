"""MORE as a whole: its bounds in a run, schedules, both model learners, settings."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.bayesian_surrogate import ProjectedBayesianFit, importance_weights
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import QuadraticModel
from casmore.algorithms.more import More
from casmore.algorithms.stopping import StopReason

Array = NDArray[np.float64]


def ellipsoid(X: Array) -> Array:
    values: Array = (10.0 ** np.linspace(0, 3, X.shape[1]) * X**2).sum(axis=1)
    return values


def dense_kl(new: SearchDistribution, old: SearchDistribution) -> float:
    """KL(new || old), as printed in the paper's appendix."""
    shift = new.mean - old.mean
    inverse = np.linalg.inv(old.covariance)
    return 0.5 * float(
        shift @ inverse @ shift
        + np.trace(inverse @ new.covariance)
        - len(shift)
        + np.linalg.slogdet(old.covariance)[1]
        - np.linalg.slogdet(new.covariance)[1]
    )


def dense_entropy(distribution: SearchDistribution) -> float:
    covariance = 2 * math.pi * math.e * distribution.covariance
    return 0.5 * float(np.linalg.slogdet(covariance)[1])


def step(solver: More) -> None:
    X = solver.ask()
    solver.tell(X, ellipsoid(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"entropy_decrease": 0.2},
        {"entropy_decrease": 0.05, "minimal_entropy": 2.0},
        {"entropy_schedule": "fraction", "entropy_rate": 0.98, "minimal_entropy": -5.0},
        {"model": "bayesian", "reduced_dimension": 4, "projections": 5},
    ],
)
def test_each_update_meets_its_bounds(settings: dict[str, Any]) -> None:
    solver = More(np.ones(4), 1.0, seed=1, epsilon=0.1, **settings)
    decrease, low = solver.parameters.entropy_decrease, solver.parameters.minimal_entropy
    on_both = 0
    for _ in range(120):
        old = solver.distribution
        step(solver)
        new = solver.distribution
        if new is old:
            continue
        kl, entropy, before = dense_kl(new, old), dense_entropy(new), dense_entropy(old)
        if "entropy_rate" in settings:
            beta = 0.98 * (before - low) + low
        else:
            beta = max(before - decrease, low)
        assert kl <= 0.1 * (1 + 1e-6)
        assert entropy >= beta - 1e-6
        on_both += kl > 0.0999 and entropy < beta + 1e-6
    assert on_both > 10


def test_the_entropy_stops_at_its_minimum() -> None:
    solver = More(np.ones(3), 1.0, seed=1, entropy_decrease=0.5, minimal_entropy=-1.0)
    for _ in range(200):
        step(solver)
    assert dense_entropy(solver.distribution) == pytest.approx(-1.0, abs=1e-6)


def test_started_below_its_minimum_the_entropy_does_not_fall() -> None:
    solver = More(np.ones(3), 1e-3, seed=1, minimal_entropy=0.0)
    before = solver.distribution.entropy
    for _ in range(50):
        step(solver)
    assert solver.distribution.entropy >= before - 1e-9


def test_it_finds_an_optimum() -> None:
    solver = More(np.full(5, 2.0), 1.0, seed=2, epsilon=0.3, target=1e-10)
    while not solver.stop():
        step(solver)
        assert solver.evaluations < 20_000
    assert StopReason.TARGET in solver.stop()


def test_with_the_bayesian_model_it_makes_progress() -> None:
    solver = More(np.full(6, 2.0), 1.0, seed=2, epsilon=0.2, model="bayesian", projections=20)
    first = float(ellipsoid(solver.mean[np.newaxis])[0])
    while solver.evaluations < 2000:
        step(solver)
    assert ellipsoid(solver.mean[np.newaxis])[0] < 1e-2 * first


def test_a_projection_to_all_dimensions_recovers_an_exact_quadratic() -> None:
    rng = np.random.default_rng(1)
    n = 4
    A = rng.standard_normal((n, n))
    truth = QuadraticModel(A + A.T, rng.standard_normal(n), 0.7)
    distribution = SearchDistribution(rng.standard_normal(n), np.diag([1.0, 0.1, 3.0, 10.0]))
    X = distribution.sample(rng, 60)
    fit = ProjectedBayesianFit(n, n, 5, prior_precision=1e-10, rng=rng)
    model = fit.fit(X, truth(X), distribution)
    expected = truth.substitute(distribution.factor, distribution.mean)
    scale = np.abs(expected.A).max()
    assert model.A == pytest.approx(expected.A, abs=1e-4 * scale)
    assert model.a == pytest.approx(expected.a, abs=1e-4 * scale)
    assert model.a0 == pytest.approx(expected.a0, abs=1e-4 * scale)


@pytest.mark.parametrize("reduced", [1, 3, 5])
def test_a_lower_dimension_explains_part_of_the_values(reduced: int) -> None:
    rng = np.random.default_rng(3)
    n = 8
    distribution = SearchDistribution.isotropic(np.ones(n), 0.5)
    X, unseen = distribution.sample(rng, 120), distribution.sample(rng, 500)

    def values(points: Array) -> Array:
        y: Array = -(points[:, 0] ** 2) + points[:, 1]
        return (y + 1) / 1.2

    fit = ProjectedBayesianFit(n, reduced, 200, prior_precision=1e-3, rng=rng)
    model = fit.fit(X, values(X), distribution)
    error = values(unseen) - model(distribution.whiten(unseen))
    assert error.var() < 0.9 * values(unseen).var()


def test_one_projection_is_the_bayesian_regression_by_the_book() -> None:
    """Bishop (2006), equations 3.53 and 3.54, with a Gaussian prior; weights of 1."""
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((40, 1))
    y = rng.standard_normal(40)
    fit = ProjectedBayesianFit(1, 1, 1, prior_precision=0.5, rng=np.random.default_rng(9))
    W = np.random.default_rng(9).standard_normal((1, 1, 1))[0]
    model = fit.fit(Z, y, SearchDistribution.isotropic(np.zeros(1), 1.0))
    u = (Z @ W.T)[:, 0]
    Phi = np.stack([np.ones(40), u, u * u], axis=1)
    w = importance_weights(Z)
    posterior = np.linalg.solve(0.5 * np.eye(3) + Phi.T @ (w[:, None] * Phi), Phi.T @ (w * y))
    points = np.array([[-1.0], [0.0], [2.0]])
    v = points @ W.T
    expected = posterior[0] + posterior[1] * v + posterior[2] * v * v
    assert model(points) == pytest.approx(expected[:, 0])


def test_weights_are_the_ratio_of_the_densities() -> None:
    rng = np.random.default_rng(5)
    Z = 1.5 * rng.standard_normal((20_000, 1)) + 0.3
    weights = importance_weights(Z)
    log_ratio = np.log(weights) + 0.5 * Z[:, 0] ** 2 - 0.5 * ((Z[:, 0] - 0.3) / 1.5) ** 2
    assert np.ptp(log_ratio) < 0.3
    assert weights @ Z[:, 0] ** 2 / weights.sum() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("model", ["least-squares", "bayesian"])
def test_the_same_seed_gives_the_same_run_also_after_pickling(model: str) -> None:
    a, b = (More(np.ones(3), 1.0, seed=4, model=model, projections=5) for _ in range(2))
    for _ in range(20):
        step(a)
        step(b)
    b = pickle.loads(pickle.dumps(b))
    for _ in range(20):
        step(a)
        step(b)
    assert (a.mean == b.mean).all()
    assert (a.distribution.factor == b.distribution.factor).all()


@pytest.mark.parametrize("n", [1, 2])
def test_small_dimensions(n: int) -> None:
    solver = More(np.ones(n), 1.0, seed=1, target=1e-8)
    while not solver.stop():
        step(solver)
        assert solver.evaluations < 20_000
    assert StopReason.TARGET in solver.stop()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_the_worst(bad: float) -> None:
    solver = More(np.full(3, 2.0), 1.0, seed=1, target=1e-8)
    while not solver.stop():
        X = solver.ask()
        y = ellipsoid(X)
        y[0] = bad
        solver.tell(X, y)
        assert solver.evaluations < 20_000
    assert StopReason.TARGET in solver.stop()


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"epsilon": 0.0}, ValueError, "epsilon = 0.0 must be positive"),
        ({"epsilon_mean": 0.5}, TypeError, "has no setting 'epsilon_mean'; did you mean 'epsilon'"),
        ({"epsilom": 0.5}, TypeError, "has no setting 'epsilom'; did you mean 'epsilon'"),
        ({"model": "linear"}, ValueError, "'least-squares' or 'bayesian'"),
        ({"entropy_schedule": "gamma"}, ValueError, "'linear' or 'fraction'"),
        ({"entropy_schedule": "fraction"}, ValueError, "minimal_entropy"),
        ({"reduced_dimension": 4}, ValueError, "from 1 to the dimension 3"),
        ({"entropy_rate": 1.5}, ValueError, "between 0 and 1"),
    ],
)
def test_wrong_settings_are_refused(
    settings: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        More(np.zeros(3), 1.0, **settings)
