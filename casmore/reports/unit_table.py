"""The table of a run's units: cost, outcome, and reasons for failures."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from casmore.atomic_io import write_text
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit
from casmore.reports.report_error import ReportError

COLUMNS = (
    "solver",
    "function",
    "dimension",
    "instance",
    "repeat",
    "state",
    "evaluations",
    "budget",
    "final_target_hit",
    "best_value",
    "restarts",
    "stop_reasons",
    "wall_seconds",
    "cpu_seconds",
    "warnings",
    "error",
)


@dataclass(frozen=True)
class UnitRow:
    """A unit that is done or has failed.

    Attributes
    ----------
    record
        The content of its ``unit.json``, or the record of its failure.
    failed
        Whether the unit has failed.
    """

    unit: Unit
    record: dict[str, Any] = field(repr=False)
    failed: bool

    @property
    def stop_reasons(self) -> tuple[str, ...]:
        """Why each of its runs ended, in their order; those before the last led to restarts."""
        return tuple(", ".join(reasons) for reasons in self.record.get("stop_reasons", []))

    def cells(self) -> tuple[str, ...]:
        """Return the row as text, in the order of ``COLUMNS``; what is not known is empty."""
        unit, record = self.unit, self.record
        known = {
            "state": "failed" if self.failed else "done",
            "stop_reasons": "; ".join(self.stop_reasons),
            "warnings": "; ".join(record.get("warnings", [])),
            "solver": unit.label,
            "function": unit.function,
            "dimension": unit.dimension,
            "instance": unit.instance,
            "repeat": unit.repeat,
        }
        values = (known.get(name, record.get(name)) for name in COLUMNS)
        return tuple("" if value is None else str(value) for value in values)


def load(run: Path) -> list[UnitRow]:
    """Read the records of all units that are done or have failed, in the order of their names.

    Raises
    ------
    ReportError
        If a record can't be read.
    """
    folder = RunFolder(run)
    published = folder.published()
    rows = [UnitRow(unit, _read(folder.sidecar(unit)), failed=False) for unit in published]
    rows += [
        UnitRow(unit, _read_failure(folder.failure(unit)), failed=True)
        for unit in folder.failed()
        if unit not in published  # by a later session
    ]
    return sorted(rows, key=lambda row: _order(row.unit))


def write_csv(path: Path, rows: Sequence[UnitRow]) -> None:
    """Write a row for each unit."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row.cells() for row in rows)
    write_text(path, file.getvalue())


@dataclass(frozen=True)
class Total:
    """What a solver has taken in one dimension, and how its runs ended."""

    solver: str
    dimension: int
    done: int
    failed: int
    evaluations: int
    restarts: int
    wall_seconds: float
    cpu_seconds: float
    reasons: dict[str, int]


def totals(rows: Sequence[UnitRow]) -> Iterator[Total]:
    """Yield a total for each solver and dimension; all runs count in its reasons."""
    cells: dict[tuple[str, int], list[UnitRow]] = {}
    for row in rows:
        cells.setdefault((row.unit.label, row.unit.dimension), []).append(row)
    for (solver, dimension), own in sorted(cells.items()):
        reasons: dict[str, int] = {}
        for reason in (reason for row in own for reason in row.stop_reasons):
            reasons[reason] = reasons.get(reason, 0) + 1

        def total(name: str, own: list[UnitRow] = own) -> Any:
            return sum(row.record.get(name, 0) for row in own)

        yield Total(
            solver,
            dimension,
            done=sum(not row.failed for row in own),
            failed=sum(row.failed for row in own),
            evaluations=total("evaluations"),
            restarts=total("restarts"),
            wall_seconds=total("wall_seconds"),
            cpu_seconds=total("cpu_seconds"),
            reasons=dict(sorted(reasons.items(), key=lambda item: -item[1])),
        )


@dataclass(frozen=True)
class Effort:
    """What a solver spent on one function in one dimension, over all trials."""

    evaluations: int
    cpu_seconds: float

    @property
    def microseconds_per_evaluation(self) -> float:
        """CPU time per evaluation, the function's own included."""
        return 1e6 * self.cpu_seconds / self.evaluations if self.evaluations else float("nan")


def efforts(rows: Sequence[UnitRow]) -> dict[tuple[str, int, int], Effort]:
    """Return the effort by solver, dimension and function, of the units that are done.

    Raises
    ------
    ReportError
        If a record lacks the evaluations or the CPU time.
    """
    total: dict[tuple[str, int, int], Effort] = {}
    for row in rows:
        if row.failed:
            continue
        try:
            spent = int(row.record["evaluations"]), float(row.record["cpu_seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(row.unit, f"{type(error).__name__}: {error}") from error
        key = (row.unit.label, row.unit.dimension, row.unit.function)
        before = total.get(key, Effort(0, 0.0))
        total[key] = Effort(before.evaluations + spent[0], before.cpu_seconds + spent[1])
    return total


def _order(unit: Unit) -> tuple[str, int, int, int, int]:
    return unit.label, unit.dimension, unit.function, unit.instance, unit.repeat


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict):
            return record
        problem = f"it holds a {type(record).__name__}"
    except (OSError, ValueError) as error:
        problem = str(error)
    raise _damaged(path, problem)


def _read_failure(path: Path) -> dict[str, Any]:
    try:
        return _read(path)
    except ReportError:  # the unit is run again in any case
        return {"error": f"{path} can't be read", "traceback": ""}


def _damaged(what: object, problem: str) -> ReportError:
    return ReportError(
        f"{what} is not a unit's record ({problem}); 'casmore verify' moves a damaged unit to "
        "quarantine, and 'casmore run' with the same config runs it again"
    )
