"""COCO's data files: reading ``.info`` files, and checking that a trial is complete.

A truncated data line makes cocopp refuse a whole folder, and a truncated trial looks complete. COCO
does not check its writes: on a full disk lines are lost or joined without an error. Therefore each
unit is checked before it is published.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_TRIAL = re.compile(r"(?P<instance>\d+):(?P<evaluations>\d+)\|(?P<precision>-?\d\.\de[+-]\d{2,3})")

_OPTIMAL_VALUE = re.compile(r"Fopt \(([^)]+)\)")


class BrokenDataError(RuntimeError):
    """The files of a unit are damaged, or do not form one complete trial."""


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
        If it does not consist of entries of three lines.
    """
    lines = path.read_text(encoding="ascii").splitlines()
    if not lines or len(lines) % 3:
        raise BrokenDataError(f"{path} has {len(lines)} lines; entries have three")
    entries = []
    for header, comment, data in zip(*[iter(lines)] * 3, strict=True):
        data_file, *trials = data.split(", ")
        entries.append(InfoEntry(header, comment, data_file, tuple(trials)))
    return entries


def check_trial(
    folder: Path, *, dimension: int, instance: int, evaluations: int, restarts: int
) -> None:
    """Check that ``folder`` holds one complete trial with this many evaluations and restarts.

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
    # data by target, by evaluation, by restart, and of constraints
    by_target, by_evaluation, by_restart, constrained = (
        _read_rows((folder / entries[0].data_file).with_suffix(suffix), dimension)
        for suffix in (".dat", ".tdat", ".rdat", ".mdat")
    )
    for rows in (by_evaluation, by_restart, constrained):
        if rows.header != by_target.header:
            raise BrokenDataError(
                f"{rows.path} begins with {rows.header[:40]!r}, as no other file does"
            )
    for rows in (by_target, by_evaluation):
        first, last = (rows.evaluations[0], rows.evaluations[-1]) if rows.evaluations else (0, 0)
        if (first, last) != (1, evaluations):
            raise BrokenDataError(
                f"{rows.path} goes from evaluation {first} to {last}, not from 1 to {evaluations}"
            )
    if len(by_restart.evaluations) != restarts:
        raise BrokenDataError(
            f"{by_restart.path} has {len(by_restart.evaluations)} lines of data for {restarts} "
            "restarts"
        )


def optimal_value(folder: Path) -> float:
    """Return the optimal value of a trial's function, from the header of its data.

    COCO does not give it while a trial runs.

    Raises
    ------
    BrokenDataError
        If the header does not tell it.
    """
    data = read_info(next(folder.glob("*.info")))[0].data_file
    with (folder / data).open(encoding="ascii") as file:
        header = file.readline()
    told = _OPTIMAL_VALUE.search(header)
    if told is None:
        raise BrokenDataError(f"{folder / data}: no optimal value in the header {header!r}")
    return float(told[1])


@dataclass(frozen=True)
class _Rows:
    """A data file: its header, and the first number of each line."""

    path: Path
    header: str
    evaluations: list[int]


def _read_rows(path: Path, dimension: int) -> _Rows:
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise BrokenDataError(f"{path} is missing") from None
    if not text.endswith("\n"):
        raise BrokenDataError(f"{path}: the last line is cut short: {text[-40:]!r}")
    header, *rows = text.splitlines()
    if not header.startswith("%"):
        raise BrokenDataError(f"{path} has no header: begins with {header[:40]!r}")
    # COCO omits the point from its lines in 10-D and more
    columns = len(rows[0].split()) if rows else 5
    if columns not in (5, 5 + dimension):
        raise BrokenDataError(
            f"{path}: 5 or {5 + dimension} numbers are expected in a line, not {rows[0]!r}"
        )
    evaluations: list[int] = []
    for row in rows:
        numbers = row.split()
        if len(numbers) != columns:
            raise BrokenDataError(f"{path}: {columns} numbers are expected in the line {row!r}")
        evaluation = int(numbers[0]) if numbers[0].isdecimal() else 0
        if evaluation <= (evaluations[-1] if evaluations else 0):
            raise BrokenDataError(f"{path}: out of order, the line {row!r}")
        evaluations.append(evaluation)
    return _Rows(path, header, evaluations)
