"""A run's folder belongs to one config: whoever goes on with it has to have the same."""

from typing import Any

from casmore.experiments.config.base import Experiment
from casmore.experiments.store.atomic_io import read_json, write_json
from casmore.experiments.store.run_folder import RunFolder


class ConfigChangedError(ValueError):
    """The folder holds a run of another config."""


def agree_on_config(folder: RunFolder, config: Experiment) -> None:
    """Write the config down, or make sure that it is the one written down.

    Raises
    ------
    ConfigChangedError
        If it is another one; with each difference.
    """
    document = config.document()
    with folder.alone("config"):  # shards may begin at the same time
        if not folder.config.exists():
            write_json(folder.config, document)
            return
        differences = _differences(read_json(folder.config), document)
    if differences:
        raise ConfigChangedError(
            "\n".join(
                [
                    f"{folder.root} holds a run of another config:",
                    *(f"  {line}" for line in differences),
                    "Give another folder with --out (or another name in the config), change the "
                    "config back, or delete the folder.",
                ]
            )
        )


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Return a line for each value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in [*old, *(key for key in new if key not in old)]:
            below = f"{path}.{key}" if path else key
            lines += _differences(old.get(key), new.get(key), below)
        return lines
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in _differences(a, b, f"{path}[{i}]")]
    return [] if old == new else [f"{path}: {old!r} there, {new!r} now"]
