"""Append COCO data folders of one solver to another, as COCO's observer would have written them.

COCO appends each trial to the files of its function and dimension, and to a line of the function's
``.info`` file.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from casmore.experiments.store.coco_files import BrokenDataError, InfoEntry, read_info


def append(folders: Iterable[Path], target: Path) -> None:
    """Append the trials of COCO data folders, in this order, to a folder.

    Parameters
    ----------
    folders
        Units, or data of other runs. They may have the same functions and dimensions.
    target
        An existing folder. Of each function and dimension it has no trials yet.

    Raises
    ------
    BrokenDataError
        If a folder is damaged, or two do not fit together: other suites, versions or labels.
    """
    groups: dict[str, list[tuple[Path, InfoEntry]]] = {}  # by function and dimension
    for folder in folders:
        for info in sorted(folder.glob("*.info")):
            for entry in read_info(info):
                groups.setdefault(entry.data_file, []).append((info, entry))
    for group in groups.values():
        entry = _joined(group)
        _copy([info.parent for info, _ in group], entry.data_file, target)
        path = target / group[0][0].name
        separator = "\n" if path.exists() else ""
        with path.open("a", encoding="ascii") as file:
            file.write(f"{separator}{entry}")


def _joined(group: Sequence[tuple[Path, InfoEntry]]) -> InfoEntry:
    (first_info, first), *others = group
    for info, entry in others:
        if (entry.header, entry.comment) != (first.header, first.comment):
            raise BrokenDataError(
                f"{info.parent} and {first_info.parent} do not fit together, so cocopp would not "
                f"either: {entry.header!r}, {entry.comment!r} and {first.header!r}, "
                f"{first.comment!r}; delete the one that is wrong, or leave it out, and run again"
            )
    trials = tuple(trial for _, entry in group for trial in entry.trials)
    return InfoEntry(first.header, first.comment, first.data_file, trials)


def _copy(folders: Sequence[Path], data_file: str, target: Path) -> None:
    """Append the data files of one function in one dimension: ``.dat``, ``.tdat`` and others."""
    with ExitStack() as stack:
        opened: dict[str, BinaryIO] = {}  # once, for all folders
        for folder in folders:
            data = folder / data_file
            for file in os.scandir(data.parent):
                if Path(file.name).stem != data.stem:  # of another dimension
                    continue
                if file.name not in opened:
                    copy = target / data.parent.name / file.name
                    copy.parent.mkdir(exist_ok=True)
                    opened[file.name] = stack.enter_context(copy.open("ab"))
                with open(file.path, "rb") as source:
                    shutil.copyfileobj(source, opened[file.name])
