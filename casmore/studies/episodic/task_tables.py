"""Tables of a study on a task, made from its traces.

``NAME_curves.csv`` contains quantiles over the runs at fixed numbers of episodes, ``NAME_runs.csv``
a row for each run, by which claims are judged. ``NAME_solution.csv`` contains the weights of a
movement that solves the task, for its picture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.experiments.config.task_study import TaskStudyConfig
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.study_trial import load_trace
from casmore.reports.report_error import ReportError
from casmore.studies.run_table import read_csv, write_csv
from casmore.trace import Trace

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.5, 0.95)
_POINTS = 80
_LAST = 0.1  # share of the iterations that counts as the end of a run
_FIRST = 0.25  # share of the episodes that counts as the beginning of a run
# columns of a curve, and the columns of a trace that are averaged over some iterations
COLUMNS = ("return_mean", "return_samples", "success", "collision")
_OF_TRACE = ("f_mean", "f_samples", "success_samples", "collision_samples")


@dataclass(frozen=True)
class TaskRun:
    """Results of one run.

    Attributes
    ----------
    label, run
        The variant, and the number of the run, from 0.
    evaluations
        Episodes of the samples.
    best_early, best
        Largest expected return of the mean in the first quarter of the episodes, and at all:
        smoothed over ten iterations.
    return_mean, return_samples
        Expected return of the mean, and mean return of the samples, in the last tenth of the
        iterations.
    success, collision
        Shares of the samples that succeeded or collided, in the last tenth of the iterations.
    falls
        Share of the iterations in the second half at which the mean itself collided.
    """

    label: str
    run: int
    evaluations: int
    best_early: float
    best: float
    return_mean: float
    return_samples: float
    success: float
    collision: float
    falls: float


@dataclass(frozen=True)
class TaskCurve:
    """Quantiles over the runs of one variant.

    Attributes
    ----------
    evaluations
        Shape (points,).
    values
        Of each of `COLUMNS`, at `QUANTILES`, shape (3, points).
    """

    label: str
    runs: int
    evaluations: Array
    values: dict[str, Array]


def summarize_task(
    config: TaskStudyConfig, folder: RunFolder, results: Path, *, partial: bool = False
) -> list[Path]:
    """Write the tables of a study, and a mean that solves its task; return their files.

    Parameters
    ----------
    config
        Config of the study.
    folder
        Folder of the study.
    results
        Output folder.
    partial
        Whether runs may be missing; the tables then cover the finished ones.

    Raises
    ------
    ReportError
        If units are missing; with ``partial``, if a solver has no finished run.
    """
    plan = make_plan(config)
    done = [work.unit for work in plan if folder.is_published(work.unit)]
    if len(done) < len(plan) and not partial:
        raise ReportError(
            f"{len(plan) - len(done)} of {len(plan)} units of {folder.root} are missing; finish "
            "the study first"
        )
    runs, curves = [], []
    best, solution = -np.inf, np.array([])
    for solver in config.solvers:
        units = [unit for unit in done if unit.label == solver.label]
        if not units:
            raise ReportError(f"no run of {solver.label} is finished in {folder.root}")
        traces = [load_trace(folder, unit) for unit in units]
        described = [
            describe(unit.label, unit.repeat, t) for unit, t in zip(units, traces, strict=True)
        ]
        for run, trace in zip(described, traces, strict=True):
            if run.return_samples > best:
                best, solution = run.return_samples, trace["mean"][-1]
        runs += described
        curves.append(_curve(solver.label, traces, config.study.evaluations))
    results.mkdir(parents=True, exist_ok=True)
    written = [results / f"{config.name}_{kind}.csv" for kind in ("runs", "curves", "solution")]
    write_task_runs(written[0], runs)
    write_csv(written[1], [row for curve in curves for row in _rows(curve)])
    write_csv(written[2], [{"weight": f"{weight:.6g}"} for weight in solution])
    return written


def read_solution(path: Path) -> Array:
    """Read ``NAME_solution.csv``: the last mean of the run with the best samples, shape (n,).

    Raises
    ------
    ReportError
        If the file is missing; the message says how it is made.
    """
    return np.array([float(row["weight"]) for row in read_csv(path)])


def describe(label: str, run: int, trace: Trace) -> TaskRun:
    """Return the row of a run, from its trace."""
    evaluations, mean = trace["evaluations"].astype(float), -trace["f_mean"].astype(float)
    end = max(round(_LAST * len(mean)), 1)
    smooth = np.convolve(mean, np.full(10, 0.1), mode="valid") if len(mean) > 10 else mean
    early = evaluations[: len(smooth)] <= _FIRST * evaluations[-1]

    def last(column: str) -> float:
        return float(trace[column][-end:].mean())

    return TaskRun(
        label,
        run,
        evaluations=int(evaluations[-1]),
        best_early=float(smooth[early].max()),
        best=float(smooth.max()),
        return_mean=float(mean[-end:].mean()),
        return_samples=-last("f_samples"),
        success=last("success_samples"),
        collision=last("collision_samples"),
        falls=float((trace["collision_mean"][len(mean) // 2 :] > 0).mean()),
    )


def _curve(label: str, traces: Sequence[Trace], budget: int) -> TaskCurve:
    """Return quantiles over runs of means over the iterations between two points."""
    edges = np.round(np.linspace(0, budget, _POINTS + 1))
    values = {}
    for name, column in zip(COLUMNS, _OF_TRACE, strict=True):
        sign = -1.0 if name.startswith("return") else 1.0
        binned = [_binned(t["evaluations"], sign * t[column].astype(float), edges) for t in traces]
        values[name] = np.quantile(binned, QUANTILES, axis=0, method="inverted_cdf")
    return TaskCurve(label, len(traces), edges[1:], values)


def _binned(evaluations: Array, values: Array, edges: Array) -> Array:
    """Return means of values within ``(edges[i], edges[i + 1]]``, else the last mean before."""
    after, values = evaluations[1:], values[1:]  # what is before the first iteration has no samples
    total = np.concatenate([[0.0], np.cumsum(values)])
    last = np.searchsorted(after, edges, side="right")
    count = np.diff(last)
    means: Array = np.diff(total[last]) / np.maximum(count, 1)
    filled = np.where(count > 0, np.arange(len(count)), 0)
    return means[np.maximum(np.maximum.accumulate(filled), np.argmax(count > 0))]


def write_task_runs(path: Path, runs: Sequence[TaskRun]) -> None:
    """Write ``NAME_runs.csv``."""
    write_csv(path, [_as_row(run) for run in runs])


def read_task_runs(path: Path) -> dict[str, list[TaskRun]]:
    """Read ``NAME_runs.csv``: the runs of each variant, in their order.

    Raises
    ------
    ReportError
        If the file is missing; the message says how it is made.
    """
    kinds: dict[str, Any] = {field.name: field.type for field in fields(TaskRun)}
    groups: dict[str, list[TaskRun]] = {}
    for row in read_csv(path):
        run = TaskRun(**{name: kind(row[name]) for name, kind in kinds.items()})
        groups.setdefault(run.label, []).append(run)
    return groups


def read_task_curves(path: Path) -> dict[str, TaskCurve]:
    """Read ``NAME_curves.csv``, in its order.

    Raises
    ------
    ReportError
        If the file is missing; the message says how it is made.
    """
    groups: dict[str, list[dict[str, str]]] = {}
    for row in read_csv(path):
        groups.setdefault(row["label"], []).append(row)
    return {
        label: TaskCurve(
            label,
            int(rows[0]["runs"]),
            np.array([float(row["evaluations"]) for row in rows]),
            {
                name: np.array([[float(row[_name(name, q)]) for row in rows] for q in QUANTILES])
                for name in COLUMNS
            },
        )
        for label, rows in groups.items()
    }


def _rows(curve: TaskCurve) -> Iterator[dict[str, Any]]:
    for i, evaluations in enumerate(curve.evaluations):
        row: dict[str, Any] = {"label": curve.label, "runs": curve.runs}
        row["evaluations"] = int(evaluations)
        for name in COLUMNS:
            for q, value in zip(QUANTILES, curve.values[name][:, i], strict=True):
                row[_name(name, q)] = f"{value:.4g}"
        yield row


def _name(column: str, quantile: float) -> str:
    return f"{column}_{round(100 * quantile):02d}"


def _as_row(run: TaskRun) -> dict[str, Any]:
    row = {field.name: getattr(run, field.name) for field in fields(run)}
    return {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
