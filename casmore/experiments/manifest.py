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

from casmore.atomic_io import read_json, write_json
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
    """Return the versions of what has a say in the results."""
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
    killed has no ``finished``. Shards have sessions at the same time.
    """
    record: dict[str, Any] = {
        "command": shlex.join(sys.argv),
        "folder": os.getcwd(),
        "share": folder.share,
        "started": _now(),
        "workers": workers,
        "backend": config.run.backend,
        "pid": os.getpid(),
        "versions": versions(),
        "machine": _machine(),
        "git": _git(),
    }
    with folder.alone(_TASK):
        manifest = _read(folder, config)
        number = len(manifest["sessions"])
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
            manifest = _read(folder, config)
            manifest["sessions"][number] = record
            write_json(folder.manifest, manifest)


def _read(folder: RunFolder, config: Experiment) -> dict[str, Any]:
    if folder.manifest.exists():
        found: dict[str, Any] = read_json(folder.manifest)
        return found
    return {
        "name": config.name,
        "config": to_json(config.document()),
        "config_digest": config.digest,
        "seeds": _SEEDS,
        "sessions": [],
    }


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _machine() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not on Linux
        pass
    return platform.processor() or platform.machine()


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
