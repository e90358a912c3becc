"""Locks in a run's folder: a lock file names its holder, and the lock ends with the process.

They are BSD locks of the kernel (``flock``): a killed process leaves none behind. Linux extends
them over NFS, and Lustre when mounted with ``flock``; so they hold between machines as well.
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

# A process that only checks whether a lock is held takes it for a moment.
_ATTEMPTS, _PAUSE_SECONDS = 5, 0.05


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

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
    """Return this machine's name, with characters that a file name may have."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())


@contextmanager
def exclusive(path: Path, *, wait: bool = False) -> Iterator[str]:
    """Hold the exclusive lock ``path``; yield a token that is in the file meanwhile.

    Parameters
    ----------
    path
        The file; made if missing, and left there.
    wait
        Whether to wait for a holder to be done.

    Raises
    ------
    LockedError
        If it is held by somebody else, and not waited for.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # opened for appending: a process that is refused must not empty the holder's note
    with path.open("a+", encoding="utf-8") as file:
        if wait:
            fcntl.flock(file, fcntl.LOCK_EX)
        else:
            _take(file, fcntl.LOCK_EX)
        file.truncate(0)
        started = time.strftime("%Y-%m-%d %H:%M:%S")
        token = uuid4().hex
        note = {"pid": os.getpid(), "host": host(), "started": started, "token": token}
        json.dump(note, file)
        file.flush()
        try:
            yield token
        finally:
            file.truncate(0)


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock ``path`` together with others that share it.

    Raises
    ------
    LockedError
        If somebody holds it alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        _take(file, fcntl.LOCK_SH)
        yield


def holder(path: Path) -> Holder | None:
    """Return who holds the exclusive lock, or None."""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read(file) or Holder("unknown", 0, "just now")
    except OSError:  # nobody has ever held it, or it can't be read
        pass
    return None


def has_token(path: Path, token: str) -> bool:
    """Whether the holder with this token still holds the lock, as far as is known.

    After a holder that was killed it does until the next one: to look, nothing is locked.
    """
    try:
        return token in path.read_text(encoding="utf-8")
    except OSError:
        return False


def _take(file: TextIO, kind: int) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
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
    except (ValueError, KeyError, TypeError):  # between its taking the lock and writing the note
        return None
