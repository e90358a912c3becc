"""The figures of the studies: quantiles of value at the mean, and of entropy, over evaluations."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from casmore.plotting import style
from casmore.problems.analytic import FUNCTIONS
from casmore.reports.report_error import ReportError
from casmore.studies.curve_table import Curve, read_curves

# labels in the order of the legend, and their names in the legend
ROSENBROCK = {
    "CAS-MORE": "CAS-MORE",
    "CA-MORE": "CA-MORE",
    "MORE": "MORE",
    "CMA-ES": "CMA-ES",
    "MORE-larger-epsilon": r"MORE, larger $\epsilon$",
    "MORE-faster-decrease": r"MORE, larger $\delta$",
}
ABLATION = {
    "default": "default",
    "no-whitening": "without whitening",
    "standard-normalisation": "without robust normalization",
}
_LOWEST, _HIGHEST = 1e-9, 1e8  # diverged runs leave the axes


def rosenbrock(results: Path) -> Figure:
    """Return the paper's illustrative example, from ``rosenbrock_curves.csv``."""
    curves = _of_function(read_curves(results / "rosenbrock_curves.csv"), 8)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw(left, "f_mean", curves, ROSENBROCK)
        _draw(right, "entropy", curves, ROSENBROCK)
        left.set_ylabel(r"$f$ at the mean")
        right.set_ylabel("entropy / nats")
        right.set_ylim(-200, 60)  # below are runs that have converged to the local minimum
        _note(left, curves)
        style.legend_above(figure, left)
    return figure


def ablation(results: Path) -> Figure:
    """Return the ablation of the pre-processing, from ``ablation_curves.csv``."""
    curves = read_curves(results / "ablation_curves.csv")
    functions = (8, 6)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.5), layout="constrained")
        axes = figure.subplots(1, 2)
        for ax, function in zip(axes, functions, strict=True):
            found = _of_function(curves, function)
            _draw(ax, "f_mean", found, ABLATION)
            ax.set_title(f"{FUNCTIONS[function].name}, 15-D", loc="left")
            _note(ax, found)
        axes[0].set_ylabel(r"$f$ at the mean")
        style.legend_above(figure, axes[0])
    return figure


def _of_function(curves: Sequence[Curve], function: int) -> dict[str, Curve]:
    return {curve.label: curve for curve in curves if curve.function == function}


def _draw(ax: Axes, column: str, curves: Mapping[str, Curve], names: Mapping[str, str]) -> None:
    if unknown := set(curves) - set(names):
        raise ReportError(f"no place in the figure for {', '.join(sorted(unknown))}")
    highest = 0.0
    for i, (label, name) in enumerate(names.items()):
        if label not in curves:
            continue
        curve = curves[label]
        low, median, high = getattr(curve, column)
        look = style.line(i)
        ax.fill_between(
            curve.evaluations,
            np.clip(low, -1e12, 1e12),
            np.clip(high, -1e12, 1e12),
            color=look["color"],
            alpha=0.14,
            linewidth=0,
        )
        ax.plot(curve.evaluations, median, label=name, **look)
        highest = max(highest, float(curve.evaluations[-1]))
    ax.set_xlim(0, highest)
    ax.set_xlabel("evaluations")
    if column == "f_mean":
        ax.set_yscale("log")
        ax.set_ylim(_LOWEST, _HIGHEST)
        ax.yaxis.set_major_locator(LogLocator(numticks=7))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _note(ax: Axes, curves: Mapping[str, Curve]) -> None:
    runs = sorted({curve.runs for curve in curves.values()})
    ax.text(
        0.98,
        0.96,
        f"{'-'.join(map(str, runs))} runs each: median, 5 % and 95 % quantiles",
        transform=ax.transAxes,
        ha="right",
        va="top",
        fontsize=6,
        color=style.MUTED,
    )
