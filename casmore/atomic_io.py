"""Atomic I/O: after a crash a file has either its old or its new content, never a part of it."""

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

_ROOM = 2**23  # bytes; more than the workers of a machine write between two checks


class DiskFullError(OSError):
    """The disk is full, or nearly."""


class DamagedFileError(ValueError):
    """The content of a file in a run folder is damaged."""

    def __init__(self, path: Path, problem: str, remedy: str = "") -> None:
        self.path = path
        super().__init__(f"{path} is damaged: {problem}" + (f"; {remedy}" if remedy else ""))


def check_room(folder: Path) -> None:
    """Check the free space on the disk of ``folder``, if the file system reports it.

    Raises
    ------
    DiskFullError
        If less than 8 MiB are left.
    """
    disk = shutil.disk_usage(folder)
    if disk.free < _ROOM and disk.total > 0:  # 0: network or user file systems may not report it
        raise DiskFullError(f"there is no space left on the disk of {folder}; make some")


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` atomically; missing parent folders are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # a full disk stays full otherwise
        raise
    sync(path.parent)


def write_text(path: Path, content: str) -> None:
    """Write ``content`` to ``path`` as UTF-8, as `write_bytes` does.

    Characters that UTF-8 can't encode (for example in file names) are escaped.
    """
    write_bytes(path, content.encode(errors="backslashreplace"))


def write_json(path: Path, document: Any) -> None:
    """Write ``document`` to ``path`` as JSON, as `write_bytes` does."""
    write_text(path, _formatted(document) + "\n")


def _formatted(document: Any, indent: str = "\n") -> str:
    """Return JSON with a line for each key; unlike an indent of `json`, it is written in C."""
    if not isinstance(document, dict) or not document:
        return json.dumps(document, allow_nan=False)
    inner = indent + " "
    items = (f"{json.dumps(key)}: {_formatted(value, inner)}" for key, value in document.items())
    return "{" + inner + ("," + inner).join(items) + indent + "}"


def read_json(path: Path, *, remedy: str = "") -> dict[str, Any]:
    """Return the content of a file written by `write_json`, a JSON object.

    Parameters
    ----------
    path
        The file.
    remedy
        What to do if it is damaged, for the message.

    Raises
    ------
    DamagedFileError
        If the file is not a JSON object.
    OSError
        If it can't be read.
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
    """Flush the content of a file, or the entries of a folder, to the disk."""
    if sys.platform == "win32" and path.is_dir():
        return  # Windows can't open folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # some network file systems can't flush folders
        if error.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Flush a folder with its whole content to the disk."""
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync(Path(root, name))
        sync(Path(root))
