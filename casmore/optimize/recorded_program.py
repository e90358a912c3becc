"""Evaluations of an external program, recorded so that an interrupted run can be resumed.

Each value is written to a CSV file as soon as it is known. A resumed run asks for the same points
again, since it has the same seed, and gets their values from the file.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from casmore.atomic_io import write_text
from casmore.optimize.evaluation_log import EvaluationLog, read_evaluations
from casmore.optimize.external_program import ExternalProgram, ProgramFailedError

Array = NDArray[np.float64]


class RecordedProgram:
    """The objective of `fmin`: takes values from the file, or runs the program.

    A failure is the value NaN, and its reason a line of ``failures.log``.

    Parameters
    ----------
    program
        The program.
    folder
        Has ``evaluations.csv``, if there were evaluations before.
    dimension
        The dimension n.
    report
        Gets the message of the first failure.

    Attributes
    ----------
    evaluations, failed : int
        Numbers of values returned, including those of the file, and of those that are NaN.

    Raises
    ------
    ValueError
        If the file is damaged.
    """

    def __init__(
        self,
        program: ExternalProgram,
        folder: Path,
        dimension: int,
        report: Callable[[str], None],
    ) -> None:
        self._program, self._report = program, report
        self.path, self.failures_path = folder / "evaluations.csv", folder / "failures.log"
        self._lock = threading.Lock()
        self._known: dict[bytes, deque[float]] = defaultdict(deque)
        self.evaluations = self.failed = 0
        kept = None
        if self.path.exists():
            X, y = _read(self.path, dimension)
            kept = len(y)
            for x, value in zip(X, y.tolist(), strict=True):
                self._known[x.tobytes()].append(value)
        self._log = EvaluationLog(self.path, dimension, kept)
        self._number = kept or 0  # of the last evaluation in the file

    @property
    def unused(self) -> int:
        """Number of evaluations in the file that the run has not asked for."""
        return sum(map(len, self._known.values()))

    def __call__(self, x: Array) -> float:
        """Return the value of a point, shape (n,); NaN if the program failed.

        Raises
        ------
        ProgramFailedError
            If the program was stopped.
        """
        with self._lock:
            known = self._known.get(x.tobytes())
            if known:
                return self._counted(known.popleft())
        reason = None
        try:
            value = self._program(x)
        except ProgramFailedError as error:
            if self._program.stopped:
                raise
            value, reason = math.nan, str(error)
        with self._lock:
            self._number += 1
            self._log(x[np.newaxis], np.array([value]))
            if reason is not None:
                self._note(reason)
            return self._counted(value)

    def _counted(self, value: float) -> float:
        self.evaluations += 1
        self.failed += math.isnan(value)
        return value

    def _note(self, reason: str) -> None:
        line = f"evaluation {self._number} failed: {reason}"
        with self.failures_path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(line + "\n")
        if self.failed == 0:
            self._report(line)

    def __enter__(self) -> Self:
        self._log.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._log.__exit__(kind, error, trace)


def _read(path: Path, n: int) -> tuple[Array, Array]:
    """Return the evaluations; a last line that was being written when the power failed is cut."""
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        write_text(path, text)
    if not text:
        return np.empty((0, n)), np.empty(0)
    return read_evaluations(path, n)
