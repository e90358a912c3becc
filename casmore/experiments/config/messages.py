"""pydantic's errors in the words of somebody who wrote a TOML file."""

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ValidationError


def validation_messages(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return a line for each error: the key with its path, its value, what would be right."""
    lines: list[str] = []
    for detail in error.errors():
        line = _message(detail, model)
        if line not in lines:  # the members of a union complain each for itself
            lines.append(line)
    return lines


def _message(detail: Any, model: type[BaseModel]) -> str:
    location, value = detail["loc"], detail["input"]
    path, fields = _follow(location, model)
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(location[-1]), fields, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(fields)}"
        return f"{path} = {value!r}: there is no such key; {hint}"
    if detail["type"] == "missing":
        return f"{path}: missing; it has no default"
    if detail["type"] in ("model_type", "model_attributes_type"):
        return f"{path} = {value!r}: this is a section with keys ({', '.join(fields)}), not a value"
    own = "Value error, "
    message = detail["msg"]
    message = message.removeprefix(own) if message.startswith(own) else _begin_small(message)
    if isinstance(value, dict):  # a rule between the keys of a section: it names them itself
        return f"{path}: {message}"
    return f"{path} = {value!r}: {message}"


def _begin_small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _follow(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, list[str]]:
    """Return the key's path as written in TOML, and the keys known beside it (or within it)."""
    path = ""
    current: type[BaseModel] | None = model
    known = list(model.model_fields)
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        if current is None:
            break  # below a value: pydantic's own names for the members of a union
        path += f".{part}" if path else part
        known = list(current.model_fields)
        field = current.model_fields.get(part)
        current = _section(field.annotation) if field else None
    return path, list(current.model_fields) if current else known


def _section(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _section(arg))), None)
