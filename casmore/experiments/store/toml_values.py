"""Lossless conversion of TOML values to JSON and back.

JSON has no infinity, NaN, dates or times. Each of these becomes an object with one key:
``{"$float": "-inf"}``, ``{"$date": "2024-02-29"}``, ``{"$time": "07:32:00"}``,
``{"$datetime": "2024-02-29T07:32:00+00:00"}``. A table with a key that begins with ``$``, which
could be confused with one of these, is wrapped: ``{"$table": {...}}``.
"""

import json
import math
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

_TABLE = "$table"
_READERS: dict[str, Callable[[str], object]] = {
    "$float": float,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$datetime": datetime.fromisoformat,
}
_INTEGERS = range(-(2**63), 2**63)  # range of TOML's integers


def to_json(value: Any) -> Any:
    """Convert a TOML value to one that `json.dumps` can write; tuples become lists.

    Raises
    ------
    TypeError
        If TOML has no such value.
    ValueError
        If an integer has more than 64 bits, or the value is nested too deeply.
    """
    try:
        return _to_json(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def from_json(value: Any) -> Any:
    """Convert the output of `to_json` back to a TOML value.

    Raises
    ------
    ValueError
        If `to_json` does not produce this.
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: from_json(item) for key, item in value.items()}
    ((tag, content), *others) = value.items()
    if not others and tag == _TABLE and isinstance(content, dict):
        return {key: from_json(item) for key, item in content.items()}
    if not others and tag in _READERS and isinstance(content, str):
        return _READERS[tag](content)
    raise ValueError(f"{json.dumps(value)[:60]} stands for no value of TOML")


def canonical(value: Any) -> str:
    """Return a string that is equal for two TOML values if and only if the values are equal.

    The order of a table's keys is ignored. 1, 1.0 and true are different values, and NaN equals
    NaN.
    """
    return json.dumps(to_json(value), sort_keys=True)


def _to_json(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case int():
            if value not in _INTEGERS:
                raise ValueError(f"{_shortened(value)} has more than 64 bits")
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else {"$float": str(float(value))}
        case str():
            return str(value)
        case datetime():  # before date, its base class
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": value.isoformat()}
        case list() | tuple():
            return [_to_json(item) for item in value]
        case dict():
            table = {_key(key): _to_json(item) for key, item in value.items()}
            return {_TABLE: table} if any(key.startswith("$") for key in table) else table
    raise TypeError(f"{_shortened(value)} ({type(value).__name__}) is not a value of TOML")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {_shortened(key)} is not a string")
    return str(key)


def _shortened(value: object) -> str:
    text = hex(value) if isinstance(value, int) else repr(value)  # repr refuses 4301 digits
    return text if len(text) <= 40 else f"{text[:37]}..."
