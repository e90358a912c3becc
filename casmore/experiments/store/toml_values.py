"""The values of TOML as JSON and back, without loss.

JSON has no infinity, no NaN, no dates and no times. Each of these becomes an object with one key:
``{"$float": "-inf"}``, ``{"$date": "2024-02-29"}``, ``{"$time": "07:32:00"}``,
``{"$datetime": "2024-02-29T07:32:00+00:00"}``. A table that could be taken for one of these, since
one of its keys begins with ``$``, is wrapped: ``{"$table": {...}}``.
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
_INTEGERS = range(-(2**63), 2**63)  # those of TOML


def to_json(value: Any) -> Any:
    """Return a value of TOML as what `json.dumps` writes; tuples become lists.

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
    """Return the value of TOML that `to_json` has written.

    Raises
    ------
    ValueError
        If `to_json` does not write this.
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
    """Return a text that is the same for two values of TOML if and only if they are the same.

    The order of a table's keys makes no difference; 1, 1.0 and true are three values, and NaN is
    the same as NaN.
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
        case datetime():  # before date, of which it is a kind
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
