"""The units of a run one by one: what each has taken, how it ended, what it failed of."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit
from casmore.reports.errors import ReportError

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
    """A unit that is done, or has failed.

    Attributes
    ----------
    record
        What is written of it: its ``unit.json``, or that of its failure.
    failed
        Which of the two.
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
        return tuple(str(known.get(name, record.get(name, ""))) for name in COLUMNS)


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
        UnitRow(unit, _read(folder.failure(unit)), failed=True)
        for unit in folder.failed()
        if unit not in published  # by a later session
    ]
    return sorted(rows, key=lambda row: _order(row.unit))


def write_csv(path: Path, rows: Sequence[UnitRow]) -> None:
    """Write a row for each unit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(row.cells() for row in rows)


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
    raise ReportError(
        f"{path} is not a unit's record ({problem}); 'casmore verify' puts the unit out of the "
        "way, and the same 'casmore run' as before runs it again"
    )
