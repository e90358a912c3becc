"""Locks in a run folder; a lock file names its holder, and the lock ends with the process.

These are BSD locks of the kernel (``flock``), which are released when the process dies. On Linux
they also work between machines, over NFS and over Lustre mounted with ``flock``.
"""

import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

# A process that checks whether a lock is held acquires it for a moment.
_ATTEMPTS, _PAUSE_SECONDS = 5, 0.05


@dataclass(frozen=True)
class Holder:
    """The holder of a lock."""

    host: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.started}"


class LockedError(RuntimeError):
    """Another process holds the lock; ``holder`` is unknown while it is being handed over."""

    def __init__(self, holder: Holder | None) -> None:
        self.holder = holder
        super().__init__(str(holder or "another process"))


def host() -> str:
    """Return this machine's name, restricted to characters allowed in file names."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())


@contextmanager
def exclusive(path: Path, *, wait: bool = False) -> Iterator[str]:
    """Hold the exclusive lock ``path``; yield a token that the file contains while it is held.

    Parameters
    ----------
    path
        The lock file; created if missing, and not removed.
    wait
        Whether to wait until the lock is released.

    Raises
    ------
    LockedError
        If another process holds it, and ``wait`` is False.
    OSError
        If the file can't be written, or its file system does not support locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # opened for appending: a refused process must not truncate the holder's note
    with path.open("a+", encoding="utf-8") as file:
        if wait:
            _flock(file, fcntl.LOCK_EX)
        else:
            _take(file, fcntl.LOCK_EX)
        file.truncate(0)
        started = time.strftime("%Y-%m-%d %H:%M:%S")
        token = uuid4().hex
        note = {"pid": os.getpid(), "host": host(), "started": started, "token": token}
        json.dump(note, file)
        file.flush()
        os.fsync(file.fileno())  # other machines see the token only once the server has it
        try:
            yield token
        finally:
            file.truncate(0)


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the shared lock ``path``.

    Raises
    ------
    LockedError
        If another process holds it exclusively.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        _take(file, fcntl.LOCK_SH)
        yield


def holder(path: Path) -> Holder | None:
    """Return the holder of the exclusive lock, or None."""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read(file) or Holder("unknown", 0, "just now")
    except OSError:  # it has never been held, or can't be read
        pass
    return None


def has_token(path: Path, token: str) -> bool:
    """Whether the holder with this token still holds the lock, as far as the file shows.

    The check acquires no lock, so a killed holder still counts until the next one takes the lock.
    """
    try:
        return token in path.read_text(encoding="utf-8")
    except OSError:
        return False


def _flock(file: TextIO, kind: int) -> None:
    try:
        fcntl.flock(file, kind)
    except BlockingIOError:
        raise
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}: the file system must support locks (flock)",
            file.name,
        ) from error


def _take(file: TextIO, kind: int) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            _flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt == _ATTEMPTS - 1:
                raise LockedError(_read(file)) from None
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _read(file: TextIO) -> Holder | None:
    file.seek(0)
    try:
        note: dict[str, Any] = json.loads(file.read())
        return Holder(note["host"], note["pid"], note["started"])
    except (ValueError, KeyError, TypeError):  # the holder has not yet written its note
        return None
