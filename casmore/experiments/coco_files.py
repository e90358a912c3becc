"""COCO's data files: reading ``.info`` files, and telling a whole trial from a broken one.

A data line that was cut short makes cocopp refuse a whole folder, and a trial that was cut short
looks complete. So each unit is checked before it is published.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_TRIAL = re.compile(r"(?P<instance>\d+):(?P<evaluations>\d+)\|(?P<precision>\S+)")


class BrokenDataError(RuntimeError):
    """The observer's files are not those of one whole trial."""


@dataclass(frozen=True)
class InfoEntry:
    """An entry of an ``.info`` file: all trials on one function in one dimension."""

    header: str
    comment: str
    data_file: str
    trials: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.header, self.comment, ", ".join([self.data_file, *self.trials])])


def read_info(path: Path) -> list[InfoEntry]:
    """Return the entries of an ``.info`` file.

    Raises
    ------
    BrokenDataError
        If it isn't made of entries of three lines.
    """
    lines = path.read_text(encoding="ascii").splitlines()
    if not lines or len(lines) % 3:
        raise BrokenDataError(f"{path} has {len(lines)} lines; entries have three")
    entries = []
    for header, comment, data in zip(*[iter(lines)] * 3, strict=True):
        data_file, *trials = data.split(", ")
        entries.append(InfoEntry(header, comment, data_file, tuple(trials)))
    return entries


def check_trial(folder: Path, *, dimension: int, instance: int, evaluations: int) -> None:
    """Check that ``folder`` holds one whole trial with this many evaluations.

    Raises
    ------
    BrokenDataError
        If it doesn't; the message says in which file and why.
    """
    infos = list(folder.glob("*.info"))
    if len(infos) != 1:
        raise BrokenDataError(f"{folder} has {len(infos)} .info files; a trial has one")
    entries = read_info(infos[0])
    trials = [trial for entry in entries for trial in entry.trials]
    match = _TRIAL.fullmatch(trials[0]) if len(trials) == 1 else None
    if match is None:
        raise BrokenDataError(f"{infos[0]} names the trials {trials}; one was run")
    logged = int(match["instance"]), int(match["evaluations"])
    if logged != (instance, evaluations):
        raise BrokenDataError(
            f"{infos[0]}: (instance, evaluations) are {logged}, not {(instance, evaluations)}"
        )
    data_file = folder / entries[0].data_file
    for path in (data_file, data_file.with_suffix(".tdat")):
        _check_data(path, dimension, evaluations)


def _check_data(path: Path, dimension: int, evaluations: int) -> None:
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise BrokenDataError(f"{path} is missing") from None
    if not text.endswith("\n"):
        raise BrokenDataError(f"{path}: the last line is cut short: {text[-40:]!r}")
    head, *rows = text.splitlines()
    if not head.startswith("%") or not rows:
        raise BrokenDataError(f"{path} is not a header and data lines: begins with {head[:40]!r}")
    # COCO leaves the point out of its lines in 10-D and more
    columns = len(rows[0].split())
    if columns not in (5, 5 + dimension):
        raise BrokenDataError(f"{path}: 5 or {5 + dimension} numbers make a line, not {rows[0]!r}")
    for row in rows:
        if len(row.split()) != columns:
            raise BrokenDataError(f"{path}: {columns} numbers should be in the line {row!r}")
    last = int(rows[-1].split()[0])
    if last != evaluations:
        raise BrokenDataError(f"{path} ends with evaluation {last}, not {evaluations}")
