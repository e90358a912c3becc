"""Atomic writes: after a crash a file has its old content or the new one, never a part of it."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

_ROOM = 2**23  # bytes: more than the workers of a machine write between two checks


class DiskFullError(OSError):
    """The disk is full, or nearly."""


class DamagedFileError(ValueError):
    """A file of a run's folder does not hold what was written into it."""

    def __init__(self, path: Path, problem: str, remedy: str = "") -> None:
        self.path = path
        super().__init__(f"{path} is damaged: {problem}" + (f"; {remedy}" if remedy else ""))


def check_room(folder: Path) -> None:
    """Check that there is room on the disk of ``folder``, if the file system says so.

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
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync(path.parent)


def write_text(path: Path, content: str) -> None:
    """Write ``content`` to ``path`` as UTF-8, as `write_bytes` does.

    What UTF-8 can't encode (in a file name that is not text, for example) is escaped.
    """
    write_bytes(path, content.encode(errors="backslashreplace"))


def write_json(path: Path, document: Any) -> None:
    """Write ``document`` to ``path`` as JSON, as `write_bytes` does."""
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def read_json(path: Path, *, remedy: str = "") -> dict[str, Any]:
    """Return the content of a file that `write_json` has written, an object of JSON.

    Parameters
    ----------
    path
        The file.
    remedy
        What to do if it is damaged, for the message.

    Raises
    ------
    DamagedFileError
        If it holds anything else.
    OSError
        If it can't be read at all.
    """
    content = path.read_bytes()
    try:
        document = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(path, _what_is_wrong(content, error), remedy) from error
    if not isinstance(document, dict):
        raise DamagedFileError(path, f"it holds a {type(document).__name__}", remedy)
    return document


def _what_is_wrong(content: bytes, error: Exception) -> str:
    if not content:
        return "it is empty"
    if not content.strip(b"\0"):
        return "it holds nothing but NUL bytes"
    return f"it is not JSON: {error}"


def sync(path: Path) -> None:
    """Bring a file's content, or a folder's list of names, to the disk."""
    if sys.platform == "win32" and path.is_dir():
        return  # Windows does not open folders
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
