"""What f returns and raises, and whose memory it sees."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

import casmore

Array = NDArray[np.float64]


def sphere(x: Array) -> float:
    return float(((x - 1) ** 2).sum())


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.dates(),
    st.timedeltas(),
    st.decimals(),
    st.fractions(),
    st.sampled_from([np.ma.masked, np.float32(1.5), np.complex64(1), np.str_("1"), object()]),
)


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
@settings(max_examples=300, deadline=None)
@given(st.recursive(values | values.map(np.array), lambda inside: st.lists(inside, max_size=3)))
def test_any_return_value_is_a_number_or_a_clear_error(value: Any) -> None:
    message, result = "", None
    try:
        result = casmore.fmin(lambda x: value, [0.0, 0.0], 1.0, budget=3, seed=1)
    except (TypeError, ValueError) as error:
        message = str(error)
    if result is None:
        assert message.startswith(("f returned", "f must return", "what f returns"))
        return
    flat = np.asarray(value)
    assert flat.size == 1
    number = float(flat.item())
    assert result.fun == (math.inf if math.isnan(number) else number)


def test_a_forgotten_return_is_named() -> None:
    with pytest.raises(TypeError, match=r"f returned None.*is a return missing"):
        casmore.fmin(lambda x: None, [0.0], 1.0)
    with pytest.raises(TypeError, match="what f returns"):
        casmore.fmin(lambda X: [None] * len(X), [0.0], 1.0, vectorized=True)


@pytest.mark.parametrize("vectorized", [False, True])
def test_f_may_work_in_place(vectorized: bool) -> None:
    def f(X: Array) -> Any:
        X -= 1
        X **= 2
        return X.sum(axis=-1)

    result = casmore.fmin(f, np.zeros(3), 0.5, seed=1, vectorized=vectorized, target=1e-8)
    assert result.success
    assert sphere(result.x) == result.fun


def test_f_may_keep_and_change_what_it_was_given_and_returned() -> None:
    seen: list[Array] = []

    def f(X: Array) -> Array:
        for array in seen:
            array[:] = 7.0
        y: Array = ((X - 1) ** 2).sum(axis=1)
        seen.extend([X, y])
        return y

    def plain(X: Array) -> Array:
        y: Array = ((X - 1) ** 2).sum(axis=1)
        return y

    spoilt, kept = (
        casmore.fmin(g, np.zeros(2), 0.5, budget=300, seed=1, vectorized=True) for g in (f, plain)
    )
    assert (spoilt.x == kept.x).all()
    assert spoilt.fun == kept.fun


def test_the_callback_can_not_change_the_run() -> None:
    x0 = np.zeros(3)

    def spoil(result: OptimizeResult) -> None:
        for name in ("x", "mean", "cov"):
            result[name][:] = 7.0
        result.stop[casmore.StopReason.TARGET] = 0.0
        result.fun = -math.inf

    spoilt = casmore.fmin(sphere, x0, 0.5, budget=300, seed=1, callback=spoil, trace=True)
    kept = casmore.fmin(sphere, x0, 0.5, budget=300, seed=1)
    assert x0.tolist() == [0.0, 0.0, 0.0]
    for name in ("x", "fun", "mean", "cov", "nfev"):
        assert np.array_equal(spoilt[name], kept[name]), name
    spoilt.trace["f_best"][:] = 7.0
    assert spoilt.trace["f_best"][-1] == kept.fun


@dataclasses.dataclass(frozen=True)
class FrozenError(Exception):
    code: int


class OwnResultError(Exception):
    def __init__(self) -> None:
        self.result = "mine"


class StubbornError(Exception):
    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError("no")

    @property
    def result(self) -> str:
        raise RuntimeError("neither")


@pytest.mark.parametrize(
    "error",
    [FrozenError(3), OwnResultError(), StubbornError(), KeyError(1), StopIteration(2)],
    ids=repr,
)
@pytest.mark.parametrize("times", [1, 2])
def test_the_users_exception_stays_the_users(error: Exception, times: int) -> None:
    for _ in range(times):
        evaluations = 0

        def f(x: Array) -> float:
            nonlocal evaluations
            evaluations += 1
            if evaluations > 20:
                raise error
            return sphere(x)

        with pytest.raises(type(error)) as caught:
            casmore.fmin(f, np.zeros(2), 0.5, seed=1)
        assert caught.value is error
    if isinstance(error, OwnResultError):
        assert error.result == "mine"
    elif not isinstance(error, StubbornError):
        assert error.result.nfev == 20  # type: ignore[attr-defined]


def test_further_arguments_are_handed_to_f() -> None:
    result = casmore.fmin(
        lambda x, a, b: a * ((x - b) ** 2).sum(), np.zeros(2), 0.5, args=(3.0, 2.0), seed=1
    )
    assert result.x == pytest.approx([2, 2], abs=1e-5)
