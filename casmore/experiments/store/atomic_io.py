"""Atomic writes: after a crash a file has its old content or the new one, never a part of it."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

_ROOM = 2**23  # bytes: more than the workers of a machine have in work at a time


class DiskFullError(OSError):
    """Nothing more can be written, or so little that one can't rely on it."""


def check_room(folder: Path) -> None:
    """Check that there is room on the disk of ``folder``, if it tells.

    Raises
    ------
    DiskFullError
        If less than 8 MiB are left.
    """
    disk = shutil.disk_usage(folder)
    if disk.free < _ROOM and disk.total > 0:  # 0: a network's or user's file system may not know
        raise DiskFullError(f"there is no space left on the disk of {folder}; make some")


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` in one atomic step; missing parent folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    sync(temporary)
    os.replace(temporary, path)
    sync(path.parent)


def write_text(path: Path, content: str) -> None:
    """Write ``content`` to ``path`` as UTF-8, as `write_bytes` does."""
    write_bytes(path, content.encode())


def write_json(path: Path, document: Any) -> None:
    """Write ``document`` to ``path`` as JSON, as `write_bytes` does."""
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def sync(path: Path) -> None:
    """Bring a file's content, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Bring a folder with all that is in it to the disk."""
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync(Path(root, name))
        sync(Path(root))
