"""Comparison of two solvers: the ratio of their ERTs, function by dimension."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from casmore.plotting import style
from casmore.problems.suites import Suite
from casmore.reports.bbob.trial_note import trial_note
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, dimensions, solvers, suite_of

_LINE_HEIGHT = 0.13  # inches
_LARGEST = 8.0  # the colors end at this ratio and at its inverse


def heat_map(runtimes: Sequence[Runtimes], solver: str, other: str) -> Figure:
    """Return the figure of the ratio ``ERT of solver / ERT of other``.

    The ratio is that to the hardest of the 51 targets that both have reached: blue is below 1,
    the solver needs fewer evaluations. A triangle in a corner says that one of them has reached
    harder targets, too: blue if that is the solver, red if it is the other.

    Parameters
    ----------
    runtimes
        The trials of at least these two solvers, on one suite.
    solver, other
        Their labels.

    Raises
    ------
    ReportError
        If there is no such solver.
    """
    names = solvers(runtimes)
    for name in (solver, other):
        if name not in names:
            raise ReportError(f"there is no solver {name!r}; there are {', '.join(names)}")
    shown = [r for r in runtimes if r.solver in (solver, other)]
    table = {(r.solver, r.dimension, r.function): r for r in runtimes}
    rows = [n for n in dimensions(runtimes) if any(k[:2] == (solver, n) for k in table)]
    suite = suite_of(runtimes)
    functions = suite.functions
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 0.27 * len(rows) + 1.05), layout="constrained")
        ax = figure.subplots()
        values = np.full((len(rows), len(functions)), np.nan)
        for i, n in enumerate(rows):
            for j, f in enumerate(functions):
                pair = table.get((solver, n, f)), table.get((other, n, f))
                if pair[0] is not None and pair[1] is not None:
                    values[i, j] = _cell(ax, j, i, pair[0], pair[1])
        norm = LogNorm(1 / _LARGEST, _LARGEST, clip=True)
        image = ax.imshow(values, cmap="RdBu_r", norm=norm, aspect="auto")
        bar = figure.colorbar(image, ax=ax, pad=0.01, aspect=12, extend="both")
        ticks = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
        bar.set_ticks(ticks, labels=[f"{t:g}" if t >= 1 else f"1/{1 / t:g}" for t in ticks])
        bar.minorticks_off()
        bar.ax.tick_params(labelsize=6)
        _finish(ax, rows, suite)
        title = ax.set_title(
            f"ERT of {solver} / ERT of {other}   (blue: {solver} needs fewer evaluations)"
        )
        note = ax.set_xlabel(
            f"ratio to the hardest target that both reach; a triangle: {solver} (blue) or {other} "
            f"(red) reaches harder ones, too; {trial_note(shown)}",
            fontsize=6.5,
            labelpad=14,  # below the groups
        )
        added = sum(style.break_lines(figure, text) for text in (title, note))
        figure.set_figheight(figure.get_figheight() + _LINE_HEIGHT * added)
    return figure


def ratio(a: Runtimes, b: Runtimes) -> tuple[float, int]:
    """Return the ratio of ERTs to the hardest target that both have reached, and its place.

    NaN and -1 if there is none.
    """
    common = np.flatnonzero(np.isfinite(a.ert) & np.isfinite(b.ert))
    if not common.size:
        return float("nan"), -1
    row = int(common[-1])
    return float(a.ert[row] / b.ert[row]), row


def spelled(value: float) -> str:
    """Return a ratio in at most four characters."""
    if value < 0.005:
        return "<.01"
    if value < 0.995:
        return f"{value:.2f}".lstrip("0")
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def _cell(ax: Axes, x: int, y: int, a: Runtimes, b: Runtimes) -> float:
    value, row = ratio(a, b)
    if np.isfinite(value):
        dark = abs(np.log(value)) > np.log(3.5)
        ax.text(
            x,
            y,
            spelled(value),
            ha="center",
            va="center",
            fontsize=5.5,
            color="white" if dark else "black",
        )
    further = [np.isfinite(r.ert[row + 1 :]).any() for r in (a, b)]
    if any(further):
        left, bottom, size = x - 0.48, y + 0.47, 0.3
        corner = [(left, bottom), (left + size, bottom), (left, bottom - size * 1.2)]
        color = "#08306b" if further[0] else "#8b0000"
        ax.fill(*zip(*corner, strict=True), facecolor=color, edgecolor="white", linewidth=0.4)
    return value


def _finish(ax: Axes, rows: Sequence[int], suite: Suite) -> None:
    functions = suite.functions
    ax.set_xticks(range(len(functions)), [f"f{f}" for f in functions], fontsize=6)
    ax.set_yticks(range(len(rows)), [f"{n}-D" for n in rows])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.set_facecolor("0.93")
    for name, first, last in suite.groups:
        middle = (first + last) / 2 - functions[0]
        ax.annotate(
            name,
            (middle, 0.0),
            xytext=(0, -12),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=6.5,
        )
        if last < functions[-1]:
            ax.axvline(last - functions[0] + 0.5, color="black", linewidth=0.8)
