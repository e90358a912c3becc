"""Merge published units into one canonical COCO folder per solver.

COCO appends each trial to the files of its function and dimension, and to a line of the function's
``.info`` file. The merge does the same with the units, in the order of COCO's suite. This gives the
same files, byte for byte, as a single observer in an uninterrupted run, regardless of how the units
were produced.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from casmore.atomic_io import (
    DamagedFileError,
    read_json,
    sync_tree,
    write_json,
)
from casmore.experiments.store.checksums import check_before_use
from casmore.experiments.store.coco_files import BrokenDataError, InfoEntry, read_info
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit


@dataclass(frozen=True)
class MergedData:
    """The labels whose merged data do not agree with the published units.

    Attributes
    ----------
    outdated
        Labels with units published or moved to quarantine since the merge.
    damaged
        Labels whose data have changed since the merge.
    """

    outdated: tuple[str, ...]
    damaged: tuple[str, ...]


def merge(
    folder: RunFolder, units: Iterable[Unit], *, place: RunFolder | None = None
) -> dict[str, Path]:
    """Update ``RUN/data`` from the published units among ``units``.

    Parameters
    ----------
    folder
        The run's folder.
    units
        The plan's units, in COCO's order for each label.
    place
        Folder for the merged data, by default the run folder, which is otherwise only read.

    Returns
    -------
    dict
        The COCO folder of each label that has any data.

    Raises
    ------
    BrokenDataError
        If the files of a unit have changed since publication, or units do not fit together.
    """
    units, place = list(units), place or folder
    with place.merging() as private:
        by_label = _published(folder, units)
        merged = _states(place)
        for label, own in by_label.items():
            state = _state(folder, own)
            target = place.data / label
            if merged.get(label) != state or not target.is_dir():
                _rebuild(folder, own, private / label, target)
                merged[label] = state
                write_json(place.merged, merged)
    return {label: place.data / label for label in by_label}


def check_merged(folder: RunFolder, units: Iterable[Unit]) -> MergedData:
    """Compare the merged data with the published units among ``units``.

    The units' own files are assumed to be unchanged.
    """
    units, outdated, damaged = list(units), [], []
    with folder.scratch() as private:
        merged = _states(folder)
        for label, own in _published(folder, units).items():
            target, fresh = folder.data / label, private / label
            if not target.is_dir():  # not merged yet
                continue
            if label in merged and merged[label] != _state(folder, own):
                outdated.append(label)
                continue
            fresh.mkdir()
            _append(folder, own, fresh)
            if not _same(fresh, target):
                damaged.append(label)
    return MergedData(tuple(outdated), tuple(damaged))


def _published(folder: RunFolder, units: Iterable[Unit]) -> dict[str, list[Unit]]:
    published = folder.published()
    by_label: dict[str, list[Unit]] = {}
    for unit in units:
        if unit in published:
            by_label.setdefault(unit.label, []).append(unit)
    return by_label


def _states(folder: RunFolder) -> dict[str, str]:
    """Return the state of the units that each label's data were merged from, if known."""
    try:
        return read_json(folder.merged)
    except (FileNotFoundError, DamagedFileError):
        return {}


def _same(a: Path, b: Path) -> bool:
    names = [
        sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        for folder in (a, b)
    ]
    return names[0] == names[1] and all(
        (a / name).read_bytes() == (b / name).read_bytes() for name in names[0]
    )


def _state(folder: RunFolder, units: Sequence[Unit]) -> str:
    """Return a hash that changes when a unit is added, removed, or run again."""
    state = sha256()
    for unit in units:
        state.update(f"{unit} {folder.sidecar(unit).stat().st_mtime_ns}\n".encode())
    return state.hexdigest()


def _rebuild(folder: RunFolder, units: Sequence[Unit], private: Path, target: Path) -> None:
    """Build the folder ``target`` in ``private``, then move it into place."""
    fresh, old = private / "fresh", private / "old"
    fresh.mkdir(parents=True)
    for unit in units:
        check_before_use(folder.unit(unit), folder.root)
    _append(folder, units, fresh)
    sync_tree(fresh)
    target.parent.mkdir(exist_ok=True)
    if target.exists():
        os.rename(target, old)
    os.rename(fresh, target)


def _append(folder: RunFolder, units: Sequence[Unit], fresh: Path) -> None:
    for _, group in groupby(units, lambda unit: (unit.function, unit.dimension)):
        same = list(group)
        entries = _copy([folder.unit(unit) for unit in same], fresh)
        info = fresh / _info(folder.unit(same[0])).name
        separator = "\n" if info.exists() else ""
        with info.open("a", encoding="ascii") as file:
            file.write(separator + str(_join(entries, same)))


def _copy(units: Sequence[Path], fresh: Path) -> list[InfoEntry]:
    """Append the data files of units on one function in one dimension; return their entries."""
    entries = []
    with ExitStack() as stack:
        opened: dict[str, BinaryIO] = {}  # once, for all units
        for unit in units:
            (entry,) = read_info(_info(unit))
            entries.append(entry)
            data = (unit / entry.data_file).parent
            for file in os.scandir(data):
                if file.name not in opened:
                    target = fresh / data.name / file.name
                    target.parent.mkdir(exist_ok=True)
                    opened[file.name] = stack.enter_context(target.open("ab"))
                with open(file.path, "rb") as source:
                    shutil.copyfileobj(source, opened[file.name])
    return entries


def _info(unit: Path) -> Path:
    (info,) = unit.glob("*.info")
    return info


def _join(entries: Sequence[InfoEntry], units: Sequence[Unit]) -> InfoEntry:
    first = entries[0]
    for entry, unit in zip(entries, units, strict=True):
        if (entry.header, entry.comment) != (first.header, first.comment):
            raise BrokenDataError(
                f"{unit} and {units[0]} do not fit together, so cocopp would not either: "
                f"{entry.header!r}, {entry.comment!r} and {first.header!r}, {first.comment!r}; "
                "delete the folder of the one that is wrong, and run again"
            )
    trials = tuple(trial for entry in entries for trial in entry.trials)
    return InfoEntry(first.header, first.comment, first.data_file, trials)
