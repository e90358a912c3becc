"""The table of a run's trials in one compressed file, from which figures and tables are made.

Each row is a trial: the evaluations to each of the 51 targets, and the total number. The table is
made from COCO's data, which are not needed afterwards.
"""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from casmore.problems.suites import SUITES
from casmore.reports import compressed_table
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import TARGETS, Runtimes

FILE = "trials.csv.gz"
KEYS = ("suite", "solver", "function", "dimension", "instance", "evaluations", "restarts")
# 1e2, 1e1.8, ..., 1e-8
TARGET_COLUMNS = tuple(f"1e{exponent:g}" for exponent in np.arange(10, -41, -1) / 5)

DESCRIPTION = """\
`trials.csv.gz` is a CSV table (RFC 4180, UTF-8, compressed with gzip) with a row for each trial:

| column | content |
| --- | --- |
| `suite` | COCO's name of the suite |
| `solver` | the solver's label |
| `function`, `dimension`, `instance` | the problem; an instance that was run several times has a row for each |
| `evaluations` | number of evaluations of the trial; it ended when it reached 1e-8, or else with its budget |
| `restarts` | how often the solver was restarted in the trial; empty if that was not logged |
| `1e2`, `1e1.8`, ..., `1e-8` | number of evaluations until the best value was within this precision of the optimal value; empty if that was not reached |

The 51 targets are those of COCO's ECDFs: 10^2, 10^1.8, ..., 10^-8.
"""  # noqa: E501


def write(path: Path, runtimes: Iterable[Runtimes]) -> None:
    """Write the table; the same data give the same bytes."""
    compressed_table.write(path, _rows(runtimes))


def _rows(runtimes: Iterable[Runtimes]) -> Iterator[list[object]]:
    yield [*KEYS, *TARGET_COLUMNS]
    for r in runtimes:
        for trial, instance in enumerate(r.instances):
            numbers = [r.spent[trial], r.restarts[trial], *r.evaluations[:, trial]]
            cells = ["" if np.isnan(number) else int(number) for number in numbers]
            yield [r.suite.name, r.solver, r.function, r.dimension, instance, *cells]


def read(path: Path) -> list[Runtimes]:
    """Read a table that ``casmore export`` wrote: the trials by solver, dimension and function.

    Parameters
    ----------
    path
        The file ``trials.csv.gz``.

    Returns
    -------
    list of Runtimes
        In the order of the table.

    Raises
    ------
    ReportError
        If the file is missing or not such a table; the message says what to do.
    """
    try:
        rows = compressed_table.read(path)
    except FileNotFoundError:
        raise ReportError(
            f"there is no {path}; make it with `casmore export RUN --out "
            f"{shlex.quote(str(path.parent))}`"
        ) from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ReportError(f"{path} can't be read: {error}") from error
    if not rows or tuple(rows[0]) != (*KEYS, *TARGET_COLUMNS):
        raise ReportError(f"{path} is not a table of trials: its columns are {rows[:1]}")
    trials: dict[tuple[str, str, int, int], list[list[str]]] = {}
    for suite, solver, function, dimension, *rest in rows[1:]:
        trials.setdefault((suite, solver, int(dimension), int(function)), []).append(rest)
    if unknown := {suite for suite, *_ in trials} - SUITES.keys():
        raise ReportError(f"{path} has trials on the suite {unknown.pop()!r}, which is not known")
    return [_runtimes(*key, own) for key, own in trials.items()]


def _runtimes(
    suite: str, solver: str, dimension: int, function: int, rows: list[list[str]]
) -> Runtimes:
    numbers = np.array([[cell or "nan" for cell in row] for row in rows], dtype=float)
    assert numbers.shape[1] == 3 + len(TARGETS)
    return Runtimes(
        solver=solver,
        function=function,
        dimension=dimension,
        instances=tuple(int(i) for i in numbers[:, 0]),
        spent=numbers[:, 1],
        evaluations=numbers[:, 3:].T,
        restarts=numbers[:, 2],
        suite=SUITES[suite],
    )
