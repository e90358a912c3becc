"""What an export is made of: the data of a run, or those of an earlier export."""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from casmore.experiments.store.run_folder import RunFolder
from casmore.reports import run_data, trial_table, unit_table
from casmore.reports.regret import regret_table
from casmore.reports.regret.regrets import Regrets
from casmore.reports.regret.regrets import of_units as regrets_of
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes

COST_FILE, RUNS_FILE = "cost.csv", "runs.json"

_Data = TypeVar("_Data", Runtimes, Regrets)


class Cost(NamedTuple):
    """What a solver has spent in one dimension, summed over its trials."""

    solver: str
    dimension: int
    trials: int
    evaluations: int
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Source:
    """The trials of a run or of an earlier export, with their regret, cost and provenance.

    Attributes
    ----------
    name
        The folder, for messages.
    runtimes
        The trials.
    regrets
        Their regret; fewer, or none, where it was not recorded.
    costs
        One for each solver and dimension.
    runs
        The provenance of each run, see `run_data.provenance`.
    """

    name: str
    runtimes: Sequence[Runtimes]
    regrets: Sequence[Regrets]
    costs: Sequence[Cost]
    runs: Sequence[dict[str, Any]]

    def conditions(self, solver: str, dimension: int) -> set[str]:
        """Return what determines the trials of a solver in a dimension, apart from their seeds."""
        found = set()
        for config in (run["config"] for run in self.runs):
            settings = [own for own in config.get("solvers", ()) if own.get("label") == solver]
            if settings and dimension in config.get("suite", {}).get("dimensions", ()):
                conditions = [settings, config.get("budget"), config.get("start")]
                found.add(json.dumps(conditions, sort_keys=True))
        return found


def grouped(data: Iterable[_Data]) -> dict[tuple[str, int, int], list[_Data]]:
    """Return the data of each solver, dimension and function."""
    groups: dict[tuple[str, int, int], list[_Data]] = {}
    for r in data:
        groups.setdefault((r.solver, r.dimension, r.function), []).append(r)
    return groups


def check_joinable(sources: Iterable[Source]) -> None:
    """Check that trials of a solver on a function are of different instances, but otherwise alike.

    Raises
    ------
    ReportError
        If the suites differ, two sources have the same trials, or trials of a solver under
        different conditions; the message names them.
    """
    sources = list(sources)
    suites = {r.suite.name for source in sources for r in source.runtimes}
    if len(suites) > 1:
        raise ReportError(
            f"the runs are on different suites ({', '.join(sorted(suites))}); treat each suite by "
            "itself"
        )
    known: dict[tuple[str, int, int], tuple[Source, set[int]]] = {}
    for source in sources:
        for r in source.runtimes:
            key = (r.solver, r.dimension, r.function)
            if key not in known:
                known[key] = (source, set(r.instances))
                continue
            first, instances = known[key]
            problem = f"{r.solver} on f{r.function} in {r.dimension}-D"
            if both := instances.intersection(r.instances):
                raise ReportError(
                    f"{source.name}: {problem}, instance {min(both)}, is in another run as well; "
                    "leave one of them out, or give one of the solvers another label"
                )
            conditions = [own.conditions(r.solver, r.dimension) for own in (first, source)]
            if conditions[0] != conditions[1]:
                raise ReportError(
                    f"{source.name}: {problem} has other settings, another budget or another start "
                    f"than in {first.name}; give one of the solvers another label"
                )
            instances.update(r.instances)


def is_export(folder: Path) -> bool:
    """Whether ``casmore export`` has written the folder, and it is not that of a run."""
    return (folder / trial_table.FILE).is_file() and not RunFolder(folder).config.is_file()


def of_run(run: Path, data: Path | None = None) -> Source:
    """Read a run.

    Parameters
    ----------
    run
        The run's folder.
    data
        The folder with its merged COCO data; default: ``RUN/data``.

    Raises
    ------
    ReportError
        If it has no data, or a file is damaged.
    """
    rows = unit_table.load(run)
    costs = [
        Cost(t.solver, t.dimension, t.done, t.evaluations, t.wall_seconds, t.cpu_seconds)
        for t in unit_table.totals(rows)
    ]
    runtimes, regrets = run_data.load(run, data), regrets_of(rows)
    return Source(str(run), runtimes, regrets, costs, [run_data.provenance(run)])


def of_export(folder: Path) -> Source:
    """Read what ``casmore export`` has written.

    Raises
    ------
    ReportError
        If a file is missing or damaged; the message names it.
    """
    regret = folder / regret_table.FILE
    return Source(
        name=str(folder),
        runtimes=trial_table.read(folder / trial_table.FILE),
        regrets=regret_table.read(regret) if regret.exists() else [],
        costs=_costs(folder / COST_FILE),
        runs=_runs(folder / RUNS_FILE),
    )


def _costs(path: Path) -> list[Cost]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                Cost(
                    row["solver"],
                    *(int(row[name]) for name in ("dimension", "trials", "evaluations")),
                    *(float(row[name]) for name in ("wall_seconds", "cpu_seconds")),
                )
                for row in csv.DictReader(file)
            ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path} can't be read as a table of costs: {error!r}") from error


def _runs(path: Path) -> list[dict[str, Any]]:
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(run["config"], dict) for run in runs):
            raise ValueError("a config is missing")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path} can't be read: {error!r}") from error
    return list(runs)
