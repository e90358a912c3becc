"""The figures of the robot tasks: the mean's expected return, the samples' returns, and a share."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from casmore.plotting import style
from casmore.reports.report_error import ReportError
from casmore.studies.episodic.task_tables import TaskCurve, read_task_curves

# labels in the order of the legend, and their names in the legend
NAMES = {
    "CAS-MORE": "CAS-MORE, robust",
    "CAS-MORE-standard": "CAS-MORE, standard",
    "CMA-ES": "CMA-ES",
    "xNES": "xNES",
}


def hole_reaching(results: Path) -> Figure:
    """Return the noise-free hole, from ``hole_reaching_curves.csv``."""
    return _three_panels(results, "hole_reaching", "collision", (-0.05, 2.05))


def hole_reaching_noisy(results: Path) -> Figure:
    """Return the noisy hole, from ``hole_reaching_noisy_curves.csv``."""
    return _three_panels(results, "hole_reaching_noisy", "collision", (-0.05, 2.05))


def hole_reaching_noisy_defaults(results: Path) -> Figure:
    """Return the noisy hole with default settings, from its table."""
    return _three_panels(results, "hole_reaching_noisy_defaults", "collision", (-0.05, 2.05))


def table_tennis(results: Path) -> Figure:
    """Return table tennis, from ``table_tennis_curves.csv``."""
    return _three_panels(results, "table_tennis", "success", (-0.5, 19.5))


def beer_pong(results: Path) -> Figure:
    """Return beer pong, from ``beer_pong_curves.csv``."""
    return _three_panels(results, "beer_pong", "success", None)


def hole_reaching_penalty(results: Path) -> Figure:
    """Return the cost of the hole with a penalty, from ``hole_reaching_penalty_curves.csv``."""
    curves = read_task_curves(results / "hole_reaching_penalty_curves.csv")
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.5), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for ax, column in ((left, "return_mean"), (middle, "return_samples")):
            _draw(ax, {k: _cost(c, column) for k, c in curves.items()})
            ax.set_yscale("log")
        _draw(right, {k: (c.evaluations, c.values["collision"]) for k, c in curves.items()})
        left.set_title("cost at the mean", loc="left")
        middle.set_title("mean cost of the samples", loc="left")
        _share(right, "collision")
        _finish(figure, left, curves)
    return figure


def _three_panels(
    results: Path, name: str, share: str, limits: tuple[float, float] | None
) -> Figure:
    curves = read_task_curves(results / f"{name}_curves.csv")
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.5), layout="constrained")
        axes = figure.subplots(1, 3)
        for ax, column in zip(axes, ("return_mean", "return_samples", share), strict=True):
            _draw(ax, {k: (c.evaluations, c.values[column]) for k, c in curves.items()})
            if limits and column != share:
                ax.set_ylim(*limits)
        axes[0].set_title("expected return of the mean", loc="left")
        axes[1].set_title("mean return of the samples", loc="left")
        _share(axes[2], share)
        _finish(figure, axes[0], curves, _cut(curves, limits[0]) if limits else "")
    return figure


def _cut(curves: Mapping[str, TaskCurve], lowest: float) -> str:
    """Return a note on bands that leave the panels of returns at their lower end."""
    ends = {
        NAMES[label]: min(float(c.values[name].min()) for name in ("return_mean", "return_samples"))
        for label, c in curves.items()
    }
    cut = [f"that of {name} extends to {end:.0f}" for name, end in ends.items() if end < lowest]
    return f"; bands are cut: {', '.join(cut)}" if cut else ""


def _cost(curve: TaskCurve, column: str) -> tuple[np.ndarray, np.ndarray]:
    return curve.evaluations, -curve.values[column][::-1]  # low quantiles are of high returns


def _draw(ax: Axes, curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
    if unknown := set(curves) - set(NAMES):
        raise ReportError(f"no place in the figure for {', '.join(sorted(unknown))}")
    for i, (label, name) in enumerate(NAMES.items()):
        if label not in curves:
            continue
        x, (low, median, high) = curves[label]
        look = style.line(i)
        ax.fill_between(x, low, high, color=look["color"], alpha=0.14, linewidth=0)
        ax.plot(x, median, label=name, **look)
        ax.set_xlim(0, float(x[-1]))
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel("episodes")


def _share(ax: Axes, share: str) -> None:
    what = "collide" if share == "collision" else "succeed"
    ax.set_title(f"share of samples that {what}", loc="left")
    ax.set_ylim(-0.02, 1.02)


def _finish(figure: Figure, ax: Axes, curves: Mapping[str, TaskCurve], note: str = "") -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    fewest, most = (f(curve.runs for curve in curves.values()) for f in (min, max))
    runs = f"{most}" if fewest == most else f"{fewest} to {most}"
    figure.supxlabel(
        f"{runs} runs each: median, 5 % and 95 % quantiles{note}",
        fontsize=6,
        color=style.MUTED,
    )


TASK_FIGURES: dict[str, Callable[[Path], Figure]] = {
    "hole_reaching": hole_reaching,
    "hole_reaching_noisy": hole_reaching_noisy,
    "hole_reaching_noisy_defaults": hole_reaching_noisy_defaults,
    "hole_reaching_penalty": hole_reaching_penalty,
    "table_tennis": table_tennis,
    "beer_pong": beer_pong,
}
