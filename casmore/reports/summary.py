"""A run in numbers: everything as CSV, and a comparison of the solvers as a table.

The area under the ECDF
-----------------------
The empirical cumulative distribution of runtimes (ECDF) of a solver on a function gives, for each
x, the fraction of the pairs of target and trial that the solver had reached within x * n
evaluations (n: dimension). Its targets are the 51 target precisions 10^2, 10^1.8, ..., 10^-8. Its
area is

    1 / log10(B) * integral from 0 to log10(B) of ECDF(10^u) du,

with the budget B in evaluations per dimension. A pair reached after r * n evaluations is in the
ECDF from x = r on, so it contributes 1 - log10(r) / log10(B), at most 1 (reached within n
evaluations) and at least 0 (reached at the budget, or beyond it by the last population); a pair not
reached contributes nothing. The area is the mean of these contributions: exact, no grid. With a
budget of B = 1, it is the limit: the fraction reached within n evaluations. There are no simulated
restarts, unlike in cocopp's ECDFs: a target that was not reached within the budget counts as not
reached.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.table import Table

from casmore.atomic_io import write_text
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, Runtimes, comparable, dimensions
from casmore.reports.terminal_table import terminal_table
from casmore.reports.unit_table import Effort

_ERT_COLUMNS = tuple(f"ert_{t:.0e}".replace("e+0", "e").replace("e-0", "e-") for t in ERT_TARGETS)
COLUMNS = (
    "solver",
    "dimension",
    "function",
    "group",
    "trials",
    "successes",
    *_ERT_COLUMNS,
    "ecdf_area",
    "budget_per_dimension",
    "evaluations",
    "cpu_us_per_evaluation",
)


def ecdf_area(runtimes: Runtimes, budget: float) -> float:
    """Return the area under the ECDF, in [0, 1]; defined at the top of this file.

    Parameters
    ----------
    runtimes
        A solver's, on one function in one dimension.
    budget
        In evaluations per dimension.

    Raises
    ------
    ValueError
        If ``budget`` is less than one evaluation per dimension.
    """
    if not budget >= 1:
        raise ValueError(
            f"budget = {budget} evaluations per dimension: the area starts at 1, so it must be >= 1"
        )
    with np.errstate(invalid="ignore"):
        r = np.maximum(runtimes.evaluations / runtimes.dimension, 1.0)
        if budget == 1:
            contributions = (r == 1.0).astype(float)
        else:
            contributions = np.maximum(1.0 - np.log10(r) / math.log10(budget), 0.0)
    return float(np.mean(np.nan_to_num(contributions, nan=0.0) @ runtimes.weights))


def write_csv(
    path: Path,
    runtimes: Sequence[Runtimes],
    budgets: Mapping[int, float],
    efforts: Mapping[tuple[str, int, int], Effort],
) -> None:
    """Write all numbers, a row for each solver, dimension and function.

    Expected running times are in evaluations, ``inf`` where no trial reached the target;
    what is not known (the effort, for data that came without sidecars) is empty.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for r in runtimes:
        effort = efforts.get((r.solver, r.dimension, r.function))
        writer.writerow(_row(r, budgets[r.dimension], effort))
    write_text(path, file.getvalue())


def _row(r: Runtimes, budget: float, effort: Effort | None) -> dict[str, object]:
    return {
        "solver": r.solver,
        "dimension": r.dimension,
        "function": r.function,
        "group": r.group,
        "trials": r.trials,
        "successes": r.successes,
        **{name: f"{e:.6g}" for name, e in zip(_ERT_COLUMNS, r.ert[ERT_ROWS], strict=True)},
        "ecdf_area": f"{ecdf_area(r, budget):.6f}",
        "budget_per_dimension": f"{budget:g}",
        "evaluations": effort.evaluations if effort else "",
        "cpu_us_per_evaluation": f"{effort.microseconds_per_evaluation:.4g}" if effort else "",
    }


@dataclass(frozen=True)
class Line:
    """A solver in one dimension, over the functions that all solvers there have.

    Attributes
    ----------
    area
        Mean area under the ECDF.
    solved_functions
        Number of functions with at least one trial that reached the final target.
    ert_ratio
        Geometric mean, over functions and targets that both reach, of the ratio of this solver's
        expected running time to the first solver's; NaN if they reach none in common.
    microseconds
        CPU time per evaluation; NaN if not known.
    """

    dimension: int
    solver: str
    functions: int
    area: float
    solved_functions: int
    solved_trials: int
    trials: int
    ert_ratio: float
    microseconds: float


def compare(
    runtimes: Sequence[Runtimes],
    budgets: Mapping[int, float],
    efforts: Mapping[tuple[str, int, int], Effort],
) -> list[Line]:
    """Return a line for each dimension and solver, the first solver being the reference."""
    lines = []
    first = runtimes[0].solver
    for dimension in dimensions(runtimes):
        by_solver = comparable(runtimes, dimension)
        reference = by_solver.get(first)
        for solver, own in by_solver.items():
            spent = [
                efforts[key] for r in own if (key := (solver, dimension, r.function)) in efforts
            ]
            total = Effort(sum(e.evaluations for e in spent), sum(e.cpu_seconds for e in spent))
            areas = [ecdf_area(r, budgets[dimension]) for r in own]
            lines.append(
                Line(
                    dimension=dimension,
                    solver=solver,
                    functions=len(own),
                    area=fmean(areas) if areas else float("nan"),
                    solved_functions=sum(r.successes > 0 for r in own),
                    solved_trials=sum(r.successes for r in own),
                    trials=sum(r.trials for r in own),
                    ert_ratio=_ert_ratio(own, reference) if reference else float("nan"),
                    microseconds=total.microseconds_per_evaluation,
                )
            )
    return lines


def _ert_ratio(own: Sequence[Runtimes], reference: Sequence[Runtimes]) -> float:
    """Geometric mean of ERT ratios; both are on the same functions, in the same order."""
    ratios = [
        math.log(a / b)
        for r, s in zip(own, reference, strict=True)
        for a, b in zip(r.ert[ERT_ROWS], s.ert[ERT_ROWS], strict=True)
        if math.isfinite(a) and math.isfinite(b)
    ]
    return math.exp(fmean(ratios)) if ratios else float("nan")


HEADINGS = (
    "n",
    "solver",
    "area under ECDF",
    "solved functions",
    "solved trials",
    "ERT ratio",
    "µs / evaluation",
)


def cells(line: Line) -> tuple[str, ...]:
    """Return the line as text, in the order of ``HEADINGS``."""
    return (
        str(line.dimension),
        line.solver,
        _or_dash(line.area, ".3f"),
        f"{line.solved_functions} / {line.functions}",
        f"{line.solved_trials} / {line.trials}",
        _or_dash(line.ert_ratio, ".2f"),
        _or_dash(line.microseconds, ".0f"),
    )


def table(lines: Sequence[Line], width: int) -> Table:
    """Return the comparison as a table for a terminal of a width, in characters."""
    return terminal_table(
        "Comparison, mean over functions",
        HEADINGS,
        [cells(line) for line in lines],
        width=width,
        ends=[i for i in range(len(lines) - 1) if lines[i].dimension != lines[i + 1].dimension],
        caption=caption(lines[0].solver),
    )


def caption(reference: str) -> str:
    """Say what the ratio is of."""
    return (
        f"ERT ratio: expected running time / that of {reference}, geometric mean over the "
        "functions and targets both reach; less than 1 is faster"
    )


def _or_dash(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "-"
