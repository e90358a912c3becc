"""The table of the average regret, for each dimension, function group and solver."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean

from casmore.atomic_io import write_text
from casmore.problems.suites import Group, Suite
from casmore.reports.regret.regrets import MEAN, SAMPLES, Regrets, average_log

CAPTION = (
    "Average log10 of the regret: of the median recent sample, and in brackets of the mean of the "
    "search distribution. The average is over the logarithm of the evaluations, from the "
    "dimension to the budget, over the trials, and over the functions of a group that all solvers "
    "have. After the end of a trial its last regret counts. A regret below 1e-8 counts as 1e-8, "
    "one above 1e10 as 1e10. Bold: smallest regret of samples in its row."
)
ALL = "all"


@dataclass(frozen=True)
class RegretLine:
    """Average log10 regret of one solver on a group of functions in one dimension."""

    dimension: int
    group: str
    solver: str
    samples: float
    mean: float


def lines(
    regrets: Sequence[Regrets], budgets: Mapping[int, float], suite: Suite
) -> list[RegretLine]:
    """Return a line for each dimension, group (and all functions) and solver.

    Parameters
    ----------
    regrets
        Of all solvers.
    budgets
        In evaluations per dimension, by dimension.
    suite
        The suite that the functions are of.
    """
    found = []
    everything = Group(ALL, suite.functions[0], suite.functions[-1])
    for dimension in sorted({r.dimension for r in regrets}):
        own = [r for r in regrets if r.dimension == dimension]
        order = list(dict.fromkeys(r.solver for r in own))
        averages = {
            (r.solver, r.function, what): float(
                r.weights @ average_log(r, what, budgets[dimension] * dimension)
            )
            for r in own
            for what in (SAMPLES, MEAN)
        }
        common = set.intersection(*({r.function for r in own if r.solver == s} for s in order))
        for group, first, last in (*suite.groups, everything):
            members = [f for f in sorted(common) if first <= f <= last]
            for solver in order if members else []:
                samples, mean = (
                    fmean(averages[solver, f, what] for f in members) for what in (SAMPLES, MEAN)
                )
                found.append(RegretLine(dimension, group, solver, samples, mean))
    return found


def markdown(table: Sequence[RegretLine]) -> str:
    """Return the table as Markdown, with a row for each dimension and group."""
    order = list(dict.fromkeys(line.solver for line in table))
    text = [CAPTION, "", f"| n | functions | {' | '.join(order)} |"]
    text.append("| --- | --- |" + " ---: |" * len(order))
    rows: dict[tuple[int, str], dict[str, RegretLine]] = {}
    for line in table:
        rows.setdefault((line.dimension, line.group), {})[line.solver] = line
    for (dimension, group), by_solver in rows.items():
        smallest = min(line.samples for line in by_solver.values())
        cells = [_cell(by_solver.get(solver), smallest) for solver in order]
        text.append(f"| {dimension} | {group} | {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


def _cell(line: RegretLine | None, smallest: float) -> str:
    if line is None:
        return ""
    samples = f"{line.samples:.2f}"
    return f"{f'**{samples}**' if line.samples == smallest else samples} ({line.mean:.2f})"


def write_csv(path: Path, table: Sequence[RegretLine]) -> None:
    """Write a row for each line."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([field.name for field in fields(RegretLine)])
    for line in table:
        *key, samples, mean = astuple(line)
        writer.writerow([*key, f"{samples:.4f}", f"{mean:.4f}"])
    write_text(path, file.getvalue())
