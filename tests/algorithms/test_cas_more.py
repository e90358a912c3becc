"""The algorithm: defaults, contract, reasons to stop."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.gaussian import kl_divergence
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.models import Complexity
from casmore.algorithms.stopping import StopReason

Array = NDArray[np.float64]


BOTH = pytest.mark.parametrize("algorithm", [CasMore, LeanCasMore])


def sphere(X: Array) -> Array:
    values: Array = (X**2).sum(axis=1)
    return values


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 6, X.shape[1])
    return values


def run(solver: CasMore, f: Any, iterations: int = 100_000) -> CasMore:
    while not solver.stop() and iterations > 0:
        X = solver.ask()
        solver.tell(X, f(X))
        iterations -= 1
    return solver


@pytest.mark.parametrize(
    ("n", "k", "q", "eps_sigma", "c"),
    [
        # the paper's table worked out by hand
        (1, 4, 16, 1.5 / 11, 1 / 3),
        (2, 6, 24, 1.5 / (10 + 2**1.5), 1 / (2 + 2**0.75)),
        (10, 10, 99, 1.5 / (10 + 10**1.5), 1 / (2 + 10**0.75)),
        (20, 12, 347, 1.5 / (10 + 20**1.5), 1 / (2 + 20**0.75)),
        (40, 15, 1292, 1.5 / (10 + 40**1.5), 1 / (2 + 40**0.75)),
    ],
)
def test_the_defaults_are_the_papers(n: int, k: int, q: int, eps_sigma: float, c: float) -> None:
    p = CasMoreParameters.default(n)
    assert (p.population_size, p.queue_size) == (k, q)
    assert p.epsilon_mean == 0.5
    assert p.epsilon_covariance == pytest.approx(eps_sigma)
    assert p.path_smoothing == pytest.approx(c)
    assert (p.clip, p.kurtosis_threshold) == (3, 0.55)


def test_the_queue_holds_two_iterations() -> None:
    assert CasMoreParameters.default(5, population_size=4).queue_size == 48
    assert CasMoreParameters.default(5, population_size=24).queue_size == 48
    assert CasMoreParameters.default(5, population_size=100).queue_size == 200


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epsilon_men": 1.0}, "did you mean 'epsilon_mean'"),
        ({"epsilon_mean": 0.0}, "epsilon_mean = 0.0 must be positive"),
        ({"epsilon_covariance": math.nan}, "epsilon_covariance = nan"),
        ({"path_smoothing": 1.0}, "between 0 and 1"),
        ({"queue_size": 3}, "at least the population size 8"),
        ({"target_normalization": "rank"}, "'robust' or 'standard' or 'ranks' or 'none'"),
        ({"fit_method": "quick"}, "'auto' or 'direct' or 'incremental'"),
        ({"fit_method": "incremental", "whitening": False}, "whitening is off"),
        ({"population_size": 0}, "population_size = 0 must be at least 1"),
        ({"population_size": 2.5}, "population_size = 2.5 must be an integer"),
        ({"ridge": -1.0}, "ridge = -1.0"),
        ({"maximal_condition": 0.5}, "above 1"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        CasMore(np.zeros(5), 1.0, **setting)


@pytest.mark.parametrize(
    ("x0", "sigma0", "message"),
    [
        ([], 1.0, "at least one number"),
        ([[1.0]], 1.0, "vector"),
        ([math.nan], 1.0, "finite"),
        ([1.0], 0.0, "sigma0 must be positive"),
        ([1.0], math.inf, "sigma0 must be positive"),
    ],
)
def test_a_bad_start_is_refused(x0: Any, sigma0: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CasMore(x0, sigma0)


def test_bad_samples_are_refused() -> None:
    solver = CasMore(np.zeros(3), 1.0)
    with pytest.raises(ValueError, match=r"shape \(k, 3\)"):
        solver.tell(np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        solver.tell(np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(ValueError, match="not finite"):
        solver.tell(np.full((1, 3), np.nan), np.zeros(1))
    assert solver.evaluations == 0


@pytest.mark.parametrize("n", [1, 2, 5, 10])
@pytest.mark.parametrize("sigma0", [1e-150, 1.0, 1e150])
def test_it_solves_an_ellipsoid_at_any_scale(n: int, sigma0: float) -> None:
    solver = CasMore(np.full(n, 2 * sigma0), sigma0, seed=1, target=1e-10)
    run(solver, lambda X: ellipsoid(X / sigma0))
    assert StopReason.TARGET in solver.stop()
    assert solver.evaluations < 2500


def test_the_run_is_equivariant_under_affine_maps_of_the_search_space() -> None:
    """Once full models are fitted; before, the axes of the diagonal model matter."""
    rng = np.random.default_rng(3)
    n = 4
    T = np.linalg.qr(rng.standard_normal((n, n)))[0] * np.logspace(0, 2, n)
    plain = CasMore(np.ones(n), 1.0, seed=1, population_size=20)
    mapped = CasMore(T @ np.ones(n), 1.0, seed=1, population_size=20)
    mapped.distribution = mapped.distribution.__class__(T @ np.ones(n), T)
    for i in range(30):
        z = np.random.default_rng(i).standard_normal((20, n))
        X = plain.mean + z @ plain.distribution.factor.T
        V = mapped.mean + z @ mapped.distribution.factor.T
        y = ellipsoid(X) + X[:, 0] ** 4
        plain.tell(X, y)
        mapped.tell(V, y)
        assert plain.complexity is Complexity.FULL
        assert mapped.mean == pytest.approx(T @ plain.mean, rel=1e-4, abs=1e-6)
        assert mapped.distribution.entropy == pytest.approx(
            plain.distribution.entropy + np.linalg.slogdet(T)[1], abs=1e-3
        )


def test_without_entropy_control_each_update_meets_both_bounds() -> None:
    solver = CasMore(np.ones(5), 1.0, seed=3, step_size_adaptation=False)
    for _ in range(60):
        before = solver.distribution
        X = solver.ask()
        solver.tell(X, ellipsoid(X) + np.sin(5 * X).sum(axis=1))
        after = solver.distribution
        if solver.complexity is None:
            continue
        mean_only = before.__class__(after.mean, before.factor)
        covariance_only = before.__class__(before.mean, after.factor)
        assert kl_divergence(mean_only, before) <= 0.5 * (1 + 1e-8)
        kl = kl_divergence(covariance_only, before)
        if solver.complexity is Complexity.LINEAR:
            assert kl == pytest.approx(0, abs=1e-12)
        else:
            assert kl == pytest.approx(solver.parameters.epsilon_covariance, rel=1e-6)


def test_the_fixed_schedule_takes_its_nats_and_ends_at_the_floor() -> None:
    free = CasMore(np.ones(3), 1.0, seed=3, step_size_adaptation=False)
    scheduled = CasMore(
        np.ones(3), 1.0, seed=3, step_size_adaptation=False,
        entropy_decrease=0.25, minimal_entropy=0.0,
    )  # fmt: skip
    for _ in range(12):
        X = scheduled.ask()
        free.distribution = scheduled.distribution
        free.tell(X, ellipsoid(X))
        scheduled.tell(X, ellipsoid(X))
        if scheduled.complexity is Complexity.FULL:
            wanted = max(free.distribution.entropy - 0.25, min(free.distribution.entropy, 0.0))
            assert scheduled.distribution.entropy == pytest.approx(wanted)
    run(scheduled, ellipsoid, 20)
    assert scheduled.complexity is Complexity.FULL


def test_the_complexity_grows_with_the_samples() -> None:
    solver = CasMore(np.ones(5), 1.0, seed=1)
    seen: list[Complexity | None] = []
    for _ in range(10):
        run(solver, ellipsoid, 1)
        seen.append(solver.complexity)
    # K = 8; 1.1 x parameters are 6.6 (linear), 12.1 (diagonal) and 23.1 (full)
    assert seen == [Complexity.LINEAR, Complexity.DIAGONAL] + [Complexity.FULL] * 8


def test_the_same_seed_gives_the_same_run_and_global_state_is_left_alone() -> None:
    np.random.seed(0)  # noqa: NPY002 - the global state is what is tested
    before = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    runs = [run(CasMore(np.ones(3), 1.0, seed=5), ellipsoid, 50) for _ in range(2)]
    other = run(CasMore(np.ones(3), 1.0, seed=6), ellipsoid, 50)
    assert (runs[0].mean == runs[1].mean).all()
    assert (runs[0].mean != other.mean).all()
    after = np.random.get_state()[1]  # type: ignore[index] # noqa: NPY002
    assert (after == before).all()


@pytest.mark.parametrize("iterations", [1, 7, 40])
def test_a_pickled_solver_goes_on_as_the_uninterrupted_one(iterations: int) -> None:
    whole = run(CasMore(np.ones(4), 1.0, seed=5), ellipsoid, 60)
    part = run(CasMore(np.ones(4), 1.0, seed=5), ellipsoid, iterations)
    part = run(pickle.loads(pickle.dumps(part)), ellipsoid, 60 - iterations)
    assert (part.mean == whole.mean).all()
    assert (part.distribution.factor == whole.distribution.factor).all()
    assert part.best_y == whole.best_y


def test_tell_takes_any_points_and_any_number() -> None:
    rng = np.random.default_rng(0)
    solver = CasMore(np.full(3, 5.0), 1.0, seed=1)
    for k in (1, 0, 2, 50, 200, 3, 1, 17):
        X = rng.uniform(-1, 1, (k, 3))
        solver.tell(X, sphere(X))
    assert solver.evaluations == 274
    assert np.linalg.norm(solver.mean) < np.linalg.norm([5, 5, 5])
    assert StopReason.UPDATE_FAILED not in solver.stop()


def test_the_best_point_is_the_best_told() -> None:
    solver = CasMore(np.ones(2), 1.0, seed=1)
    assert solver.best_y == math.inf
    assert solver.best_x.tolist() == [1, 1]
    X = np.array([[3.0, 4.0], [0.0, 1.0], [2.0, 2.0]])
    solver.tell(X, sphere(X))
    X[1] = 99  # the solver must have its own copy
    assert solver.best_x.tolist() == [0, 1]
    assert solver.best_y == 1


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e300])
def test_half_the_values_bad(bad: float, algorithm: type[CasMore]) -> None:
    def f(X: Array) -> Array:
        return np.where(X[:, 0] > 0.5, bad, sphere(X))

    solver = run(algorithm(np.ones(3), 1.0, seed=2, target=1e-10), f)
    assert StopReason.TARGET in solver.stop()


def test_minus_infinity_is_the_best_value() -> None:
    solver = CasMore(np.ones(2), 1.0, seed=1, target=0.0)
    X = solver.ask()
    solver.tell(X, np.array([-math.inf, 1, 2, 3, math.nan, math.inf]))
    assert solver.best_y == -math.inf
    assert StopReason.TARGET in solver.stop()


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_only_bad_values_end_the_run_by_name(bad: float, algorithm: type[CasMore]) -> None:
    solver = run(algorithm(np.ones(2), 1.0, seed=1), lambda X: np.full(len(X), bad), 1000)
    assert solver.stop() == {StopReason.UPDATE_FAILED: 10}
    assert solver.best_y == math.inf
    assert solver.mean.tolist() == [1, 1]


@BOTH
def test_a_flat_function_ends_with_no_progress(algorithm: type[CasMore]) -> None:
    solver = run(algorithm(np.ones(2), 1.0, seed=1), lambda X: np.ones(len(X)), 1000)
    assert solver.stop() == {StopReason.NO_PROGRESS: 0}
    assert solver.iterations == 10 + 30 * 2 / solver.population_size
    assert solver.mean.tolist() == [1, 1]  # nothing to learn: nothing moved


def test_convergence_ends_with_no_progress() -> None:
    solver = run(CasMore(np.ones(3), 1.0, seed=1), sphere)
    assert StopReason.NO_PROGRESS in solver.stop()
    assert solver.best_y < 1e-12


def test_a_step_below_the_spacing_of_doubles_ends_the_run() -> None:
    # at 1 the doubles are 2.2e-16 apart, and |x - 1| keeps falling until there
    solver = run(CasMore(np.full(2, 3.0), 1.0, seed=1, tolerance_f=0.0, tolerance_step=0.0),
                 lambda X: np.abs(X - 1).sum(axis=1))  # fmt: skip
    assert set(solver.stop()) & {StopReason.STEP_TOO_SMALL, StopReason.NO_PROGRESS}
    assert np.abs(solver.best_x - 1).max() < 1e-13


def test_a_small_step_ends_the_run() -> None:
    solver = run(CasMore(np.full(2, 3.0), 1.0, seed=1, tolerance_step=1e-3), sphere)
    assert StopReason.STEP_TOO_SMALL in solver.stop()
    assert solver.stop()[StopReason.STEP_TOO_SMALL] < 1e-3


def test_an_unbounded_function_ends_with_a_large_step() -> None:
    solver = run(CasMore(np.zeros(3), 1.0, seed=1), lambda X: X.sum(axis=1))
    assert StopReason.STEP_TOO_LARGE in solver.stop()


def test_an_ill_conditioned_function_ends_by_the_condition_number() -> None:
    solver = run(CasMore(np.ones(3), 1.0, seed=1, maximal_condition=1e4), ellipsoid)
    assert StopReason.CONDITION in solver.stop()
    assert solver.stop()[StopReason.CONDITION] > 1e4


_NO_PROGRESS, _DEGENERATE = (
    {StopReason.NO_PROGRESS},
    {StopReason.STEP_TOO_SMALL, StopReason.STEP_TOO_LARGE, StopReason.CONDITION},
)


@BOTH
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(
    ("f", "reasons"),
    [
        (lambda X: X[:, 0].clip(-10, 10) * 1e307, _NO_PROGRESS),
        (lambda X: -np.exp(np.abs(X).sum(axis=1).clip(max=700)), _NO_PROGRESS),
        (lambda X: 1e-320 * (X**2).sum(axis=1), _NO_PROGRESS),
        (lambda X: np.random.default_rng(len(X)).standard_cauchy(len(X)), _DEGENERATE),
        (lambda X: np.where(X.sum(axis=1) > 0, 1.0, 0.0), _NO_PROGRESS),
        (lambda X: 1 / np.abs(X).min(axis=1), {StopReason.STEP_TOO_LARGE}),
    ],
    ids=["huge", "exploding", "denormal", "cauchy", "step", "poles"],
)
def test_a_run_ends_with_the_right_reason_never_with_an_exception(
    f: Any, reasons: set[StopReason], n: int, algorithm: type[CasMore]
) -> None:
    solver = run(algorithm(np.full(n, 0.3), 1.0, seed=1), f, 3000)
    assert solver.iterations < 3000
    assert set(solver.stop()) <= reasons
    assert np.isfinite(solver.mean).all()
    assert np.isfinite(solver.distribution.factor).all()


@BOTH
@pytest.mark.parametrize("n", [2, 5])
def test_points_told_with_a_coordinate_kept_fixed_converge_in_the_others(
    n: int, algorithm: type[CasMore]
) -> None:
    """The model says nothing of that coordinate, where rounding errors decided."""
    solver = algorithm(np.zeros(n), 0.5, seed=1)
    while not solver.stop() and solver.evaluations < 5000:
        X = solver.ask()
        X[:, 0] = 0.5
        solver.tell(X, ellipsoid(X - 1))
    assert solver.best_x == pytest.approx([0.5, *np.ones(n - 1)], abs=1e-6)
    assert np.abs(solver.mean[0]) < 1  # no reason to go anywhere


def test_a_constant_function_moves_nothing_whatever_the_normalization() -> None:
    for how in ("none", "standard", "robust"):
        solver = CasMore(np.ones(3), 0.5, seed=1, target_normalization=how)
        run(solver, lambda X: np.full(len(X), 1e6), 10)
        assert solver.mean.tolist() == [1, 1, 1]
        assert solver.distribution.covariance == pytest.approx(0.25 * np.eye(3))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_without_normalization_an_offset_changes_nothing(offset: float) -> None:
    solver = CasMore(
        np.full(3, 2.0), 1.0, seed=1, target=offset + 1e-3, target_normalization="none"
    )
    run(solver, lambda X: sphere(X) + offset, 100)
    assert StopReason.TARGET in solver.stop()
    assert solver.evaluations < 300
