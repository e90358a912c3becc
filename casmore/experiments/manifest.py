"""The manifest of a run: versions, machine, git commit, and each session."""

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any
from uuid import uuid4

from casmore.atomic_io import DamagedFileError, read_json, write_json
from casmore.experiments import kernels
from casmore.experiments.config.base import Experiment
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.store.toml_values import to_json

_PACKAGES = (
    "casmore",
    "numpy",
    "scipy",
    "coco-experiment",
    "cma",
    "cmaes",
    "PyBrain2",
    "gymnasium",
    "mujoco",
    "loky",
    "threadpoolctl",
)
_TASK = "manifest"
_SEEDS = (
    "A unit's randomness comes from numpy.random.SeedSequence([seed, key]): seed is the config's, "
    "key the first 16 bytes, big-endian, of the SHA-256 of 'LABEL/fFFF_dDD_iIII_rR'. Both numbers "
    "are in each unit.json as seed_entropy."
)


def versions() -> dict[str, str]:
    """Return the versions of all packages on which the results depend."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


class SessionRecord:
    """A session's record in the manifest, and what its user is told.

    Parameters
    ----------
    record
        The record; what is put into it is written when the session ends.
    tell
        Called with each note.
    """

    def __init__(self, record: dict[str, Any], tell: Callable[[str], object]) -> None:
        self.record = record
        self._tell = tell
        self._others: list[dict[str, Any]] = []

    def note(self, text: str) -> None:
        """Record a note and tell it, once."""
        if text not in self.record["notes"]:
            self.record["notes"].append(text)
            self._tell(text)

    def compare_with(self, sessions: Iterable[dict[str, Any]]) -> None:
        """Compare the kernels of this session, now and from now on, with those of others."""
        self._others = [
            found
            for session in sessions
            if session.get("id") != self.record["id"]
            for found in session.get("kernels", [])
        ]
        for found in self.record["kernels"]:
            self._compare(found, self._others)

    def expect_kernels(self, found: dict[str, Any]) -> None:
        """Note if units computed with these kernels and the others' differ in their last digits."""
        self._compare(found, [*self._others, *self.record["kernels"]])

    def _compare(self, found: dict[str, Any], others: Iterable[dict[str, Any]]) -> None:
        for other in others:
            if other != found:
                self.note(
                    "the units of this run are computed with different kernels "
                    f"({kernels.difference(other, found)}), so their last digits differ, and then "
                    "their trajectories; [run] portable = true lets all x86-64 machines use the "
                    "same"
                )

    def add_kernels(self, found: dict[str, Any]) -> None:
        """Record the kernels that a unit was computed with."""
        if found not in self.record["kernels"]:
            self.expect_kernels(found)
            self.record["kernels"].append(found)


@contextmanager
def session(
    folder: RunFolder,
    config: Experiment,
    *,
    workers: int,
    tell: Callable[[str], object] = lambda note: None,
) -> Iterator[SessionRecord]:
    """Record a session in the run's manifest: when it begins, and how it ended.

    A session that was killed has no ``finished``. Shards have sessions at the same time.

    Parameters
    ----------
    folder
        The run's folder.
    config
        The experiment.
    workers
        Number of units that are run at a time.
    tell
        Called with what the user should know: that the manifest was damaged, or that the run mixes
        kernels.
    """
    record: dict[str, Any] = {
        "id": uuid4().hex,
        "command": shlex.join(sys.argv),
        "folder": _working_folder(),
        "share": folder.share,
        "started": _now(),
        "workers": workers,
        "backend": config.run.backend,
        "portable": config.run.portable,
        "pid": os.getpid(),
        "versions": versions(),
        "machine": _machine(),
        "kernels": [],
        "git": _git(),
        "notes": [],
    }
    session = SessionRecord(record, tell)
    with folder.alone(_TASK):
        manifest = _read(folder, config, session)
        session.compare_with(manifest["sessions"])
        manifest["sessions"].append(record)
        write_json(folder.manifest, manifest)
    began = time.monotonic()
    try:
        yield session
    except BaseException as error:
        record["ended_by"] = type(error).__name__
        raise
    finally:
        record["finished"] = _now()
        # monotonic: the system's clock may be set while the session runs
        record["seconds"] = round(time.monotonic() - began, 3)
        with folder.alone(_TASK):
            manifest = _read(folder, config, session)
            session.compare_with(manifest["sessions"])  # shards may have ended meanwhile
            sessions = {s.get("id"): s for s in manifest["sessions"]}
            manifest["sessions"] = list({**sessions, record["id"]: record}.values())
            write_json(folder.manifest, manifest)


def _read(folder: RunFolder, config: Experiment, session: SessionRecord) -> dict[str, Any]:
    """Return the manifest; a new one if it is missing or damaged."""
    new = {
        "name": config.name,
        "config": to_json(config.document()),
        "config_digest": config.digest,
        "seeds": _SEEDS,
        "sessions": [],
    }
    try:
        manifest = read_json(folder.manifest)
        sessions = manifest.get("sessions")
        if not isinstance(sessions, list) or not all(isinstance(s, dict) for s in sessions):
            raise DamagedFileError(folder.manifest, "it has no list of sessions")
    except FileNotFoundError:
        return new
    except DamagedFileError as error:
        session.note(f"{error}; it is now {folder.set_manifest_aside()}")
        return new
    return manifest


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # deleted
        return ""


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _machine() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": kernels.processor(),
        "cores": os.cpu_count(),
    }


def _git() -> dict[str, Any] | None:
    """Commit of the source this package runs from; None for an installed package."""
    source = Path(__file__).resolve().parents[2]
    if not (source / ".git").exists():
        return None
    try:
        return {
            "commit": _git_output(source, "rev-parse", "HEAD"),
            "changed": bool(_git_output(source, "status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.CalledProcessError):
        return None


def _git_output(source: Path, *arguments: str) -> str:
    command = ["git", "-C", str(source), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
