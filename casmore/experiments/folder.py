"""A run's folder: where everything is, who may write, and what the dead have left behind.

::

    RUN/config.json            what decides the results; a resumed run must agree with it
    RUN/manifest.json          versions, machine, git commit, each session
    RUN/units/LABEL/UNIT/      published units: COCO's files and unit.json
    RUN/failures/LABEL/UNIT.json
    RUN/data/LABEL/            one canonical COCO folder per solver
    RUN/private/               units in work, and merges; named by who works on them
    RUN/lock                   held by the one session that runs units
"""

import errno
import fcntl
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from casmore.experiments.durable import sync, sync_tree
from casmore.experiments.plan import Unit

_UNIT_NAME = re.compile(r"f(\d+)_d(\d+)_i(\d+)_r(\d+)")


class RunLockedError(RuntimeError):
    """Another session is running units in this folder."""


@dataclass(frozen=True)
class Leftover:
    """A private folder: what was worked on, and by which process."""

    path: Path
    label: str
    task: str
    host: str
    pid: int

    @property
    def unit(self) -> Unit | None:
        """The unit that was being run, if it was one."""
        match = _UNIT_NAME.fullmatch(self.task)
        return Unit(self.label, *map(int, match.groups())) if match else None

    @property
    def alive(self) -> bool:
        """Whether its process may still be at work."""
        return self.host == _host() and _is_alive(self.pid)


class RunFolder:
    """The layout of a run's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config.json"
        self.manifest = root / "manifest.json"
        self.units = root / "units"
        self.failures = root / "failures"
        self.data = root / "data"
        self.merged = root / "merged.json"
        self._private = root / "private"
        self._lock = root / "lock"

    def unit(self, unit: Unit) -> Path:
        """Where the unit is, once published."""
        return self.units / unit.label / unit.name

    def sidecar(self, unit: Unit) -> Path:
        """Where the unit's record is, once published."""
        return self.unit(unit) / "unit.json"

    def failure(self, unit: Unit) -> Path:
        """Where the unit's failure is written."""
        return self.failures / unit.label / f"{unit.name}.json"

    def is_published(self, unit: Unit) -> bool:
        """Whether the unit is done, in this session or an earlier one."""
        return self.sidecar(unit).is_file()

    def publish(self, finished: Path, unit: Unit) -> None:
        """Move a finished, validated unit to its place, in one step that can't be half done."""
        target = self.unit(unit)
        sync_tree(finished)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(finished, target)
        except OSError as error:
            # somebody else has published it: the same seed, so the same data
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        sync(target.parent)
        self.failure(unit).unlink(missing_ok=True)

    @contextmanager
    def private(self, label: str, task: str) -> Iterator[Path]:
        """Make a folder for this process alone, on the same file system; removed in the end."""
        path = self._private / f"{label}@{task}@{_host()}@{os.getpid()}"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def leftovers(self) -> list[Leftover]:
        """Return the private folders there are."""
        found = []
        for path in self._private.glob("*@*@*@*"):
            label, task, host, pid = path.name.split("@")
            found.append(Leftover(path, label, task, host, int(pid)))
        return found

    def sweep(self) -> None:
        """Remove private folders of processes that are gone. Only the holder of the lock may."""
        for leftover in self.leftovers():
            if not leftover.alive:
                shutil.rmtree(leftover.path, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only session in this folder.

        Raises
        ------
        RunLockedError
            If another one is, on this machine or another; it says which.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        # opened for appending: a refused session must not empty the holder's note
        with self._lock.open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise RunLockedError(
                    f"{self.root} is in use by {_holder(file.read())}; wait for it, stop it, or "
                    "give another folder with --out"
                ) from None
            file.truncate(0)
            started = time.strftime("%Y-%m-%d %H:%M:%S")
            json.dump({"pid": os.getpid(), "host": _host(), "started": started}, file)
            file.flush()
            yield


def _holder(note: str) -> str:
    try:
        holder = json.loads(note)
    except json.JSONDecodeError:  # between its taking the lock and writing the note
        return "another session"
    return f"process {holder['pid']} on {holder['host']}, since {holder['started']}"


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:  # on Linux, also know a process that has ended and was not waited for
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] != "Z"
