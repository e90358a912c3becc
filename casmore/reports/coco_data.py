"""Read COCO's data files: the evaluations of each trial to each target.

Three kinds of files are read: the ``.info`` files, which list the trials and their numbers of
evaluations; the ``.dat`` files, in which COCO writes a line whenever the best value crosses another
target; and the ``.rdat`` files, with a line for each restart. A test compares the results with
cocopp's.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from casmore.experiments.store.coco_files import BrokenDataError, read_info
from casmore.problems import suites
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import TARGETS, Runtimes

_PROBLEM = re.compile(r"suite = '([^']*)', funcId = (\d+), DIM = (\d+)")
_TRIAL = re.compile(r"(\d+):(\d+)\|")
_EVALUATIONS, _PRECISION, _COLUMNS = 0, 2, 5  # of a line in a .dat file; the last are x

# The same decimal power computed in two ways may differ in its last bits, and a target just below
# its own entry in the data would be answered with the next harder one. cocopp allows as much.
_SLACK = 1 + 1e-9


class _Part(NamedTuple):
    """What an entry of an ``.info`` file gives."""

    instances: tuple[int, ...]
    spent: tuple[int, ...]
    evaluations: NDArray[np.float64]
    restarts: NDArray[np.float64]


def read(folder: Path) -> list[Runtimes]:
    """Read the runtimes of one solver, ordered by dimension and function.

    Parameters
    ----------
    folder
        A solver's COCO data; its name becomes the solver's.

    Raises
    ------
    ReportError
        If a file is damaged or missing; the message names it.
    """
    found: dict[tuple[str, int, int], list[_Part]] = {}
    try:
        for path in sorted(folder.glob("*.info")):
            for entry in read_info(path):
                problem = _PROBLEM.search(entry.header)
                trials = [_TRIAL.match(trial) for trial in entry.trials]
                if problem is None or None in trials:
                    raise BrokenDataError(f"{path} has an entry that is not COCO's: {entry}")
                instances, spent = zip(*((int(t[1]), int(t[2])) for t in trials if t), strict=True)
                evaluations, last = _evaluations(folder / entry.data_file)
                if evaluations.shape[1] != len(instances):
                    raise BrokenDataError(
                        f"{folder / entry.data_file} has {evaluations.shape[1]} trials, where "
                        f"{path} names {len(instances)}"
                    )
                if last != spent:
                    raise BrokenDataError(
                        f"the trials in {folder / entry.data_file} do not end at the evaluations "
                        f"that {path} names"
                    )
                restarts = _restarts((folder / entry.data_file).with_suffix(".rdat"), len(trials))
                part = _Part(instances, spent, evaluations, restarts)
                key = (suites.find(problem[1]).name, int(problem[3]), int(problem[2]))
                found.setdefault(key, []).append(part)
    except (OSError, ValueError, BrokenDataError) as error:
        raise ReportError(
            f"the COCO data in {folder} can't be read: {error}\nIf they are those of a run, "
            "`casmore verify RUN` makes them again."
        ) from error
    return [
        Runtimes(
            solver=folder.name,
            function=function,
            dimension=dimension,
            instances=tuple(i for part in parts for i in part.instances),
            spent=np.array([s for part in parts for s in part.spent], dtype=float),
            evaluations=np.hstack([part.evaluations for part in parts]),
            restarts=np.hstack([part.restarts for part in parts]),
            suite=suites.SUITES[suite],
        )
        for (suite, dimension, function), parts in sorted(found.items())
    ]


def _evaluations(path: Path) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Return the evaluations to each target in each trial, and those of the last line of each.

    The shape of the first is (51, trials); NaN: not reached.
    """
    columns, last = [], []
    for counts, precisions in _trials(path):
        # the best precision never rises, so the first line at or below each target can be searched
        first = np.searchsorted(-precisions, -TARGETS * _SLACK)
        columns.append(np.append(counts, np.nan)[first])
        last.append(int(counts[-1]))
    return np.array(columns).T.reshape(len(TARGETS), -1), tuple(last)


def _restarts(path: Path, trials: int) -> NDArray[np.float64]:
    """Return the number of restarts of each trial; NaN if they have not been logged."""
    counts: list[int] = []
    if path.exists():
        for line in path.read_text(encoding="ascii").splitlines():
            if line.startswith("%"):
                counts.append(0)
            elif counts:
                counts[-1] += 1
    return np.array(counts if len(counts) == trials else [np.nan] * trials, dtype=float)


def _trials(path: Path) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the evaluations and best precisions of each trial in a data file."""
    rows: list[tuple[float, float]] = []
    with path.open(encoding="ascii") as file:
        for number, line in enumerate(file, start=1):
            if line.startswith("%"):  # the header of a trial
                if rows:
                    yield _columns(rows)
                rows = []
                continue
            cells = line.split(None, _COLUMNS - 1)
            try:
                if len(cells) < _COLUMNS:
                    raise ValueError
                rows.append((float(cells[_EVALUATIONS]), float(cells[_PRECISION])))
            except ValueError:
                raise BrokenDataError(
                    f"{path}: line {number} is damaged or cut short: {line!r}"
                ) from None
    if rows:
        yield _columns(rows)


def _columns(rows: list[tuple[float, float]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = np.array(rows)
    return table[:, 0], np.minimum.accumulate(table[:, 1])
