"""Checkpoints: the state of a run in a file, from which the same call can resume."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

from casmore.atomic_io import write_bytes
from casmore.optimize.search_run import SearchRun

_FORMAT = 2


class CheckpointError(ValueError):
    """A checkpoint can't be used: it is damaged, or belongs to another call."""


class Checkpoint:
    """A file that holds the state of a run after each iteration.

    Parameters
    ----------
    path
        The file; it is replaced atomically.
    call
        The arguments that determine the run, by name; a checkpoint of another call is refused.
    """

    def __init__(self, path: str | Path, call: dict[str, Any]) -> None:
        self.path, self._call = Path(path).absolute(), call  # f may change the current folder

    def load(self) -> SearchRun | None:
        """Return the saved run; None if there is no file.

        Raises
        ------
        CheckpointError
            If the file is damaged, or belongs to a call with other arguments.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            document = pickle.loads(content)
            version, call, run = document["format"], document["call"], document["run"]
        except Exception as error:
            raise CheckpointError(
                f"{self.path} is not a checkpoint of this version, or damaged ({error}); "
                "remove it to start again"
            ) from error
        if version != _FORMAT or not isinstance(run, SearchRun):
            raise CheckpointError(f"{self.path} is of another version; remove it to start again")
        for name, value in self._call.items():
            if call.get(name) != value:
                raise CheckpointError(
                    f"{self.path} belongs to a call with {name} = {call.get(name)}, not {value}; "
                    "remove it, or give another file"
                )
        return run

    def save(self, run: SearchRun) -> None:
        """Write the state of the run."""
        content = io.BytesIO()
        document = {"format": _FORMAT, "call": self._call, "run": run}
        pickle.dump(document, content, protocol=pickle.HIGHEST_PROTOCOL)
        write_bytes(self.path, content.getvalue())
