"""What a person calls."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, rosen

import casmore
from casmore import StopReason

Array = NDArray[np.float64]


def sphere(x: Array) -> float:
    return float(((x - 1) ** 2).sum())


def test_it_finds_the_minimum_of_rosenbrock() -> None:
    result = casmore.fmin(rosen, np.zeros(5), 0.5, target=1e-10, seed=3)
    assert result.success
    assert result.fun == rosen(result.x) <= 1e-10
    assert result.x == pytest.approx(np.ones(5), abs=1e-4)
    assert result.stop == {StopReason.TARGET: result.fun}
    assert result.message == "target reached"
    assert result.cov.shape == (5, 5)
    assert result.mean == pytest.approx(np.ones(5), abs=1e-3)


@pytest.mark.parametrize("lean", [False, True])
def test_under_noise_the_mean_is_recommended_with_its_value_and_error(lean: bool) -> None:
    noise = np.random.default_rng(5)

    def f(x: Array) -> float:
        return sphere(x) + float(noise.standard_normal())

    seen: list[OptimizeResult] = []
    result = casmore.fmin(
        f, np.full(3, 3.0), 1.0, budget=800, seed=2, noise="auto", lean=lean, callback=seen.append
    )
    assert "'mean' is the recommended point" in result.message
    assert result.fun < -1  # luck: no point has such a value
    assert sphere(result.mean) < sphere(result.x)
    assert abs(result.mean_value - sphere(result.mean)) < 3 * result.mean_error
    assert 0 < result.mean_error < 1  # that of a single evaluation
    assert seen[-1].mean_value == result.mean_value


def test_of_too_few_samples_the_value_at_the_mean_is_unknown() -> None:
    result = casmore.fmin(sphere, np.zeros(3), 0.5, budget=3, seed=2)
    assert math.isnan(result.mean_value)
    assert math.isnan(result.mean_error)


def test_without_noise_the_value_at_the_mean_is_that_of_f() -> None:
    result = casmore.fmin(sphere, np.zeros(3), 0.5, target=1e-6, seed=2)
    assert result.message == "target reached"
    assert result.mean_value == pytest.approx(sphere(result.mean), abs=1e-10)
    assert result.mean_error < 1e-10


def test_the_lean_variant_needs_fewer_evaluations() -> None:
    plain, lean = (
        casmore.fmin(rosen, np.zeros(4), 0.5, target=1e-9, seed=1, lean=lean)
        for lean in (False, True)
    )
    assert plain.success
    assert lean.success
    assert lean.nfev < 0.75 * plain.nfev
    with pytest.raises(TypeError, match="injection_radius"):
        casmore.fmin(rosen, np.zeros(4), 0.5, injection_radius=1.0)


def test_evaluations_are_counted_and_the_budget_is_kept_to_the_last_one() -> None:
    calls: list[float] = []

    def f(x: Array) -> float:
        calls.append(sphere(x))
        return calls[-1]

    result = casmore.fmin(f, [5.0, 5.0, 5.0], 1.0, budget=37, seed=1)
    assert len(calls) == result.nfev == 37
    assert result.nit == math.ceil(37 / 7)
    assert result.fun == min(calls)
    assert not result.success
    assert StopReason.BUDGET in result.stop


def test_a_batch_gives_the_same_run_as_single_points() -> None:
    one = casmore.fmin(lambda x: x @ x, np.ones(3), 1.0, budget=200, seed=4)
    batch = casmore.fmin(
        lambda X: np.array([x @ x for x in X]), np.ones(3), 1.0, budget=200, seed=4, vectorized=True
    )
    assert (one.mean == batch.mean).all()
    assert one.fun == batch.fun


def test_convergence_without_a_target_is_success() -> None:
    result = casmore.fmin(sphere, np.zeros(3), 1.0, seed=1)
    assert result.success
    assert StopReason.NO_PROGRESS in result.stop
    assert result.fun < 1e-12


def test_the_end_of_a_noisy_search_is_success() -> None:
    rng = np.random.default_rng(1)
    result = casmore.fmin(
        lambda x: sphere(x) + rng.standard_normal(),
        [3.0, 3.0],
        1.0,
        noise="auto",
        lean=True,
        seed=1,
    )
    assert list(result.stop) == [StopReason.STAGNATION]
    assert result.success
    assert sphere(result.mean) < 0.1  # a tenth of the noise


def test_convergence_short_of_the_target_is_none() -> None:
    result = casmore.fmin(sphere, np.zeros(3), 1.0, seed=1, target=-1.0)
    assert not result.success


def test_convergence_before_a_restart_is_success() -> None:
    call: dict[str, Any] = {"x0": np.zeros(3), "sigma0": 1.0, "restarts": "ipop", "seed": 1}
    result = casmore.fmin(sphere, **call, budget=3000)
    assert result.success
    assert result.restarts > 0
    assert list(result.stop) == [StopReason.BUDGET]
    assert not casmore.fmin(sphere, **call, budget=50).success  # it has not converged yet


def test_restarts_double_the_population_and_keep_the_best() -> None:
    batches: list[int] = []
    values: list[float] = []

    def two_funnels(X: Array) -> Array:
        batches.append(len(X))
        y: Array = np.minimum(((X - 2) ** 2).sum(axis=1) + 1, (X**2).sum(axis=1))
        values.extend(y)
        return y

    result = casmore.fmin(
        two_funnels, np.full(3, 2.0), 1.5, restarts="ipop", budget=30_000, target=1e-8, seed=1,
        vectorized=True,
    )  # fmt: skip
    assert result.restarts >= 1
    assert result.nfev == len(values)
    assert result.nit == len(batches)
    assert result.fun == min(values)
    sizes = list(dict.fromkeys(batches[:-1]))
    assert sizes == [7 * 2**i for i in range(result.restarts + 1)]
    assert result.success


def test_bipop_goes_on_until_the_budget_is_spent() -> None:
    sizes: set[int] = set()

    def rippled(X: Array) -> Array:
        sizes.add(len(X))
        y: Array = (X**2 + 10 - 10 * np.cos(2 * np.pi * X)).sum(axis=1)
        return y

    result = casmore.fmin(
        rippled, np.full(4, 3.0), 1.0, restarts="bipop", budget=12_000, seed=1, target=-1.0,
        vectorized=True,
    )  # fmt: skip
    assert result.restarts >= 3
    assert result.nfev == 12_000
    # sizes between the doubled ones are those of the small regime
    assert {8, 16} <= sizes
    assert any(size not in {8 * 2**i for i in range(10)} for size in sizes)


def test_the_callback_sees_the_run_and_can_end_it() -> None:
    seen: list[OptimizeResult] = []

    def callback(result: OptimizeResult) -> bool:
        seen.append(result)
        return len(seen) == 5

    result = casmore.fmin(sphere, np.zeros(2), 1.0, callback=callback, seed=1)
    assert result.nit == len(seen) == 5
    assert StopReason.CALLBACK in result.stop
    assert [r.nfev for r in seen] == [6, 12, 18, 24, 30]

    def stop_at_once(result: OptimizeResult) -> None:
        raise StopIteration

    assert casmore.fmin(sphere, np.zeros(2), 1.0, callback=stop_at_once).nit == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_was_evaluated_before_an_exception_is_kept(error: type[BaseException]) -> None:
    values: list[float] = []

    def f(x: Array) -> float:
        if len(values) == 45:
            raise error
        values.append(sphere(x))
        return values[-1]

    with pytest.raises(error) as caught:
        casmore.fmin(f, np.zeros(4), 1.0, seed=1)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.nfev == 45
    assert result.fun == min(values)
    assert sphere(result.x) == result.fun
    assert repr(result.fun) in caught.value.__notes__[0]


def test_the_objective_cannot_change_the_solvers_points() -> None:
    def spoil(x: Array) -> float:
        value = sphere(x)
        x[:] = 99
        return value

    kept = casmore.fmin(sphere, np.zeros(2), 1.0, budget=100, seed=2)
    spoilt = casmore.fmin(spoil, np.zeros(2), 1.0, budget=100, seed=2)
    assert (kept.x == spoilt.x).all()


def test_importing_casmore_needs_numpy_and_scipy_alone() -> None:
    script = (
        "import sys; import numpy, scipy.linalg, scipy.optimize; before = set(sys.modules);"
        "import casmore; print(*{m.split('.')[0] for m in set(sys.modules) - before})"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    new = set(out.stdout.split()) - set(sys.stdlib_module_names)
    assert new <= {"casmore", "numpy", "scipy"}, new


@pytest.mark.parametrize(
    ("n", "settings", "says"),
    [
        (5, {}, ""),
        (5, {"richest_model": "diagonal"}, ""),
        (12, {"queue_size": 100}, "the model was diagonal: queue_size is too small"),
        (150, {}, "the model was diagonal: n is too large"),
    ],
)
def test_the_message_says_where_the_model_is_not_full(
    n: int, settings: dict[str, Any], says: str
) -> None:
    result = casmore.fmin(lambda x: (x**2).sum(), np.ones(n), 0.5, seed=1, budget=50, **settings)
    assert ("the model was" in result.message) == bool(says)
    assert says in result.message
