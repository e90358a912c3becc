"""Conversion of users' numbers: floats keep their values, everything else is an error."""

import datetime
import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from casmore.algorithms.real_numbers import real_array


class HasFloat:
    def __float__(self) -> float:
        return 2.5


class Fails:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("detach it first")

    def __repr__(self) -> str:
        raise RuntimeError("no representation either")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, 3.0),
        (np.float32(0.5), 0.5),
        (np.int8(-4), -4.0),
        (fractions.Fraction(1, 4), 0.25),
        (decimal.Decimal("0.5"), 0.5),
        (HasFloat(), 2.5),
        ([1, 2.5], [1.0, 2.5]),
        (2**70, float(2**70)),
        ([2**70, np.float32(1.5)], [float(2**70), 1.5]),
        (np.ma.masked_array([1.0, 2.0], mask=False), [1.0, 2.0]),
        (-math.inf, -math.inf),
    ],
)
def test_real_numbers_keep_their_values(given: Any, expected: Any) -> None:
    result = real_array(given, "y")
    assert type(result) is np.ndarray
    assert result.dtype == np.float64
    assert result.tolist() == expected


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
@pytest.mark.parametrize(
    "given",
    [
        None,
        "1.0",
        b"1",
        1 + 0j,
        np.complex128(1),
        [1.0, 2j],
        [1.0, None],
        np.ma.masked,
        np.ma.masked_array([1.0, 2.0], mask=[False, True]),
        [1.0, np.ma.masked],
        [[1.0], [np.ma.masked]],
        np.array([1.0, np.complex64(2)], dtype=object),
        datetime.timedelta(1),
        np.timedelta64(1, "s"),
        np.datetime64("2020-01-01"),
        {"value": 1.0},
        object(),
        10**400,
        [[1.0], [1.0, 2.0]],
        Fails(),
    ],
)
def test_what_is_no_real_number_is_refused_by_name(given: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="the value of f"):
        real_array(given, "the value of f")


@given(st.lists(st.floats(allow_nan=False), max_size=5))
def test_the_result_shares_no_memory(values: list[float]) -> None:
    array = np.array(values)
    converted = real_array(array, "y")
    assert converted.tolist() == values
    assert not np.shares_memory(converted, array)
