"""What all sessions of a run have in common: its config, and the version of COCO that logs it."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time
from importlib import metadata
from itertools import islice
from typing import Any

from casmore.atomic_io import DamagedFileError, read_json, write_json
from casmore.experiments.config.base import Experiment
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.store.toml_values import canonical, from_json, to_json

_ADVICE = (
    "Give another folder with --out (or another name in the config), change the config back, or "
    "delete the folder."
)
_NOT_GIVEN = object()
_SAMPLES = 100  # number of unit records that are read if the config's record is lost
_COCO = "coco-experiment"


class ConfigChangedError(ValueError):
    """The folder contains a run of another config."""


class LoggerChangedError(ValueError):
    """The units in the folder were logged by another version of COCO."""


def agree_on_config(folder: RunFolder, config: Experiment) -> None:
    """Record the config, or check that it equals the recorded one.

    A missing or damaged record is written again if the units in the folder belong to this config.

    Raises
    ------
    ConfigChangedError
        If the recorded config differs; the message lists the differences.
    """
    document = config.document()
    with folder.alone("config"):  # shards may start at the same time
        try:
            recorded = from_json(read_json(folder.config))
        except (FileNotFoundError, ValueError) as error:
            if any(digest != config.digest for digest in _digests(folder)):
                missing = isinstance(error, FileNotFoundError)
                problem = f"{folder.config} is missing" if missing else str(error)
                raise ConfigChangedError(
                    f"{problem}.\nThe units in {folder.root} are of another config than this one. "
                    f"{_ADVICE}"
                ) from error
            write_json(folder.config, to_json(document))
            return
    differences = _differences(recorded, document)
    if differences:
        raise ConfigChangedError(
            "\n".join(
                [
                    f"{folder.root} holds a run of another config:",
                    *(f"  {line}" for line in differences),
                    _ADVICE,
                ]
            )
        )


def agree_on_coco(folder: RunFolder) -> None:
    """Check that COCO's package has the version that has logged the units in the folder.

    Each log names the version, and logs of different versions can't be merged.

    Raises
    ------
    LoggerChangedError
        If it has another version; the message says which one to install.
    """
    installed = metadata.version(_COCO)
    for versions in _entries(folder, "versions"):
        logged = versions.get(_COCO) if isinstance(versions, dict) else None
        if logged not in (None, installed):
            raise LoggerChangedError(
                f"{folder.root} has units that were logged with {_COCO} {logged}, and {installed} "
                f"is installed, whose logs can't be merged with them. To resume the run, install "
                f"the former: pip install {_COCO}=={logged}. To begin a new one, give another "
                "folder with --out."
            )


def _digests(folder: RunFolder) -> Iterator[str]:
    """Yield the config digests in the other readable records of the folder."""
    with suppress(OSError, DamagedFileError):
        digest = read_json(folder.manifest).get("config_digest")
        if isinstance(digest, str):
            yield digest
    yield from (found for found in _entries(folder, "config") if isinstance(found, str))


def _entries(folder: RunFolder, key: str) -> Iterator[Any]:
    """Yield an entry of the readable records of some units."""
    for unit in islice(folder.published(), _SAMPLES):
        with suppress(OSError, DamagedFileError):
            yield read_json(folder.sidecar(unit)).get(key)


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Return a line for each value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in [*old, *(key for key in new if key not in old)]:
            below = f"{path}.{key}" if path else key
            lines += _differences(old.get(key, _NOT_GIVEN), new.get(key, _NOT_GIVEN), below)
        return lines
    if _is_list(old) and _is_list(new) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in _differences(a, b, f"{path}[{i}]")]
    if _NOT_GIVEN not in (old, new) and canonical(old) == canonical(new):
        return []
    return [f"{path}: {_shown(old)} there, {_shown(new)} now"]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _shown(value: Any) -> str:
    if value is _NOT_GIVEN:
        return "not given"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return repr(list(value) if isinstance(value, tuple) else value)
