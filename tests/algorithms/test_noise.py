"""What the residuals of the surrogate tell of noise, and what CAS-MORE makes of it."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.models import Complexity, QuadraticModel
from casmore.algorithms.noise import NoiseFilter, Reliability, Stagnation, reliability
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.targets import TargetNormalization, normalize
from casmore.solvers.restarts import Restarting, UniformStart

Array = NDArray[np.float64]
P = Complexity.FULL.parameters(3)


def fitted(y: Array, X: Array) -> QuadraticModel:
    queue = SampleQueue(X.shape[1], len(X))
    queue.add(X, y)
    whole = SearchDistribution.isotropic(np.zeros(X.shape[1]), 1.0)
    model = DirectFit(X.shape[1], len(X), 1e-12).fit(queue, y, Complexity.FULL, whole)
    assert isinstance(model, QuadraticModel)
    return model


def found(y: Array, X: Array) -> Reliability:
    result = reliability(X, y, fitted(y, X), P)
    assert result is not None
    return result


def test_the_sums_of_squares_are_those_of_two_regressions() -> None:
    """By numpy's least squares, with and without the products."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3)) * [1, 2, 3] + 5
    y = X[:, 0] + X[:, 1] ** 2 + 3 * rng.standard_normal(40)
    linear = np.column_stack([np.ones(40), X])
    i, j = np.triu_indices(3)
    full = np.column_stack([linear, X[:, i] * X[:, j]])
    rss = [float(np.linalg.lstsq(design, y, rcond=None)[1][0]) for design in (linear, full)]
    tss, s2 = float(((y - y.mean()) ** 2).sum()), rss[1] / (40 - P)
    result = found(y, X)
    assert result.linear == pytest.approx(max(0, 1 - 3 * s2 / (tss - rss[0])), abs=1e-6)
    assert result.quadratic == pytest.approx(max(0, 1 - 6 * s2 / (rss[0] - rss[1])), abs=1e-6)
    assert result.explained == pytest.approx(1 - s2 / (tss / 39), abs=1e-6)


def test_a_weight_counts_as_so_many_samples() -> None:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] + 0.5 * rng.standard_normal(40)
    weights = rng.integers(1, 4, 40)
    model = fitted(y.repeat(weights), X.repeat(weights, axis=0))
    once = reliability(X, y, model, P, weights / weights.mean())
    repeated = reliability(X.repeat(weights, axis=0), y.repeat(weights), model, P)
    assert once is not None
    assert repeated is not None
    # the ratio of two sums of squares is the same, the degrees of freedom are not
    degrees = (40 - P) / (weights.sum() - P)
    assert 1 - repeated.linear == pytest.approx((1 - once.linear) * degrees)
    assert 1 - repeated.quadratic == pytest.approx((1 - once.quadratic) * degrees)


def test_of_noise_alone_chance_explains_as_much_as_the_f_distribution_says() -> None:
    rng = np.random.default_rng(2)
    linear, quadratic = [], []
    for _ in range(2000):
        result = found(rng.standard_normal(30), rng.standard_normal((30, 3)))
        linear.append(result.linear > 0.5)  # F > 2
        quadratic.append(result.quadratic > 0.5)
    for share, k in ((np.mean(linear), 3), (np.mean(quadratic), 6)):
        expected = stats.f.sf(2, k, 30 - P)
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / 2000))


def test_of_a_quadratic_without_noise_all_is_signal() -> None:
    X = np.random.default_rng(3).standard_normal((30, 3))
    result = found(X[:, 0] + (X**2).sum(axis=1), X)
    assert (result.linear, result.quadratic, result.explained) == pytest.approx((1, 1, 1))


def test_a_slope_in_noise_leaves_the_curvature_unreliable() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 3))
    result = found(10 * X[:, 0] + rng.standard_normal(60), X)
    assert result.linear > 0.95
    assert result.quadratic < 0.6


def test_nothing_is_said_where_nothing_is_left_over() -> None:
    X = np.random.default_rng(5).standard_normal((P, 3))
    model = fitted(X[:, 0], np.concatenate([X, X + 1]).repeat(1, 0)[:P])
    assert reliability(X, X[:, 0], model, P) is None
    flat = np.random.default_rng(5).standard_normal((30, 3)) * [1, 1, 0]
    assert reliability(flat, flat[:, 0], model, P) is None
    spread = np.random.default_rng(5).standard_normal((30, 3))
    assert reliability(spread, np.full(30, 0.25), model, P) is None


def test_normal_scores_keep_the_order_and_share_ties() -> None:
    y = np.array([3.0, -1e300, 3.0, 7.0, 1e300])
    scores = normalize(y, TargetNormalization.RANKS)
    assert scores == pytest.approx(stats.norm.ppf([0.4, 0.1, 0.4, 0.7, 0.9]))


def test_the_model_shrinks_to_the_posterior_mean_of_its_coefficients() -> None:
    """With the prior that its reliabilities imply, by numpy, for correlated features."""
    rng = np.random.default_rng(8)
    q = 40
    X = rng.standard_normal((q, 2)) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    y = X[:, 0] + X[:, 0] * X[:, 1] + rng.standard_normal(q)
    queue = SampleQueue(2, q)
    queue.add(X, y)
    whole = SearchDistribution.isotropic(np.zeros(2), 1.0)
    fit = DirectFit(2, q, 0.0)
    found = fit.fit(
        queue,
        y,
        Complexity.FULL,
        whole,
        reliability=Reliability(linear=0.8, quadratic=0.3, explained=0),
    )
    # the features are those of samples with mean 0 and covariance I
    C = np.linalg.cholesky(np.cov(X.T, bias=True))
    W = np.linalg.solve(C, (X - X.mean(axis=0)).T)
    products = np.array([W[0] ** 2, W[0] * W[1], W[1] ** 2])
    F = np.concatenate([W, products])
    F = (F - F.mean(axis=1, keepdims=True)) / F.std(axis=1, keepdims=True)
    # y = b' f + e with variance s^2 of e, tau^2 of b: s^2 / tau^2 = q (1 - rho) / rho
    prior = np.repeat([q * 0.2 / 0.8, q * 0.7 / 0.3], [2, 3])
    b = np.linalg.solve(F @ F.T + np.diag(prior), F @ (y - y.mean()))
    assert found(X) == pytest.approx(y.mean() + b @ F)


def test_the_filter_begins_with_trust_and_forgets() -> None:
    noise = NoiseFilter(8.0)
    assert (noise.mean_radius, noise.covariance_radius, noise.entropy_rate) == (1, 1, 1)
    for _ in range(50):
        noise.update(Reliability(0.5, 0.0, -0.2), 0.1)
    assert noise.mean_radius == pytest.approx(0.5**2.5, rel=1e-3)
    assert noise.covariance_radius == pytest.approx(0.02**2.5)
    assert noise.is_noisy
    noise.update(None, 0.1)
    for _ in range(50):
        noise.update(Reliability(1.0, 1.0, 1.0), 0.1)
    assert noise.mean_radius == pytest.approx(1, rel=1e-3)
    assert not noise.is_noisy


def test_the_population_grows_while_nothing_is_explained_and_shrinks_again() -> None:
    noise = NoiseFilter(8.0)
    for _ in range(60):  # until the average has reached 0
        noise.update(Reliability(0.0, 0.0, 0.0), 0.0)
    assert noise.growth == 1
    for _ in range(40):
        noise.update(Reliability(0.0, 0.0, 0.0), 0.1)
    # four queues of samples at a rate of 1.2 x 0.25
    assert noise.growth == pytest.approx(np.exp(1.2), rel=1e-4)
    for _ in range(200):
        noise.update(Reliability(0.0, 0.0, 0.0), 0.1)
    assert noise.growth == 8
    for _ in range(100):
        noise.update(Reliability(1.0, 1.0, 1.0), 0.1)
    assert noise.growth == 1


def test_the_distribution_widens_while_nothing_is_explained() -> None:
    noise = NoiseFilter(8.0)
    assert noise.widening == 0
    for _ in range(60):  # until the average has reached 0
        noise.update(Reliability(0.0, 0.0, 0.0), 0.1)
    assert noise.widening == pytest.approx(2 * 0.1, rel=1e-4)
    noise.update(None, 0.1)
    assert noise.widening == 0
    for _ in range(60):
        noise.update(Reliability(0.2, 0.1, 0.05), 0.1)
    assert noise.widening == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("algorithm", [CasMore, LeanCasMore])
def test_pure_noise_does_not_widen_the_distribution_beyond_the_initial_one(
    algorithm: type[CasMore],
) -> None:
    rng = np.random.default_rng(4)
    solver = algorithm(np.zeros(3), 0.7, seed=2, noise="auto")
    entropies = []
    while solver.evaluations < 6000:
        X = solver.ask()
        # a sphere at first, so that the distribution becomes narrow
        y = (X**2).sum(axis=1) if solver.evaluations < 100 else rng.standard_normal(len(X))
        solver.tell(X, y)
        entropies.append(np.linalg.slogdet(solver.distribution.covariance)[1] / 2)
    initial = 3 * np.log(0.7)
    assert min(entropies) < initial - 5
    assert max(entropies[40:]) < initial + 1  # a factor of 1.4 of each standard deviation
    assert entropies[-1] > initial - 1


def noisy_run(parts: int | None = None, n: int = 3) -> CasMore:
    rng = np.random.default_rng(9)
    solver = CasMore(np.full(n, 1.0), 1.0, seed=1, noise="auto")
    for _ in range(60):
        X = solver.ask()
        y = rng.standard_normal(len(X))
        for start in range(0, len(X), parts or len(X)):
            end = start + (parts or len(X))
            solver.tell(X[start:end], y[start:end])
    return solver


def test_a_run_in_noise_has_more_samples_however_they_are_told() -> None:
    solver = noisy_run()
    K, Q = solver.parameters.population_size, solver.parameters.queue_size
    assert 4 * K < solver.population_size <= 8 * K
    assert len(solver.queue) == Q + 16 * (solver.population_size - K)
    parts = noisy_run(parts=3)
    assert np.array_equal(parts.mean, solver.mean)
    copy = pickle.loads(pickle.dumps(solver))
    assert np.array_equal(copy.ask(), solver.ask())


def test_a_restart_doubles_the_population_that_the_run_began_with() -> None:
    search = Restarting(CasMore, UniformStart(3), 1.0, seed=1, settings={"noise": "auto"})
    rng = np.random.default_rng(1)
    for _ in range(60):
        X = search.ask()
        search.tell(X, rng.standard_normal(len(X)))
    assert search.population_size > 14
    search.restart()
    assert search.population_size == 14


def sphere_with(noise: Callable[[int], Array]) -> Callable[[Array], Array]:
    return lambda X: (X**2).sum(axis=1) + noise(len(X))


def end(
    algorithm: type[CasMore], f: Callable[[Array], Array], handling: str, seed: int, budget: int
) -> float:
    """Distance of the mean from the optimum after the budget, of a 5-D run."""
    solver = algorithm(np.full(5, 2.0), 1.0, seed=seed, noise=handling, tolerance_f=0.0)
    while solver.evaluations < budget and not solver.stop():
        X = solver.ask()
        solver.tell(X, f(X))
    return float(np.linalg.norm(solver.mean))


@pytest.mark.parametrize(
    ("algorithm", "kind", "ratio"),
    [
        (CasMore, "gauss", 0.35),
        (CasMore, "cauchy", 0.5),
        (LeanCasMore, "gauss", 0.5),
    ],
)
def test_under_noise_the_mean_ends_closer(
    algorithm: type[CasMore], kind: str, ratio: float
) -> None:
    distances = {}
    for handling in ("none", "auto"):
        rng = np.random.default_rng(6)
        noise = rng.standard_normal if kind == "gauss" else rng.standard_cauchy
        f = sphere_with(lambda k, noise=noise: np.asarray(noise(k)))  # type: ignore[misc]
        distances[handling] = np.median(
            [end(algorithm, f, handling, seed, 3000) for seed in range(5)]
        )
    assert distances["auto"] < ratio * distances["none"]


@pytest.mark.parametrize("n", [3, 8])
def test_without_noise_it_costs_little(n: int) -> None:
    taken = []
    for handling in ("none", "auto"):
        solver = CasMore(np.full(n, 2.0), 1.0, seed=1, target=1e-8, noise=handling)
        while not solver.stop() and solver.evaluations < 10_000:
            X = solver.ask()
            solver.tell(X, (X**2) @ np.logspace(0, 4, n) + X[:, 0] ** 4)
        assert solver.best_y <= 1e-8
        taken.append(solver.evaluations)
    assert taken[1] < 1.1 * taken[0]


def medians_until_the_end(medians: Array, *, at_limit: bool = True) -> int | None:
    """Return how many turnovers of a queue with these medians it takes to end; None: all pass."""
    stagnation = Stagnation()
    for k, median in enumerate(medians, start=1):
        values = median + np.array([-1.0, 0.0, np.inf])
        stagnation.update(at_limit, values, 3 * k - 1)  # not yet replaced as a whole
        stagnation.update(at_limit, values, 3 * k)
        if stagnation.is_over:
            return k
    return None


def test_a_run_stagnates_if_three_turnovers_bring_no_smaller_median() -> None:
    assert medians_until_the_end(np.array([5.0, 5.0, 6.0, 5.5, 0.0])) == 4
    assert medians_until_the_end(np.array([5.0, 6.0, 6.0, 4.9, 5.0, 5.0, 4.9, 0.0])) == 7
    assert medians_until_the_end(-np.arange(50.0)) is None
    assert medians_until_the_end(np.array([5.0, 7.0, 6.0] * 9), at_limit=False) is None


@pytest.mark.parametrize("algorithm", [CasMore, LeanCasMore])
@pytest.mark.parametrize(
    ("slope", "expected"), [(0.0, StopReason.STAGNATION), (0.1, StopReason.STEP_TOO_LARGE)]
)
def test_a_search_that_sees_only_noise_ends_and_one_with_progress_does_not(
    algorithm: type[CasMore], slope: float, expected: StopReason
) -> None:
    rng = np.random.default_rng(3)
    search = algorithm(np.full(2, 3.0), 1.0, seed=4, noise="auto")
    while not search.stop() and search.evaluations < 20_000:
        X = search.ask()
        search.tell(X, rng.standard_normal(len(X)) + slope * X.sum(axis=1))
    assert list(search.stop()) == [expected]
