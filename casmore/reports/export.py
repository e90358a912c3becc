"""Export runs: their trials as one table, with configs, seeds and versions."""

import csv
import io
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from casmore.atomic_io import write_json, write_text
from casmore.reports import run_data, trial_table, unit_table
from casmore.reports.regret import regret_table
from casmore.reports.regret.regrets import of_units as regrets_of
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, suite_of
from casmore.reports.unit_table import UnitRow

_README = """\
# Results on {suite}

{trials}
{regret}`cost.csv` gives the evaluations and the time that each solver has spent in each dimension,
summed over its trials. `runs.json` gives the config, the seeds and the versions of {runs}.

Written by `casmore export`; read it with `casmore.reports.trial_table.read`, pandas or R.
"""


def export(runs: Sequence[Path], out: Path, *, data: Sequence[Path] | None = None) -> list[Path]:
    """Export the merged data of runs.

    Parameters
    ----------
    runs
        Folders of runs. No two may have the same solver on the same function and dimension.
    out
        Where to write ``trials.csv.gz``, ``regret.csv.gz`` if the runs recorded it, ``cost.csv``,
        ``runs.json`` and ``README.md``.
    data
        The folder with each run's merged data; default: ``RUN/data``.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ReportError
        If a run has no data, two have the same, or their suites differ; the message names them.
    """
    runtimes: dict[tuple[str, int, int], Runtimes] = {}
    for run, merged in zip(runs, data or repeat(None), strict=data is not None):
        for r in run_data.load(run, merged):
            key = (r.solver, r.dimension, r.function)
            if key in runtimes:
                raise ReportError(
                    f"{run}: {r.solver} on f{r.function} in {r.dimension}-D is in another run as "
                    "well; give one of the solvers another label"
                )
            runtimes[key] = r
    found = {r.suite.name for r in runtimes.values()}
    if len(found) > 1:
        raise ReportError(
            f"the runs are on different suites ({', '.join(sorted(found))}); export each suite by "
            "itself"
        )
    order = list(dict.fromkeys(r.solver for r in runtimes.values()))
    ordered = sorted(runtimes, key=lambda key: (order.index(key[0]), *key[1:]))
    trial_table.write(out / trial_table.FILE, [runtimes[key] for key in ordered])
    rows = [unit_table.load(run) for run in runs]
    regrets = {(r.solver, r.dimension, r.function): r for own in rows for r in regrets_of(own)}
    recorded = [regrets[key] for key in ordered if key in regrets]
    if recorded:
        regret_table.write(out / regret_table.FILE, recorded)
    write_text(out / "cost.csv", _cost(rows))
    write_json(out / "runs.json", [provenance(run) for run in runs])
    text = _README.format(
        suite=suite_of(runtimes.values()).name,
        trials=trial_table.DESCRIPTION,
        regret=f"{regret_table.DESCRIPTION}\n" if recorded else "",
        runs="the run" if len(runs) == 1 else f"the {len(runs)} runs",
    )
    write_text(out / "README.md", text)
    tables = [trial_table.FILE, *([regret_table.FILE] if recorded else [])]
    return [out / name for name in (*tables, "cost.csv", "runs.json", "README.md")]


def _cost(runs: Sequence[Sequence[UnitRow]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("solver", "dimension", "trials", "evaluations", "wall_seconds", "cpu_seconds")
    writer.writerow(names)
    for rows in runs:
        for t in unit_table.totals(rows):
            seconds = (round(t.wall_seconds, 1), round(t.cpu_seconds, 1))
            writer.writerow([t.solver, t.dimension, t.done, t.evaluations, *seconds])
    return text.getvalue()


def provenance(run: Path) -> dict[str, Any]:
    """Return the settings that determine the results of a run, without user or machine names."""
    manifest = run_data.manifest(run)
    sessions = manifest.get("sessions", [])
    versions = [dict(v) for v in {tuple(s.get("versions", {}).items()): 0 for s in sessions}]
    commits = dict.fromkeys((s.get("git") or {}).get("commit", "") for s in sessions)
    processors = dict.fromkeys(s.get("machine", {}).get("processor", "") for s in sessions)
    return {
        "name": run_data.config(run).get("name", run.resolve().name),
        "config": run_data.config(run),
        "seeds": manifest.get("seeds", ""),
        "versions": versions,
        "commits": [commit for commit in commits if commit],
        "processors": [processor for processor in processors if processor],
    }
