"""The data of a run folder for a report: its solvers' COCO data, its config, its budgets."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from casmore.experiments.store.run_folder import RunFolder
from casmore.reports import coco_data
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, longest_budgets


def load(run: Path, data: Path | None = None) -> list[Runtimes]:
    """Read the runtimes of all solvers, ordered by solver, dimension and function.

    Parameters
    ----------
    run
        The run's folder.
    data
        The folder with the solvers' merged COCO data; default: ``RUN/data``.

    Raises
    ------
    ReportError
        If there is no data, or a file is damaged.
    """
    return [r for folder in solver_folders(run, data) for r in coco_data.read(folder)]


def solver_folders(run: Path, data: Path | None = None) -> list[Path]:
    """Return the run's COCO folders, one for each solver, in the order of its config.

    Raises
    ------
    ReportError
        If there are none.
    """
    folders = {path.parent for path in (data or RunFolder(run).data).glob("*/*.info")}
    if not folders:
        reason = "there is no such folder" if not run.is_dir() else "no unit has been merged yet"
        raise ReportError(
            f"{run} has no COCO data ({reason}); "
            "make it with `casmore run CONFIG` or `make bbob`, then report on the folder it names"
        )
    order = [solver.get("label") for solver in config(run).get("solvers", [])]

    def rank(folder: Path) -> tuple[int, str]:
        return (order.index(folder.name) if folder.name in order else len(order), folder.name)

    return sorted(folders, key=rank)


def config(run: Path) -> dict[str, Any]:
    """Return the run's resolved config; empty for COCO data that came without one.

    Raises
    ------
    ReportError
        If the file is damaged.
    """
    path = RunFolder(run).config
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReportError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ReportError(f"{path} holds a {type(content).__name__}, not a config")
    return content


def manifest(run: Path) -> dict[str, Any]:
    """Return the run's manifest; empty if it is damaged, or for data that came without a run."""
    try:
        content = json.loads(RunFolder(run).manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    sessions = content.get("sessions", []) if isinstance(content, dict) else None
    sound = isinstance(sessions, list) and all(isinstance(session, dict) for session in sessions)
    return content if sound else {}


def budgets(run: Path, runtimes: Iterable[Runtimes]) -> dict[int, float]:
    """Return the budget in evaluations per dimension, for each dimension in the data.

    It is the config's; for data without a config, that of `longest_budgets`.
    """
    longest = longest_budgets(runtimes)
    told = config(run).get("budget", {}).get("evaluations_per_dimension")
    return longest if told is None else dict.fromkeys(longest, float(told))


def provenance(run: Path) -> dict[str, Any]:
    """Return the settings that determine the results of a run, without user or machine names."""
    recorded = manifest(run)
    sessions = recorded.get("sessions", [])
    versions = [dict(v) for v in {tuple(s.get("versions", {}).items()): 0 for s in sessions}]
    commits = dict.fromkeys((s.get("git") or {}).get("commit", "") for s in sessions)
    processors = dict.fromkeys(s.get("machine", {}).get("processor", "") for s in sessions)
    return {
        "name": config(run).get("name", run.resolve().name),
        "config": config(run),
        "seeds": recorded.get("seeds", ""),
        "versions": versions,
        "commits": [commit for commit in commits if commit],
        "processors": [processor for processor in processors if processor],
    }
