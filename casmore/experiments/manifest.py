"""The record of how a run came about: versions, machine, git commit, and each session."""

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
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


@contextmanager
def session(folder: RunFolder, config: Experiment, *, workers: int) -> Iterator[dict[str, Any]]:
    """Record a session in the run's manifest: when it begins, and how it ended.

    Yields the session's record; what is put into it is written in the end. A session that was
    killed has no ``finished``. Shards have sessions at the same time. In ``notes`` is what its
    user should know: a manifest that was damaged, or earlier sessions on other kernels.
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
        "kernels": [kernels.kernels(portable=config.run.portable)],
        "git": _git(),
        "notes": [],
    }
    with folder.alone(_TASK):
        manifest = _read(folder, config, record)
        _compare(manifest["sessions"], record)
        manifest["sessions"].append(record)
        write_json(folder.manifest, manifest)
    began = time.monotonic()
    try:
        yield record
    except BaseException as error:
        record["ended_by"] = type(error).__name__
        raise
    finally:
        record["finished"] = _now()
        # a clock that is set while the session runs has no say in this
        record["seconds"] = round(time.monotonic() - began, 3)
        with folder.alone(_TASK):
            manifest = _read(folder, config, record)
            sessions = {session.get("id"): session for session in manifest["sessions"]}
            manifest["sessions"] = list({**sessions, record["id"]: record}.values())
            write_json(folder.manifest, manifest)


def add_kernels(record: dict[str, Any], found: dict[str, Any]) -> None:
    """Add the kernels of a worker to a session's record, with a note if they are new to it."""
    known = record["kernels"]
    if found not in known:
        record["notes"].append(_warning(kernels.difference(known[0], found)))
        known.append(found)


def _compare(sessions: list[dict[str, Any]], record: dict[str, Any]) -> None:
    (mine,) = record["kernels"]
    for earlier in sessions:
        for theirs in earlier.get("kernels", []):
            if theirs != mine:
                note = _warning(kernels.difference(theirs, mine))
                if note not in record["notes"]:
                    record["notes"].append(note)


def _warning(difference: str) -> str:
    return (
        f"the units of this run are computed with different kernels ({difference}), so their last "
        "digits differ, and then their trajectories; [run] portable = true lets all x86-64 "
        "machines use the same"
    )


def _read(folder: RunFolder, config: Experiment, record: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest, a new one if there is none or a damaged one."""
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
        record["notes"].append(f"{error}; it is now {folder.set_manifest_aside()}")
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
