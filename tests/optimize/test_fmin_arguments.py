"""Arguments of fmin: what is right is taken, what is wrong is named with its value."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

import casmore

Array = NDArray[np.float64]
TIMESTAMP = 1_700_000_000_000_000_000.0


def sphere(x: Array) -> float:
    return float(((x - 1) ** 2).sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"f": 3}, "f must be a function, not 3"),
        ({"callback": 3}, "callback must be a function"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"budget": "100"}, "budget must be a whole number, not '100'"),
        ({"budget": 10.5}, "budget must be a whole number, not 10.5"),
        ({"budget": math.inf}, "budget must be a whole number"),
        ({"budget": True}, "budget must be a whole number"),
        ({"restarts": "ipo"}, "restarts must be one of 'none', 'ipop', 'bipop', not 'ipo'"),
        ({"restarts": None}, "restarts must be one of 'none'"),
        ({"sigma0": -1.0}, "sigma0 must be positive and finite, not -1.0"),
        ({"sigma0": None}, "sigma0 is missing"),
        ({"sigma0": "1"}, "sigma0 must be real, not '1'"),
        ({"sigma0": [0.5, 0.5, 0.5]}, "sigma0 must be one number or one for each of the 2"),
        ({"sigma0": [0.5, 0.0]}, "sigma0 must be positive"),
        ({"x0": []}, "x0 must be a vector of at least one number"),
        ({"x0": [[1.0]]}, "x0 must be a vector"),
        ({"x0": [[1.0], [2.0, 3.0]]}, "x0 can't be read as real numbers"),
        ({"x0": None}, "x0 is missing"),
        ({"x0": ["a", "b"]}, "x0 must be real"),
        ({"x0": [1j, 0]}, "x0 must be real"),
        ({"x0": [0.0, math.nan]}, "x0 must be finite"),
        ({"x0": [1e17, 0.0]}, r"sigma0 = 1.0 is lost in rounding beside x0\[0\] = 1e\+17"),
        ({"x0": [0.0, TIMESTAMP]}, r"lost in rounding beside x0\[1\].* subtract an offset"),
        ({"target": "0"}, "target must be real"),
        ({"target": math.nan}, "target must be one number, not nan"),
        ({"seed": "one"}, "one"),
        ({"seed": -1}, "non-negative"),
        ({"vectorized": "no"}, "vectorized must be True or False, not 'no'"),
        ({"lean": 1}, "lean must be True or False, not 1"),
        ({"clip": 1.0}, "clip = 1.0 must be finite, greater than 1"),
        ({"lean": True, "injection_radius": 1e308}, r"must be in \[1e-100, 1e100\]"),
        ({"trace": "yes"}, "trace must be True or False"),
        ({"progress": None}, "progress must be True or False"),
        ({"max_seconds": 0}, "max_seconds must be a positive number"),
        ({"max_seconds": "1"}, "max_seconds must be real"),
        ({"epsilon": 1.0}, "did you mean 'epsilon_"),
        ({"bounds": [(0, 1)]}, "bounds must be 2 pairs"),
        ({"bounds": 3}, "bounds must be 2 pairs"),
        ({"bounds": [(1, -1), (-1, 1)]}, "bounds of coordinate 0: lower = 1.0 must be <= upper"),
        ({"bounds": [(1, 4), (-3, 3)]}, r"x0\[0\] = 0.0 is outside of its bounds \[1.0, 4.0\]"),
        ({"bounds": [(-1, 1), (-4, 4)], "sigma0": 1.5}, "sigma0 = 1.5 is too large for the bounds"),
        ({"fixed": {2: 1.0}}, "there is no coordinate 2; indices go from 0 to 1"),
        ({"fixed": {0: math.inf}}, r"fixed\[0\] must be one finite number"),
        ({"fixed": {0: 1.0, 1: 1.0}}, "all coordinates are fixed"),
        ({"fixed": {True: 1.0}}, "there is no coordinate True"),
        (
            {"fixed": {1: 5.0}, "bounds": [(-9, 9), (-2, 2)]},
            r"fixed\[1\] = 5.0 is outside of its bounds \[-2.0, 2.0\]",
        ),
        ({"fixed": [0]}, "fixed must map indices to values"),
        ({"cov0": np.eye(2)}, "give sigma0 or cov0, not both"),
        ({"sigma0": None, "cov0": np.eye(3)}, r"cov0 must have shape \(2, 2\)"),
        ({"sigma0": None, "cov0": [[1, 2], [2, 1]]}, "not positive definite"),
        ({"sigma0": None, "cov0": [[1, 0.5], [0, 1]]}, "not symmetric"),
        ({"history": True}, "history must be the name of a file, not True"),
        ({"checkpoint": 3}, "checkpoint must be the name of a file, not 3"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"workers": "two"}, "workers must be a whole number"),
        ({"executor": "thread"}, "executor must have a method submit"),
        ({"executor": ThreadPoolExecutor(1), "in_flight": 0}, "in_flight must be at least 1"),
        ({"vectorized": True, "in_flight": 2}, "vectorized=True .*: no in_flight"),
        ({"vectorized": True, "timeout": 2}, "vectorized=True .*: no timeout"),
        ({"vectorized": True, "workers": 2}, "vectorized=True .*: no workers"),
        ({"x0": minimize(sphere, [0.0, 0.0])}, "x0 is the result of another optimizer"),
        ({"in_flight": 4}, "in_flight and timeout need workers"),
        ({"x_known": [[0.0, 0.0]]}, "give x_known and y_known together"),
        ({"x0": None, "x_known": [[0.0, 1.0], [2.0]], "y_known": [1, 2]}, "x_known can't be read"),
        (
            {"x0": None, "x_known": [[0.0, 9.0]], "y_known": [1.0], "bounds": [(-3, 3)] * 2},
            "no point inside the bounds with a value",
        ),
        ({"x_known": [[0.0]], "y_known": [1.0]}, r"x_known must have shape \(k, 2\)"),
        ({"x_known": [[0.0, 0.0]], "y_known": [1.0, 2.0]}, r"y_known must have shape \(1,\)"),
        (
            {"x_known": [[0.0, math.nan]], "y_known": [1.0]},
            "x_known holds a point that is not finite",
        ),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"f": sphere, "x0": [0.0, 0.0], "sigma0": 1.0, **arguments}
    with pytest.raises((ValueError, TypeError), match=message):
        casmore.fmin(**call)


def test_a_whole_float_is_a_budget() -> None:
    assert casmore.fmin(sphere, [0.0, 0.0], 1.0, budget=1e2, seed=1, target=-1.0).nfev == 100


@pytest.mark.parametrize(
    "make",
    [
        lambda: 3,
        lambda: np.random.SeedSequence(3),
        lambda: np.random.default_rng(3),
        lambda: np.random.RandomState(3),
        lambda: np.random.Generator(np.random.RandomState(3)._bit_generator),
    ],
)
def test_everything_that_seeds_numpy_seeds_a_run(make: Any) -> None:
    first, second = (casmore.fmin(sphere, [0.0, 0.0], 1.0, budget=50, seed=make()) for _ in "12")
    assert (first.x == second.x).all()


def test_no_known_points_are_as_good_as_none() -> None:
    call: dict[str, Any] = {"x0": [0.0, 0.0], "sigma0": 1.0, "budget": 50, "seed": 1}
    assert casmore.fmin(sphere, **call, x_known=[], y_known=[]).fun == (
        casmore.fmin(sphere, **call).fun
    )


@pytest.mark.parametrize("run", [casmore.fmin, casmore.minimize, minimize])
def test_bounds_may_be_an_iterator(run: Any) -> None:
    call: dict[str, Any] = {"x0": [0.5, 0.5], "sigma0": 0.2, "budget": 50, "seed": 1}
    if run is minimize:
        options = {name: call.pop(name) for name in ("sigma0", "budget", "seed")}
        call |= {"method": casmore.minimize_method, "options": options}
    pairs = [(-1, 2), (0, 3)]
    assert run(sphere, **call, bounds=iter(pairs)).fun == run(sphere, **call, bounds=pairs).fun


@pytest.mark.parametrize("run", [casmore.fmin, casmore.minimize])
def test_a_seed_sequence_is_not_used_up(run: Any) -> None:
    seed = np.random.SeedSequence(3)
    f = lambda x: float(np.abs(x - 0.3).sum() ** 0.5)  # noqa: E731 - not additive
    call: dict[str, Any] = {"x0": [0.0, 0.0], "sigma0": 1.0, "budget": 300, "seed": seed}
    first, second = run(f, **call), run(f, **call)
    assert first.fun == second.fun
    assert seed.n_children_spawned == 0


@pytest.mark.parametrize("sigma0", [60.0, 1e3, 1e5, 1e8])
def test_a_search_beside_a_large_offset_gets_to_the_minimum(sigma0: float) -> None:
    """Neighboring numbers are 2 apart at 2^53, and 25 of them are the least sigma0."""
    offset, distance = 2.0**53, 2 * sigma0
    result = casmore.fmin(
        lambda x: float(((x - offset - distance) ** 2).sum()), [offset] * 3, sigma0, seed=1
    )
    assert result.success
    assert np.abs(result.x - offset - distance).max() <= 2


def test_minus_infinity_is_no_success_without_a_target() -> None:
    result = casmore.fmin(lambda x: -math.inf, [0.0, 0.0], 1.0, seed=1)
    assert not result.success
    assert casmore.StopReason.UNBOUNDED in result.stop
    assert casmore.fmin(lambda x: -math.inf, [0.0, 0.0], 1.0, target=-math.inf, seed=1).success


@pytest.mark.parametrize("restarts", ["none", "ipop"])
@pytest.mark.parametrize("target", [None, math.inf, 0.0])
def test_a_function_without_values_is_no_success(restarts: str, target: float | None) -> None:
    result = casmore.fmin(
        lambda x: math.nan, [0.0, 0.0], 1.0, target=target, restarts=restarts, budget=500, seed=1
    )
    assert not result.success
    assert result.fun == math.inf
    assert result.x.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", [-1, "1", 1.5])
def test_what_is_no_seed_is_named(seed: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=f"seed must be .*, not {seed!r}"):
        casmore.fmin(lambda x: 0.0, [1.0], 0.5, seed=seed)
