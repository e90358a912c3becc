"""The run folder: its layout, its locks, and the removal of files left by killed sessions.

::

    RUN/config.json            determines the results; a resumed run must agree with it
    RUN/manifest.json          versions, machine, git commit, command line of each session
    RUN/units/LABEL/UNIT/      published units: COCO's files, unit.json, SHA256SUMS
    RUN/failures/LABEL/UNIT.json
    RUN/quarantine/LABEL/      damaged units, and data without units, kept for inspection
    RUN/manifest.damaged.N     a damaged manifest, kept for inspection
    RUN/merged.json            the units of which the merged data consist
    RUN/data/LABEL/            one canonical COCO folder per solver
    RUN/private/SHARE/         running units; named after the processes that run them
    RUN/locks/                 held by the sessions that run units, and by a process that merges

A session runs the whole plan or a shard of it. A session that runs the whole plan has exclusive use
of the folder. Shards share the folder, with one session per shard. Therefore anything that a new
session finds in the private folder of its share was left by a killed session.
"""

import errno
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from casmore.atomic_io import sync, sync_tree
from casmore.experiments.shard import WHOLE, Shard
from casmore.experiments.store.locks import (
    Holder,
    LockedError,
    exclusive,
    has_token,
    holder,
    host,
    shared,
)
from casmore.experiments.work_unit import Unit

_PRIVATE_NAME = re.compile(r"([^@]+)@([^@]+)@([^@]+)@(\d+)")
_SHARE_NAME = re.compile(rf"{WHOLE}|\d+-of-\d+")
_UNIT_NAME = re.compile(r"f(\d+)_d(\d+)_i(\d+)_r(\d+)")
_RUN_LOCK = "run"
_ON_MERGING = "merge"  # private folder of merges, next to the shares


class RunLockedError(RuntimeError):
    """Another session is running the same units in this folder."""


@dataclass(frozen=True)
class Leftover:
    """A private folder, which shows the unit that a process runs, or ran when it was killed."""

    path: Path
    label: str
    task: str
    host: str
    pid: int

    @property
    def unit(self) -> Unit | None:
        """The unit that was running, if any."""
        return unit_of(self.label, self.task)


class RunFolder:
    """The layout of a run's folder.

    Parameters
    ----------
    root
        The folder.
    share
        The share of the plan: everything, or a shard; the parent of the private folders.
    """

    def __init__(self, root: Path, share: str = WHOLE) -> None:
        self.root, self.share = root, share
        self.config = root / "config.json"
        self.manifest = root / "manifest.json"
        self.units = root / "units"
        self.failures = root / "failures"
        self.quarantine = root / "quarantine"
        self.data = root / "data"
        self.merged = root / "merged.json"
        self._private = root / "private"
        self._locks = root / "locks"

    def unit(self, unit: Unit) -> Path:
        """Folder of the unit, once published."""
        return self.units / unit.label / unit.name

    def sidecar(self, unit: Unit) -> Path:
        """Path of the unit's record, once published."""
        return self.unit(unit) / "unit.json"

    def failure(self, unit: Unit) -> Path:
        """Path of the record of the unit's failure."""
        return self.failures / unit.label / f"{unit.name}.json"

    def is_published(self, unit: Unit) -> bool:
        """Whether the unit is done, in this session or an earlier one."""
        return os.path.isfile(f"{self.units}/{unit.label}/{unit.name}/unit.json")

    def published(self) -> dict[Unit, float]:
        """Return all units that are done, with the time of publication; one `stat` for each."""
        return self._units_in(self.units, inside="/unit.json")

    def failed(self) -> dict[Unit, float]:
        """Return all units with a recorded failure, with the time of the failure.

        Another session may have finished such a unit since.
        """
        return self._units_in(self.failures, suffix=".json")

    @staticmethod
    def _units_in(folder: Path, *, suffix: str = "", inside: str = "") -> dict[Unit, float]:
        units = {}
        for label in folder.iterdir() if folder.is_dir() else ():
            for entry in os.scandir(label) if label.is_dir() else ():
                unit = unit_of(label.name, entry.name.removesuffix(suffix))
                if unit is not None:
                    with suppress(OSError):  # has no record, or was removed meanwhile
                        units[unit] = os.stat(entry.path + inside).st_mtime
        return units

    def publish(self, finished: Path, unit: Unit) -> None:
        """Move a finished, validated unit into place atomically."""
        target = self.unit(unit)
        sync_tree(finished)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(finished, target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # Another process has published it, with the same seed and thus the same data. Without a
            # record it would never count as published, so it is damaged.
            if not self.is_published(unit):
                self.put_in_quarantine(unit)
                os.rename(finished, target)
        sync(target.parent)
        self.failure(unit).unlink(missing_ok=True)

    def put_in_quarantine(self, unit: Unit) -> Path:
        """Move a damaged unit to quarantine, so that it is run again; return its new path."""
        folder = self.quarantine / unit.label
        folder.mkdir(parents=True, exist_ok=True)
        target = _unused(folder / unit.name)
        os.rename(self.unit(unit), target)
        sync(self.unit(unit).parent)
        return target

    def put_data_in_quarantine(self, label: str) -> Path:
        """Move the merged data of a label to quarantine; return their new path."""
        (self.quarantine / label).mkdir(parents=True, exist_ok=True)
        target = _unused(self.quarantine / label / "data")
        os.rename(self.data / label, target)
        sync(self.data)
        return target

    def set_manifest_aside(self) -> Path:
        """Rename a damaged manifest to make room for a new one; return its new path."""
        target = _unused(self.root / "manifest.damaged")
        os.rename(self.manifest, target)
        return target

    def is_read_only(self) -> bool:
        """Whether the folder is read-only."""
        return not os.access(self.root, os.W_OK)

    @contextmanager
    def private(self, label: str, task: str) -> Iterator[Path]:
        """Create a private folder for this process on the same file system; removed on exit."""
        path = self._private / self.share / f"{label}@{task}@{host()}@{os.getpid()}"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def leftovers(self) -> list[Leftover]:
        """Return the private folders of this share."""
        found = []
        for path in self._private.glob(f"{self.share}/*@*@*@*"):
            if match := _PRIVATE_NAME.fullmatch(path.name):
                label, task, where, pid = match.groups()
                found.append(Leftover(path, label, task, where, int(pid)))
        return found

    def in_work(self) -> list[Leftover]:
        """Return the private folders of all shares with a running session."""
        return [
            left for share in self.sessions() for left in RunFolder(self.root, share).leftovers()
        ]

    def sweep(self) -> None:
        """Remove files left by killed sessions; only for the holder of the share's lock.

        A session that runs all units is the only one, so it sweeps all shares. Other files stay: a
        user may have a folder ``private`` where a run begins.
        """
        for path in self._private.glob("*" if self.share == WHOLE else self.share):
            if not _SHARE_NAME.fullmatch(path.name):
                continue
            for leftover in RunFolder(self.root, path.name).leftovers():
                shutil.rmtree(leftover.path, ignore_errors=True)
            with suppress(OSError):  # has other files
                path.rmdir()

    @contextmanager
    def session(self) -> Iterator[str]:
        """Hold the lock of this share; yield the session's token.

        Raises
        ------
        RunLockedError
            If another session holds it, on this machine or another; the message names it.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks:
            try:
                if self.share != WHOLE:
                    locks.enter_context(shared(self._locks / _RUN_LOCK))
                token = locks.enter_context(exclusive(self._lock))
            except LockedError as error:
                raise RunLockedError(self._refusal(error)) from None
            yield token

    def is_over(self, token: str) -> bool:
        """Whether the session with this token has ended, or another one has begun since.

        For workers on other machines, which do not end with their session.
        """
        return not has_token(self._lock, token)

    def check_session(self, token: str) -> None:
        """Check that the session with this token is not over; see `is_over`.

        Raises
        ------
        RunLockedError
            If it is.
        """
        if self.is_over(token):
            raise RunLockedError(
                f"{self._lock} has been removed or replaced while this session held the lock, so "
                "another session could begin; this one ends. The same command resumes the run"
            )

    def sessions(self) -> dict[str, Holder]:
        """Return the running sessions: the holder of each share's lock."""
        found = {}
        if whole := holder(self._locks / _RUN_LOCK):
            found[WHOLE] = whole
        for path in sorted(self._locks.glob("shard-*")):
            if running := holder(path):
                found[path.name.removeprefix("shard-")] = running
        return found

    @contextmanager
    def alone(self, task: str) -> Iterator[None]:
        """Hold the lock of this task in the folder, after waiting for other processes."""
        with exclusive(self._locks / task, wait=True):
            yield

    @contextmanager
    def merging(self) -> Iterator[Path]:
        """Hold the lock for merging; yield a private folder, removed on exit."""
        with self.alone(_ON_MERGING):
            private = self._private / _ON_MERGING
            shutil.rmtree(private, ignore_errors=True)  # left by a killed process
            private.mkdir(parents=True)
            try:
                yield private
            finally:
                shutil.rmtree(private, ignore_errors=True)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a private folder while no merge runs; for a read-only run it is elsewhere."""
        if self.is_read_only():
            with tempfile.TemporaryDirectory(prefix="casmore-") as elsewhere:
                yield Path(elsewhere)
        else:
            with self.merging() as private:
                yield private

    @property
    def _lock(self) -> Path:
        return self._locks / (_RUN_LOCK if self.share == WHOLE else f"shard-{self.share}")

    def _refusal(self, error: LockedError) -> str:
        others = self.sessions()
        if self.share == WHOLE and WHOLE not in others and others:
            holders = ", ".join(f"shard {_spelled(s)} ({who})" for s, who in others.items())
            return (
                f"{self.root} is in use by shards: {holders}; wait for them, stop them, or give "
                "another folder with --out"
            )
        if WHOLE in others and self.share != WHOLE:
            error = LockedError(others[WHOLE])
        what = self.root if self.share == WHOLE else f"shard {_spelled(self.share)} of {self.root}"
        return (
            f"{what} is in use by {error}; wait for it, stop it, or give another folder with --out"
        )


def unit_of(label: str, name: str) -> Unit | None:
    """Return the unit that a folder name stands for, or None for other folders."""
    match = _UNIT_NAME.fullmatch(name)
    return Unit(label, *map(int, match.groups())) if match else None


def _unused(path: Path) -> Path:
    """Return ``path`` with the first unused number appended."""
    numbers = itertools.count(1)
    return next(p for n in numbers if not (p := path.with_name(f"{path.name}.{n}")).exists())


def _spelled(share: str) -> str:
    return str(Shard(*map(int, share.split("-of-"))))
