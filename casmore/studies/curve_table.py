"""The convergence curves of a study: quantiles over evaluations, ``NAME_curves.csv``.

The quantiles are over the runs at fixed numbers of evaluations. A run that has ended keeps its last
values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.studies.run_table import read_csv, write_csv
from casmore.trace import Trace

Array = NDArray[np.float64]

QUANTILES = (0.05, 0.5, 0.95)
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


def curve(label: str, function: int, traces: Sequence[Trace], budget: int) -> Curve:
    """Return the curve of some runs, up to ``budget`` evaluations."""
    x = np.round(np.linspace(0, budget, _POINTS + 1))
    quantiles = {
        name: np.quantile(
            [at(trace, name, x) for trace in traces], QUANTILES, axis=0, method="inverted_cdf"
        )
        for name in ("f_mean", "entropy")
    }
    return Curve(label, function, len(traces), x, **quantiles)


def at(trace: Trace, column: str, evaluations: Array) -> Array:
    """Return the values of a column at these numbers of evaluations; NaN becomes infinity."""
    rows = np.searchsorted(trace["evaluations"], evaluations, side="right") - 1
    values: Array = trace[column][rows].astype(float)
    return np.where(np.isnan(values), np.inf, values)


def write_curves(path: Path, curves: Sequence[Curve]) -> None:
    """Write ``NAME_curves.csv``."""
    write_csv(path, [row for curve in curves for row in _rows(curve)])


def read_curves(path: Path) -> list[Curve]:
    """Read ``NAME_curves.csv``, in its order.

    Raises
    ------
    ReportError
        If the file is missing; the message says how to make it.
    """
    groups: dict[tuple[str, int], list[dict[str, str]]] = {}
    for row in read_csv(path):
        groups.setdefault((row["label"], int(row["function"])), []).append(row)

    def column(rows: list[dict[str, str]], name: str) -> Array:
        return np.array([[float(row[_name(name, q)]) for row in rows] for q in QUANTILES])

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


def _rows(curve: Curve) -> Iterator[dict[str, Any]]:
    for i, x in enumerate(curve.evaluations):
        row: dict[str, Any] = {"label": curve.label, "function": curve.function}
        row |= {"runs": curve.runs, "evaluations": int(x)}
        for name in ("f_mean", "entropy"):
            for q, value in zip(QUANTILES, getattr(curve, name)[:, i], strict=True):
                row[_name(name, q)] = f"{value:.4g}"
        yield row


def _name(column: str, quantile: float) -> str:
    return f"{column}_{round(100 * quantile):02d}"
