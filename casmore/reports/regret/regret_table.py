"""The table of the regret in a run's trials in one compressed file.

There are two rows for each trial: the regret of samples and that of the mean.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from casmore.problems.regret import checkpoints
from casmore.reports import compressed_table
from casmore.reports.regret.regrets import MEAN, SAMPLES, SMALLEST, Regrets, collect
from casmore.reports.report_error import ReportError

Array = NDArray[np.float64]

FILE = "regret.csv.gz"
_KEYS = ("solver", "function", "dimension", "instance", "evaluations", "of", "end")
_DECIMALS = 2

DESCRIPTION = f"""\
`{FILE}` is a CSV table, compressed with gzip, with two rows for each trial. The regret of a point is
its value minus the optimal value of the function.

| column | content |
| --- | --- |
| `solver`, `function`, `dimension`, `instance`, `evaluations` | as above |
| `of` | `{SAMPLES}`: the median regret of the last max(20, evaluations / 10) samples; `{MEAN}`: the regret of the mean of the search distribution |
| `end` | log10 of the regret at the end of the trial; `inf` if it is not finite, {np.log10(SMALLEST):.0f} if it is at most {SMALLEST:.0e} |
| `1`, `2`, `3`, ... | the same after this number of evaluations: ceil(10^(k / 20)) for k = 0, 1, 2, ...; empty after the end |
"""  # noqa: E501


def write(path: Path, regrets: Sequence[Regrets]) -> None:
    """Write the table; the same data give the same bytes."""
    compressed_table.write(path, _rows(regrets))


def _rows(regrets: Sequence[Regrets]) -> Iterator[list[object]]:
    grid = checkpoints(int(max(r.spent.max() for r in regrets)))
    yield [*_KEYS, *grid]
    for r in regrets:
        logs = {of: np.log10(np.maximum(r.of(of), SMALLEST)) for of in (SAMPLES, MEAN)}
        for trial, (instance, spent) in enumerate(zip(r.instances, r.spent, strict=True)):
            before = np.searchsorted(grid, spent, side="right")
            end = np.searchsorted(r.evaluations, spent)
            for of, values in logs.items():
                own = values[trial].tolist()
                cells = [f"{value:.{_DECIMALS}f}" for value in (own[end], *own[:before])]
                yield [r.solver, r.function, r.dimension, instance, int(spent), of, *cells]


def read(path: Path) -> list[Regrets]:
    """Read the table, in its order of solvers, dimensions and functions.

    Raises
    ------
    ReportError
        If the file can't be read, or is not such a table.
    """
    try:
        header, *rows = compressed_table.read(path)
        if tuple(header[: len(_KEYS)]) != _KEYS or len(rows) % 2:
            raise ValueError(f"its columns are {header[: len(_KEYS)]}, its rows {len(rows)}")
        grid = np.array([float(name) for name in header[len(_KEYS) :]])
        found = []
        for key, group in groupby(rows, key=lambda row: (row[0], int(row[1]), int(row[2]))):
            own = list(group)
            records = [_record(*pair, grid) for pair in zip(own[::2], own[1::2], strict=True)]
            found.append(collect(*key, [int(row[3]) for row in own[::2]], records))
    except (OSError, EOFError, ValueError) as error:
        raise ReportError(f"{path} can't be read as a table of regret: {error}") from error
    return found


def _record(samples: list[str], mean: list[str], grid: Array) -> tuple[Array, Array, Array]:
    if (samples[5], mean[5]) != (SAMPLES, MEAN):
        raise ValueError(f"a trial has the rows {samples[5]!r} and {mean[5]!r}")
    spent = float(samples[4])
    evaluations = grid[: np.count_nonzero(grid <= spent)]
    values = [_values(row, len(evaluations)) for row in (samples, mean)]
    if evaluations[-1] == spent:  # the end is one of the points
        return evaluations, values[0][:-1], values[1][:-1]
    return np.append(evaluations, spent), values[0], values[1]


def _values(row: list[str], points: int) -> Array:
    cells = [*row[len(_KEYS) : len(_KEYS) + points], row[6]]
    return np.asarray(10.0 ** np.array(cells, dtype=float))
