"""Lean CAS-MORE: the injected optimum, the choice of a model, and what it shares with CAS-MORE."""

import math
import pickle
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.lean_cas_more import LeanCasMore, LeanCasMoreParameters, kendall
from casmore.algorithms.models import Complexity, Model

Array = NDArray[np.float64]
Solver = TypeVar("Solver", bound=CasMore)


def sphere(X: Array) -> Array:
    values: Array = (X**2).sum(axis=1)
    return values


def rosenbrock(X: Array) -> Array:
    values: Array = (100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2).sum(axis=1)
    return values


def rotated_ellipsoid(n: int) -> Any:
    U = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    return lambda X: (X @ U) ** 2 @ np.logspace(0, 6, n)


def run(solver: Solver, f: Any, iterations: int = 100_000) -> Solver:
    while not solver.stop() and iterations > 0:
        X = solver.ask()
        solver.tell(X, f(X))
        iterations -= 1
    return solver


@pytest.mark.parametrize(("n", "k"), [(1, 2), (2, 4), (5, 5), (10, 6), (20, 8), (40, 10)])
def test_two_thirds_of_the_papers_population(n: int, k: int) -> None:
    assert LeanCasMoreParameters.default(n).population_size == k
    assert LeanCasMoreParameters.default(n, population_size=50).population_size == 50


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"population_size": 1}, "population_size = 1 must be at least 2"),
        ({"injection_radius": 0.0}, "injection_radius = 0.0 must be in"),
        ({"weight_ratio": 0.5}, "weight_ratio = 0.5 must be finite, at least 1"),
        ({"outlier_gap": math.inf}, "outlier_gap = inf must be positive"),
        ({"agreement_memory": 1.0}, r"agreement_memory = 1.0 must be in \[0, 1\)"),
        ({"refit": 1.5}, r"refit = 1.5 must be in \[0, 1\]"),
        ({"overshoot_limit": 0.0}, "overshoot_limit = 0.0 must be positive"),
        ({"whitening": False}, "whitening = False must be True"),
        ({"fit_method": "incremental"}, "must be 'direct'"),
        ({"epsilon_mean": -1.0}, "epsilon_mean = -1.0 must be positive"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LeanCasMore(np.ones(3), 1.0, **setting)
    with pytest.raises(TypeError, match="injection_radius"):
        LeanCasMore(np.ones(3), 1.0, injection_raduis=1.0)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("sigma0", [1e-150, 1.0, 1e150])
def test_a_quadratic_is_solved_once_the_model_has_all_its_samples(n: int, sigma0: float) -> None:
    """The optimum is then known, and the next population holds it."""
    f = rotated_ellipsoid(n)
    solver = LeanCasMore(np.full(n, 0.5 * sigma0), sigma0, seed=1, injection_radius=100.0)
    while solver.complexity is not Complexity.FULL:
        X = solver.ask()
        solver.tell(X, f(X / sigma0))
    best = solver.best_y
    assert f(solver.ask()[:1] / sigma0)[0] < 1e-9 * best


def test_the_optimum_is_looked_for_within_the_radius() -> None:
    n, radius = 3, 1.5
    solver = LeanCasMore(np.full(n, 50.0), 1.0, seed=1, injection_radius=radius)
    on_the_bound = 0
    for _ in range(30):
        before = solver.distribution
        X = solver.ask()
        solver.tell(X, sphere(X))
        if solver.complexity is Complexity.FULL:
            z = before.whiten(solver.ask()[:1])[0]
            assert np.linalg.norm(z) <= radius * (1 + 1e-9)
            on_the_bound += bool(np.linalg.norm(z) > radius * (1 - 1e-9))
    assert on_the_bound > 5


@pytest.mark.parametrize("f", [rotated_ellipsoid(5), rosenbrock], ids=["ellipsoid", "rosenbrock"])
def test_it_needs_fewer_evaluations_than_cas_more(f: Any) -> None:
    needed = {
        algorithm: np.median(
            [
                run(algorithm(np.full(5, 0.3), 0.5, seed=seed, target=1e-8), f).evaluations
                for seed in range(5)
            ]
        )
        for algorithm in (CasMore, LeanCasMore)
    }
    assert needed[LeanCasMore] < 0.75 * needed[CasMore]


def in_original_coordinates(model: Model, distribution: SearchDistribution) -> Model:
    inverse = np.linalg.inv(distribution.factor)
    return model.substitute(inverse, -inverse @ distribution.mean)


def test_the_model_that_predicts_better_is_used() -> None:
    solver = run(LeanCasMore(np.full(5, 2.0), 1.0, seed=1), rosenbrock, 20)
    for right, agreement in enumerate([[1.0, -1.0], [-1.0, 1.0]]):
        solver.agreement = np.array(agreement)  # which no single population turns round
        X = solver.ask()
        solver.tell(X, rosenbrock(X))
        assert solver.model is solver._kept[right].model
        assert (solver._kept[0].model.A != solver._kept[1].model.A).any()


def test_a_model_is_kept_until_enough_samples_are_new() -> None:
    """Its predictions stay the same; the coordinates that it is a function of move along."""
    n = 4
    solver = run(LeanCasMore(np.full(n, 2.0), 1.0, seed=1, refit=0.5), rosenbrock, 30)
    points = solver.mean + np.random.default_rng(1).standard_normal((10, n))
    ages, kept = [], None
    for _ in range(40):
        before, solver.agreement = solver.distribution, np.array([1.0, -1.0])
        X = solver.ask()
        solver.tell(X, rosenbrock(X))
        assert solver.model is not None
        values = in_original_coordinates(solver.model, before)(points)
        ages.append(solver.queue.total - solver._kept[solver._better].samples)
        if ages[-1] > 0:
            assert values == pytest.approx(kept, rel=1e-6)
        kept = values
    K, Q = solver.population_size, solver.parameters.queue_size
    assert max(ages) + K / 2 < 0.5 * Q <= max(ages) + 3 * K / 2


@pytest.mark.parametrize(("n", "alternates"), [(9, False), (10, True)])
def test_a_large_model_that_is_only_judged_is_fitted_every_second_time(
    n: int, alternates: bool
) -> None:
    solver = run(LeanCasMore(np.full(n, 2.0), 1.0, seed=1, refit=0.0), rosenbrock, 20)
    ages = []
    for _ in range(8):
        solver.agreement = np.array([1.0, -1.0])
        X = solver.ask()
        solver.tell(X, rosenbrock(X))
        ages.append([solver.queue.total - fitted.samples for fitted in solver._kept])
    K = solver.population_size
    pattern = [[0, 0], [0, K if alternates else 0]] * 4
    assert ages in (pattern, pattern[::-1])


def test_agreement_is_kendalls_tau_of_values_not_seen_before() -> None:
    solver = LeanCasMore(np.full(10, 1.0), 1.0, seed=3, agreement_memory=0.0)
    judged = 0
    for _ in range(30):
        fitted, before = solver._kept, solver.agreement
        X = solver.ask()
        y = rosenbrock(X)
        solver.tell(X, y)
        if not fitted or fitted[0].complexity is not Complexity.FULL:
            continue
        if fitted[0].samples == fitted[1].samples:
            predicted = [each.model(each.distribution.whiten(X)) for each in fitted]
            taus = [kendalltau(each, -y)[0] for each in predicted]
            assert solver.agreement == pytest.approx(taus)
            judged += 1
        else:  # one of the models knows samples that the other does not
            assert (solver.agreement == before).all()
    assert judged > 3


def test_kendalls_tau() -> None:
    rng = np.random.default_rng(1)
    for size in (2, 3, 10, 50):
        a, b = rng.standard_normal((2, size)), rng.standard_normal(size)
        assert kendall(a, b) == pytest.approx([kendalltau(each, b)[0] for each in a])


@pytest.mark.parametrize("iterations", [1, 7, 40])
def test_a_pickled_solver_goes_on_as_the_uninterrupted_one(iterations: int) -> None:
    solver = run(LeanCasMore(np.ones(3), 1.0, seed=2), rosenbrock, iterations)
    copy = pickle.loads(pickle.dumps(solver))
    for each in (solver, copy):
        run(each, rosenbrock, 20)
    assert copy.mean.tolist() == solver.mean.tolist()
