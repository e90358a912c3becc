"""Merge published units into one canonical COCO folder per solver.

The units are appended in the order of COCO's suite. This gives the same files, byte for byte, as a
single observer in an uninterrupted run, regardless of how the units were produced.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from casmore.atomic_io import (
    DamagedFileError,
    read_json,
    sync_tree,
    write_json,
)
from casmore.experiments.notes import note
from casmore.experiments.store.checksums import check_before_use
from casmore.experiments.store.coco_append import append
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit


@dataclass(frozen=True)
class MergedData:
    """The labels whose merged data do not agree with the published units.

    Attributes
    ----------
    outdated
        Labels with units published or moved to quarantine since the merge, or without any.
    damaged
        Labels whose data have changed since the merge.
    """

    outdated: tuple[str, ...]
    damaged: tuple[str, ...]


def merge(
    folder: RunFolder, units: Iterable[Unit], *, place: RunFolder | None = None
) -> dict[str, Path]:
    """Update ``RUN/data`` from the published units among ``units``.

    Data of labels none of whose units are left are moved to quarantine.

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
        for label in _without_units(place, units, by_label):
            moved = place.put_data_in_quarantine(label)
            note(f"{label} has no units left; its data: {moved}")
    return {label: place.data / label for label in by_label}


def check_merged(folder: RunFolder, units: Iterable[Unit]) -> MergedData:
    """Compare the merged data with the published units among ``units``.

    The units' own files are assumed to be unchanged.
    """
    units, outdated, damaged = list(units), [], []
    with folder.scratch() as private:
        merged, by_label = _states(folder), _published(folder, units)
        for label, own in by_label.items():
            target, fresh = folder.data / label, private / label
            if not target.is_dir():  # not merged yet
                continue
            if label in merged and merged[label] != _state(folder, own):
                outdated.append(label)
                continue
            fresh.mkdir()
            append([folder.unit(unit) for unit in own], fresh)
            if not _same(fresh, target):
                damaged.append(label)
        outdated += _without_units(folder, units, by_label)
    return MergedData(tuple(outdated), tuple(damaged))


def _without_units(
    place: RunFolder, units: Iterable[Unit], published: Mapping[str, Sequence[Unit]]
) -> list[str]:
    """Return the labels whose units have all been damaged or removed since the merge."""
    if not published:  # data that have been copied without any units
        return []
    labels = dict.fromkeys(unit.label for unit in units if unit.label not in published)
    return [label for label in labels if (place.data / label).is_dir()]


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
    append([folder.unit(unit) for unit in units], fresh)
    sync_tree(fresh)
    target.parent.mkdir(exist_ok=True)
    if target.exists():
        os.rename(target, old)
    os.rename(fresh, target)
