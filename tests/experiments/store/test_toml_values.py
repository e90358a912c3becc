"""Every value of TOML survives JSON, with its type."""

import json
import math
from datetime import date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from toml_strategies import SCALARS, VALUES

from casmore.experiments.store.toml_values import canonical, from_json, to_json


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    text = json.dumps(to_json(value), allow_nan=False)  # the strict JSON that others read
    # repr tells 1 from 1.0 and True, -0.0 from 0.0, a date from its text; NaN is written as nan
    assert repr(from_json(json.loads(text))) == repr(value)


@given(SCALARS, SCALARS)
def test_a_canonical_text_stands_for_one_value(a: Any, b: Any) -> None:
    assert (canonical(a) == canonical(b)) == (repr(a) == repr(b))
    assert canonical({"a": a, "b": b}) == canonical({"b": b, "a": a})
    assert canonical((a, b)) == canonical([a, b])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.inf, {"$float": "inf"}),
        (-math.inf, {"$float": "-inf"}),
        (math.nan, {"$float": "nan"}),
        (date(2024, 2, 29), {"$date": "2024-02-29"}),
        (time(7, 32), {"$time": "07:32:00"}),
        (datetime(2024, 2, 29, 7), {"$datetime": "2024-02-29T07:00:00"}),
        ({"$date": "2024-02-29"}, {"$table": {"$date": "2024-02-29"}}),
    ],
)
def test_how_it_is_written(value: Any, written: Any) -> None:
    assert to_json(value) == written


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({1, 2}, TypeError),
        ([1j], TypeError),
        ({"a": object()}, TypeError),
        ({1: 2}, TypeError),
        (2**63, ValueError),
        ([10**5000], ValueError),
        (_nested(100_000), ValueError),
    ],
)
def test_what_toml_does_not_have_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        to_json(value)


@pytest.mark.parametrize(
    "written", [{"$float": 1}, {"$none": "x"}, {"$date": "x"}, {"$float": "1", "a": 2}, {"$a": {}}]
)
def test_what_is_not_written_is_not_read(written: Any) -> None:
    with pytest.raises(ValueError, match=r"no value of TOML|Invalid isoformat"):
        from_json(written)
