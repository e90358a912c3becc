"""The table of a study's runs, one row each, ``NAME_runs.csv``.

Claims, and all statements of figures about the end of runs, are based on this table.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.atomic_io import write_text
from casmore.reports.report_error import ReportError
from casmore.studies.confidence import Attempts, lower_median
from casmore.trace import Trace

Array = NDArray[np.float64]

# values at the mean that a run passes before the target, and the corresponding columns
MILESTONES = {1.0: "to_1", 1e-2: "to_1e_2", 1e-7: "to_1e_7"}
_WINDOW = 1000.0  # number of evaluations over which the fall of the entropy is measured


@dataclass(frozen=True)
class StudyRun:
    """Results of one run.

    Attributes
    ----------
    label, function, settings
        The variant, the number of the function, and the settings that are not defaults.
    run
        Number of the run, from 0.
    evaluations
        At the end of the run.
    reached
        Whether the value at the mean reached the target.
    f_start, f_end
        Value at the mean at the start and at the end; NaN counts as infinity.
    to_1, to_1e_2, to_1e_7
        Evaluations after which the value at the mean was first at most 1, 1e-2 and 1e-7;
        infinity if never.
    first_fall, least_fall, last_fall
        Decrease of the entropy in nats over the first 1000 evaluations, over those 1000 in between
        in which it is smallest, and over the last 1000; NaN for a run of less than 3000.
    """

    label: str
    function: int
    settings: str
    run: int
    evaluations: int
    reached: bool
    f_start: float
    f_end: float
    to_1: float
    to_1e_2: float
    to_1e_7: float
    first_fall: float
    least_fall: float
    last_fall: float


@dataclass(frozen=True)
class Variant:
    """All runs of one variant on one function."""

    runs: tuple[StudyRun, ...]

    @property
    def label(self) -> str:
        """Name of the variant."""
        return self.runs[0].label

    @property
    def function(self) -> int:
        """Number of the function."""
        return self.runs[0].function

    @property
    def settings(self) -> str:
        """The settings that are not defaults."""
        return self.runs[0].settings

    @property
    def reached(self) -> int:
        """Number of runs that reached the target."""
        return sum(run.reached for run in self.runs)

    @cached_property
    def attempts(self) -> Attempts:
        """The evaluations that the runs spent on the target."""
        return Attempts(self.column("evaluations"), self.column("reached").astype(bool))

    @property
    def value(self) -> float:
        """Median of the last value at the mean."""
        return lower_median(self.column("f_end"))

    def column(self, name: str) -> Array:
        """Return a column, shape (runs,)."""
        return np.array([getattr(run, name) for run in self.runs], dtype=float)

    def attempts_to(self, milestone: float) -> Attempts:
        """Return the evaluations of the runs until a value at the mean among ``MILESTONES``."""
        when = self.column(MILESTONES[milestone])
        reached = np.isfinite(when)
        return Attempts(np.where(reached, when, self.column("evaluations")), reached)

    def attempts_between(self, start: float, end: float) -> Attempts:
        """Return the evaluations from ``start`` to ``end`` of the runs that passed ``start``."""
        first, second = self.attempts_to(start), self.attempts_to(end)
        on = first.reached
        return Attempts((second.spent - first.spent)[on], second.reached[on])


def describe_run(
    label: str, function: int, settings: str, run: int, trace: Trace, *, reached: bool
) -> StudyRun:
    """Return the row of a run, from its trace."""
    f_mean = np.where(np.isnan(trace["f_mean"]), np.inf, trace["f_mean"])
    evaluations = trace["evaluations"]
    milestones = {name: _first_below(evaluations, f_mean, f) for f, name in MILESTONES.items()}
    first, least, last = entropy_falls(evaluations, trace["entropy"])
    return StudyRun(
        label,
        function,
        settings,
        run,
        evaluations=int(evaluations[-1]),
        reached=reached,
        f_start=float(f_mean[0]),
        f_end=float(f_mean[-1]),
        **milestones,
        first_fall=first,
        least_fall=least,
        last_fall=last,
    )


def entropy_falls(evaluations: Array, entropy: Array) -> tuple[float, float, float]:
    """Return the decrease of the entropy in nats over 1000 evaluations, in three phases.

    Over the first 1000, over those 1000 in between in which it is smallest, and over the last
    1000. Shapes (points,); NaN if there are less than 3000 evaluations.
    """
    last = evaluations[-1] - _WINDOW
    if last < 2 * _WINDOW:
        return math.nan, math.nan, math.nan
    starts = np.concatenate([[0.0, last], np.arange(_WINDOW, last - _WINDOW + 1, 100.0)])
    before, after = np.interp([starts, starts + _WINDOW], evaluations, entropy)
    falls = before - after
    return float(falls[0]), float(falls[2:].min()), float(falls[1])


def _first_below(evaluations: Array, values: Array, bound: float) -> float:
    below = np.flatnonzero(values <= bound)
    return float(evaluations[below[0]]) if below.size else math.inf


def variants(runs: Iterable[StudyRun]) -> list[Variant]:
    """Group runs by variant and function, in their order."""
    groups: dict[tuple[str, int], list[StudyRun]] = {}
    for run in runs:
        groups.setdefault((run.label, run.function), []).append(run)
    return [Variant(tuple(group)) for group in groups.values()]


def write_runs(path: Path, runs: Sequence[StudyRun]) -> None:
    """Write ``NAME_runs.csv``."""
    write_csv(path, [{f.name: _as_text(getattr(run, f.name)) for f in fields(run)} for run in runs])


def read_variants(path: Path) -> list[Variant]:
    """Read ``NAME_runs.csv``: its variants, in their order.

    Raises
    ------
    ReportError
        If the file is missing; the message says how it is made.
    """
    kinds: dict[str, Any] = {f.name: f.type for f in fields(StudyRun)} | {"reached": _is_true}
    return variants(
        StudyRun(**{name: kind(row[name]) for name, kind in kinds.items()})
        for row in read_csv(path)
    )


def _as_text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_true(text: str) -> bool:
    return text == "True"


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of the same columns, at least one."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a table of a study.

    Raises
    ------
    ReportError
        If the file is missing; the message says how it is made.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        name = path.stem.rpartition("_")[0]
        raise ReportError(f"there is no {path}; make it with: make study STUDY={name}") from None
