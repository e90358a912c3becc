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

from casmore.experiments.durable import read_json, write_json

_PACKAGES = ("casmore", "numpy", "scipy", "coco-experiment", "cma", "joblib", "threadpoolctl")


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
def session(path: Path, *, name: str, workers: int) -> Iterator[dict[str, Any]]:
    """Record a session in the manifest at ``path``: when it begins, and how it ended.

    Yields the session's record; what is put into it is written in the end. A session that was
    killed has no ``finished``.
    """
    manifest: dict[str, Any] = {"name": name, "sessions": []}
    if path.exists():
        manifest = read_json(path)
    record: dict[str, Any] = {
        "command": shlex.join(sys.argv),
        "started": _now(),
        "workers": workers,
        "pid": os.getpid(),
        "versions": versions(),
        "machine": _machine(),
        "git": _git(),
    }
    manifest["sessions"].append(record)
    write_json(path, manifest)
    try:
        yield record
    except BaseException as error:
        record["ended_by"] = type(error).__name__
        raise
    finally:
        record["finished"] = _now()
        write_json(path, manifest)


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
