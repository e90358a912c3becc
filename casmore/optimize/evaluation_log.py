"""Writing and reading a log of all evaluations as CSV."""

from __future__ import annotations

import csv
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from casmore.atomic_io import write_text

Array = NDArray[np.float64]

_COLUMNS = ("evaluation", "seconds", "f")


class EvaluationLog:
    """Appends each evaluation to a CSV file: number, seconds since the call began, f, and x.

    Numbers are written with all digits, so that reading them back gives the same values.

    Parameters
    ----------
    path
        The file.
    dimension
        The dimension n.
    kept
        Number of evaluations of a resumed run that the file already contains; later ones in the
        file are dropped, since they will be evaluated again. None: a new run.
    last
        The last of these points, shape (n,), by which a file of another run is recognized.

    Raises
    ------
    FileExistsError
        If a new run is given a file that exists.
    ValueError
        If a resumed run is given the file of another one.
    """

    def __init__(
        self,
        path: str | Path,
        dimension: int,
        kept: int | None = None,
        last: Array | None = None,
    ) -> None:
        self.path = Path(path)
        self._count = kept or 0
        self._began = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._is_new = not (kept is not None and self.path.exists())
        if not self._is_new:
            self._cut(kept or 0, last)
        try:
            mode = "x" if self._is_new else "a"
            self._file = self.path.open(mode, newline="", encoding="utf-8")
        except FileExistsError:
            raise FileExistsError(
                f"history: {self.path} exists and is not overwritten; "
                "remove it, or give another file"
            ) from None
        self._writer = csv.writer(self._file, lineterminator="\n")
        if self._file.tell() == 0:
            self._writer.writerow([*_COLUMNS, *(f"x{i}" for i in range(dimension))])

    def _cut(self, kept: int, last: Array | None) -> None:
        """Drop evaluations that will be repeated, and a line that was written in part."""
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines = [line for line in lines if line.endswith("\n")]
        if last is not None and 0 < kept < len(lines):
            point = lines[kept].rstrip("\n").split(",")[len(_COLUMNS) :]
            if point != [repr(v) for v in last.tolist()]:
                raise ValueError(
                    f"history: {self.path} is not of the run that is resumed: the point in line "
                    f"{kept + 1} is another one; give the file of this run, or a new one"
                )
        write_text(self.path, "".join(lines[: kept + 1]))

    def __call__(self, X: Array, y: Array) -> None:
        """Append points, shape (k, n), and their values, shape (k,)."""
        seconds = time.monotonic() - self._began
        for x, value in zip(X.tolist(), y.tolist(), strict=True):
            self._count += 1
            self._writer.writerow([self._count, f"{seconds:.3f}", value, *x])
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError) if error is not None else nullcontext():  # it has the result
            self._file.close()
        if error is not None and self._is_new and self._count == 0:  # the same call may follow
            self.path.unlink(missing_ok=True)


def dimension_in(path: str | Path) -> int:
    """Return the number of columns ``x0``, ``x1``, ... of a CSV file."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        names = next(csv.reader(file), [])
    n = 0
    while f"x{n}" in names:
        n += 1
    return n


def read_evaluations(path: str | Path, n: int) -> tuple[Array, Array]:
    """Return points, shape (k, n), and values, shape (k,), of a CSV file.

    Parameters
    ----------
    path
        A file with a header in which ``f`` names the value, and ``x0``, ``x1``, ... the
        coordinates; other columns are ignored. `EvaluationLog` writes such files.
    n
        The dimension.

    Raises
    ------
    ValueError
        If a column is missing, or a cell is not a number; the message names file and line.
    """
    points, values = [], []
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        names = [f"x{i}" for i in range(n)]
        missing = [name for name in ("f", *names) if name not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"{path} has no column {', '.join(missing)}")
        for row in rows:
            try:
                values.append(float(row["f"]))
                points.append([float(row[name]) for name in names])
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}, line {rows.line_num}: {error}") from error
    return np.array(points).reshape(-1, n), np.array(values)
