"""Checkpoints: the state of a run in a file, from which the same call can resume."""

from __future__ import annotations

import io
import pickle
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from casmore.atomic_io import write_bytes
from casmore.optimize.search_run import SearchRun
from casmore.solvers.space_arguments import SearchStart

_FORMAT = 3


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


def deciding_arguments(
    run: SearchRun, method: str, start: SearchStart, seed: Any
) -> dict[str, Any]:
    """Return the arguments that a checkpoint and the call must agree on."""
    space = start.space
    return {
        "x0": space.to_user(start.u0[np.newaxis])[0].tolist(),
        "sigma0": start.sigma,
        "bounds": [space.lower.tolist(), space.upper.tolist()],
        "fixed": [None if np.isnan(v) else v for v in space.fixed.tolist()],
        "scales": None if space.factor is None else space.factor.tolist(),
        "method": method,
        "seed": int(seed) if isinstance(seed, Integral) else None if seed is None else "an object",
        "target": run.target,
        "restarts": str(run.solver.policy),
        "settings": repr(run.solver.solver.parameters),  # type: ignore[attr-defined]
    }
