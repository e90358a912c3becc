"""Export runs: their trials as one table, with configs, seeds and versions."""

import csv
import io
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from casmore.atomic_io import write_json, write_text
from casmore.reports import trial_table
from casmore.reports.export_source import (
    COST_FILE,
    RUNS_FILE,
    Cost,
    Source,
    check_joinable,
    grouped,
    is_export,
)
from casmore.reports.regret import regret_table, regrets
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, joined, suite_of

_README = """\
# Results on {suite}

{trials}
{regret}`cost.csv` gives the evaluations and the time that each solver has spent in each dimension,
summed over its trials. `runs.json` gives the config, the seeds and the versions of {runs}.

Written by `casmore export`; read it with `casmore.reports.trial_table.read`, pandas or R.
"""


def export(sources: Sequence[Source], out: Path) -> list[Path]:
    """Write the data of runs, and of earlier exports, as one export.

    Parameters
    ----------
    sources
        The data. Several may have the same solver on the same function and dimension if the
        instances differ, and the settings, the budget and the start are the same.
    out
        Where to write ``trials.csv.gz``, ``regret.csv.gz`` if the runs recorded it, ``cost.csv``,
        ``runs.json`` and ``README.md``. It may be the folder of one of the sources.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ReportError
        If two sources have the same trials, or trials of a solver under different conditions; if
        their suites differ; or if an export in ``out`` has trials that the sources do not have. The
        message names them.
    """
    check_joinable(sources)
    groups = grouped(r for source in sources for r in source.runtimes)
    records = grouped(r for source in sources for r in source.regrets)
    order = list(dict.fromkeys(solver for solver, _, _ in groups))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), *key[1:]))
    runtimes = [joined(groups[key]) for key in keys]
    recorded = [regrets.joined(records[key]) for key in keys if key in records]
    runs = [run for source in sources for run in source.runs]
    _check_replaced(out, runtimes)
    out.mkdir(parents=True, exist_ok=True)
    # a full disk leaves the old files, which may be all there is of some trials
    with tempfile.TemporaryDirectory(dir=out, prefix=".export-") as temporary:
        new = Path(temporary)
        trial_table.write(new / trial_table.FILE, runtimes)
        if recorded:
            regret_table.write(new / regret_table.FILE, recorded)
        write_text(new / COST_FILE, _cost(cost for source in sources for cost in source.costs))
        write_json(new / RUNS_FILE, runs)
        text = _README.format(
            suite=suite_of(runtimes).name,
            trials=trial_table.DESCRIPTION,
            regret=f"{regret_table.DESCRIPTION}\n" if recorded else "",
            runs="the run" if len(runs) == 1 else f"the {len(runs)} runs",
        )
        write_text(new / "README.md", text)
        tables = [trial_table.FILE, *([regret_table.FILE] if recorded else [])]
        names = [*tables, COST_FILE, RUNS_FILE, "README.md"]
        for name in names:
            os.replace(new / name, out / name)
    if not recorded:
        (out / regret_table.FILE).unlink(missing_ok=True)  # of the export that is replaced
    return [out / name for name in names]


def _check_replaced(out: Path, new: Iterable[Runtimes]) -> None:
    """Check that no trials of an export in ``out`` are lost when it is replaced."""
    if not is_export(out):
        return
    lost = _trials(trial_table.read(out / trial_table.FILE)) - _trials(new)
    if lost:
        suite, solver, function, n, instance = next(iter(lost))
        raise ReportError(
            f"{out} has {lost.total()} trials that would be lost (such as {solver} on f{function} "
            f"of {suite} in {n}-D, instance {instance}); give {out} as a RUN, too, or write "
            "elsewhere, with --out"
        )


def _trials(runtimes: Iterable[Runtimes]) -> Counter[tuple[str, str, int, int, int]]:
    """Return how many trials there are of each solver on each problem."""
    return Counter(
        (r.suite.name, r.solver, r.function, r.dimension, instance)
        for r in runtimes
        for instance in r.instances
    )


def _cost(costs: Iterable[Cost]) -> str:
    totals: dict[tuple[str, int], Cost] = {}
    for cost in costs:
        key = (cost.solver, cost.dimension)
        before = totals.get(key)
        totals[key] = _sum(before, cost) if before else cost
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Cost._fields)
    for *numbers, wall, cpu in totals.values():
        writer.writerow([*numbers, round(wall, 1), round(cpu, 1)])
    return text.getvalue()


def _sum(a: Cost, b: Cost) -> Cost:
    return Cost(
        a.solver,
        a.dimension,
        a.trials + b.trials,
        a.evaluations + b.evaluations,
        a.wall_seconds + b.wall_seconds,
        a.cpu_seconds + b.cpu_seconds,
    )
