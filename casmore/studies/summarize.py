"""From the traces of a finished study to the small tables that are kept of it."""

from pathlib import Path
from typing import Any

from casmore.atomic_io import read_json
from casmore.experiments.config.record import recorded_config
from casmore.experiments.config.study import StudyConfig
from casmore.experiments.config.task_study import TaskStudyConfig
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.study_trial import load_trace
from casmore.reports.report_error import ReportError
from casmore.studies.curve_table import curve, write_curves
from casmore.studies.episodic.task_tables import summarize_task
from casmore.studies.run_table import StudyRun, describe_run, write_runs

_MOST_CURVES = 10  # more variants, as of a grid search, are for no figure


def summarize(run: Path, results: Path, *, partial: bool = False) -> list[Path]:
    """Write the tables of a finished study; return their files.

    Parameters
    ----------
    run
        The study's folder.
    results
        Where to write ``NAME_runs.csv`` and, for few variants, ``NAME_curves.csv``.
    partial
        Whether runs on a task may be missing.

    Raises
    ------
    ReportError
        If the folder holds no study, or units are missing.
    BrokenDataError, DamagedFileError
        If a unit or a file of the run is damaged.
    """
    folder = RunFolder(run)
    config = _config(folder)
    if isinstance(config, TaskStudyConfig):
        return summarize_task(config, folder, results, partial=partial)
    plan = make_plan(config)
    missing = sum(not folder.is_published(work.unit) for work in plan)
    if missing:
        raise ReportError(
            f"{missing} of {len(plan)} units of {run} are missing; finish the study first"
        )
    rows: list[StudyRun] = []
    curves = []
    for solver in config.solvers:
        settings: dict[str, Any] = dict(solver.settings)
        if solver.population_size is not None:
            settings["population_size"] = solver.population_size
        for function in config.study.functions:
            units = [
                w.unit for w in plan if (w.unit.label, w.unit.function) == (solver.label, function)
            ]
            traces = [load_trace(folder, unit) for unit in units]
            rows += [
                describe_run(
                    solver.label,
                    function,
                    _described(settings),
                    i,
                    trace,
                    reached=read_json(folder.sidecar(unit))["final_target_hit"],
                )
                for i, (unit, trace) in enumerate(zip(units, traces, strict=True))
            ]
            curves.append(curve(solver.label, function, traces, config.study.evaluations))
    results.mkdir(parents=True, exist_ok=True)
    written = [results / f"{config.name}_runs.csv"]
    write_runs(written[0], rows)
    if len(config.solvers) <= _MOST_CURVES:
        written.append(results / f"{config.name}_curves.csv")
        write_curves(written[1], curves)
    return written


def _config(folder: RunFolder) -> StudyConfig | TaskStudyConfig:
    if not folder.config.is_file():
        raise ReportError(f"{folder.root} is no folder of a run")
    config = recorded_config(folder)
    if not isinstance(config, StudyConfig | TaskStudyConfig):
        raise ReportError(f"{folder.root} holds no study; 'casmore report' is for it")
    return config


def _described(settings: dict[str, Any]) -> str:
    return "; ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in settings.items()
    )
