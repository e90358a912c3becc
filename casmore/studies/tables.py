"""From a study's traces to the small tables that its figures are drawn from, kept in ``results/``.

``NAME.csv`` has quantiles over the runs at fixed numbers of evaluations, ``NAME_ends.csv`` how the
runs ended. A run that has ended keeps its last values. Studies of many variants have ends alone.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.atomic_io import read_json
from casmore.experiments.config.record import recorded_config
from casmore.experiments.config.study import StudyConfig
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.study_trial import FILE
from casmore.reports.errors import ReportError
from casmore.trace import Trace

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.5, 0.95)
_MOST_CURVES = 10  # more variants, as of a grid search, are for no figure
_POINTS = 120  # along the evaluations: as many as a figure of a column's width can show


@dataclass(frozen=True)
class Curve:
    """Quantiles over the runs of one variant on one function.

    Attributes
    ----------
    evaluations
        Shape (points,).
    f_mean, entropy
        Value at the mean, and entropy in nats, at `QUANTILES`, shape (3, points).
    runs
        Number of runs.
    """

    label: str
    function: int
    runs: int
    evaluations: Array
    f_mean: Array
    entropy: Array


@dataclass(frozen=True)
class End:
    """How the runs of one variant on one function ended.

    Attributes
    ----------
    reached
        Number of runs that reached the target.
    ert
        Expected running time: evaluations of all runs by ``reached``; infinity if none did.
    evaluations, value
        Medians over the runs: evaluations to the target, infinity where it was not reached;
        last value at the mean, NaN counted as infinity.
    """

    label: str
    function: int
    settings: str
    runs: int
    reached: int
    ert: float
    evaluations: float
    value: float


def summarise(run: Path, results: Path) -> list[Path]:
    """Write the tables of a finished study; return their files.

    Parameters
    ----------
    run
        The study's folder.
    results
        Where to write ``NAME_ends.csv`` and, for few variants, ``NAME.csv``.

    Raises
    ------
    ReportError
        If the folder holds no study, or units are missing.
    """
    folder = RunFolder(run)
    if not folder.config.is_file():
        raise ReportError(f"{run} is no folder of a run")
    config = recorded_config(folder)
    if not isinstance(config, StudyConfig):
        raise ReportError(f"{run} holds no study; 'casmore report' is for it")
    plan = make_plan(config)
    missing = sum(not folder.is_published(work.unit) for work in plan)
    if missing:
        raise ReportError(f"{missing} of {len(plan)} units of {run} are missing; run it to its end")
    curves, ends = [], []
    for solver in config.solvers:
        settings = dict(solver.settings)
        if solver.population_size is not None:
            settings["population_size"] = solver.population_size
        for function in config.study.functions:
            units = [
                w.unit for w in plan if (w.unit.label, w.unit.function) == (solver.label, function)
            ]
            traces = [Trace.load(folder.unit(unit) / FILE) for unit in units]
            reached = [read_json(folder.sidecar(unit))["final_target_hit"] for unit in units]
            curves.append(_curve(solver.label, function, traces, config.study.evaluations))
            ends.append(_end(solver.label, function, settings, traces, reached))
    results.mkdir(parents=True, exist_ok=True)
    tables = {f"{config.name}_ends.csv": [_as_row(end) for end in ends]}
    if len(config.solvers) <= _MOST_CURVES:
        tables[f"{config.name}.csv"] = [row for curve in curves for row in _rows(curve)]
    for name, rows in tables.items():
        _write(results / name, rows)
    return [results / name for name in tables]


def at(trace: Trace, column: str, evaluations: Array) -> Array:
    """Return a column's values when that many evaluations had been made; NaN as infinity."""
    rows = np.searchsorted(trace["evaluations"], evaluations, side="right") - 1
    values: Array = trace[column][rows].astype(float)
    return np.where(np.isnan(values), np.inf, values)


def _curve(label: str, function: int, traces: Sequence[Trace], budget: int) -> Curve:
    x = np.round(np.linspace(0, budget, _POINTS + 1))
    quantiles = {
        name: np.quantile(
            [at(trace, name, x) for trace in traces], QUANTILES, axis=0, method="inverted_cdf"
        )
        for name in ("f_mean", "entropy")
    }
    return Curve(label, function, len(traces), x, **quantiles)


def _end(
    label: str,
    function: int,
    settings: dict[str, Any],
    traces: Sequence[Trace],
    reached: Sequence[bool],
) -> End:
    spent = np.array([trace["evaluations"][-1] for trace in traces], dtype=float)
    values = np.array([at(trace, "f_mean", np.array([np.inf]))[0] for trace in traces])
    hits = sum(reached)
    return End(
        label,
        function,
        "; ".join(
            f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in settings.items()
        ),
        runs=len(traces),
        reached=hits,
        ert=float(spent.sum() / hits) if hits else math.inf,
        evaluations=_median(np.where(reached, spent, np.inf)),
        value=_median(values),
    )


def _median(values: Array) -> float:
    """Return the lower median, which is defined with infinities."""
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def _rows(curve: Curve) -> Iterator[dict[str, Any]]:
    for i, x in enumerate(curve.evaluations):
        row: dict[str, Any] = {"label": curve.label, "function": curve.function}
        row |= {"runs": curve.runs, "evaluations": int(x)}
        for name in ("f_mean", "entropy"):
            for q, value in zip(QUANTILES, getattr(curve, name)[:, i], strict=True):
                row[f"{name}_{round(100 * q):02d}"] = f"{value:.4g}"
        yield row


def _as_row(end: End) -> dict[str, Any]:
    row = {field.name: getattr(end, field.name) for field in fields(End)}
    return {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_curves(path: Path) -> list[Curve]:
    """Read ``NAME.csv``, in its order."""
    groups: dict[tuple[str, int], list[dict[str, str]]] = {}
    for row in _read(path):
        groups.setdefault((row["label"], int(row["function"])), []).append(row)

    def column(rows: list[dict[str, str]], name: str) -> Array:
        return np.array(
            [[float(row[f"{name}_{round(100 * q):02d}"]) for row in rows] for q in QUANTILES]
        )

    return [
        Curve(
            label,
            function,
            int(rows[0]["runs"]),
            np.array([float(row["evaluations"]) for row in rows]),
            column(rows, "f_mean"),
            column(rows, "entropy"),
        )
        for (label, function), rows in groups.items()
    ]


def read_ends(path: Path) -> list[End]:
    """Read ``NAME_ends.csv``, in its order."""
    kinds = {field.name: field.type for field in fields(End)}
    return [End(**{name: kinds[name](row[name]) for name in kinds}) for row in _read(path)]  # type: ignore[operator]


def _read(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        name = path.stem.removesuffix("_ends")
        raise ReportError(f"there is no {path}; make it with: make study STUDY={name}") from None
