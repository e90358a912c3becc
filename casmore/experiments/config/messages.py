"""Validation messages: pydantic's errors as a person who wrote a TOML file can use them."""

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

_LONGEST_VALUE = 200


def validation_messages(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return a line for each error: the key with its path, its value, what would be right."""
    lines: list[str] = []
    for detail in error.errors():
        line = _message(detail, model)
        if line not in lines:  # each member of a union reports an error of its own
            lines.append(line)
    return lines


def _message(detail: Any, model: type[BaseModel]) -> str:
    location, value = detail["loc"], detail["input"]
    path, fields = _follow(location, model)
    given = f"{path} = {_shown(value)}"
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(location[-1]), fields, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(fields)}"
        return f"{given}: there is no such key; {hint}"
    if detail["type"] == "missing":
        return f"{path}: missing; it has no default"
    if detail["type"] in ("model_type", "model_attributes_type"):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return f"{path}: write [{path}], with one bracket on each side, once"
        return f"{given}: this is a section with keys ({', '.join(fields)}), not a value"
    message = _reason(detail)
    if isinstance(value, dict):  # a rule between the keys of a section: it names them itself
        return f"{path}: {message}" if path else message
    return f"{given}: {message}"


def _reason(detail: Any) -> str:
    raised = detail.get("ctx", {}).get("error")
    if isinstance(raised, ValidationError):  # of a solver that a grid or a variation has made
        return "; ".join(
            f"{'.'.join(map(str, e['loc']))} = {_shown(e['input'])}: {_reason(e)}"
            for e in raised.errors()
        )
    own = "Value error, "
    message: str = detail["msg"]
    return message.removeprefix(own) if message.startswith(own) else _begin_small(message)


def _begin_small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4300 digits
        return "an integer of thousands of digits"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _follow(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, list[str]]:
    """Return the key's path as written in TOML, and the keys known beside it (or within it)."""
    path = ""
    current: type[BaseModel] | None = model
    known = list(model.model_fields)
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        path += f".{part}" if path else part
        if current is None:  # a key of a table that may have any
            continue
        known = list(current.model_fields)
        field = current.model_fields.get(part)
        current = _section(field.annotation) if field else None
    return path, list(current.model_fields) if current else known


def _section(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _section(arg))), None)
