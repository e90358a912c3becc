"""A strip for each dimension: the scores of all algorithms of the archive, and ours among them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from casmore.plotting import style
from casmore.problems.suites import BEST_2009, BEST_2016, BEST_2019, Suite
from casmore.reports.league import Standing

# colors of the virtual best solvers
VIRTUAL = {BEST_2009: "#e0b050", BEST_2016: "#a07010", BEST_2019: "#e0b050"}


def strips(standings: Sequence[Standing]) -> Figure:
    """Return the figure: a grey line for each algorithm, a symbol and a rank for each solver.

    The solvers have levels of their own, since their scores may be equal.
    """
    order = standings[0].solvers
    levels = np.linspace(-0.2, 0.2, len(order)) if len(order) > 1 else np.zeros(1)
    suite = standings[0].suite
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 0.42 * len(standings) + 0.95), layout="constrained")
        ax = figure.subplots()
        for y, standing in enumerate(standings):
            scores = [entrant.score for entrant in standing.archive]
            ax.vlines(scores, y - 0.3, y + 0.3, color="0.6", linewidth=0.4)
            for entrant in standing.references:
                if color := VIRTUAL.get(entrant.name):
                    ax.plot([entrant.score] * 2, [y - 0.36, y + 0.36], color=color, linewidth=2.5)
            for entrant in standing.ours:
                index = order.index(entrant.name)
                color = style.line(index)["color"]
                at = y + levels[index]
                ax.plot(entrant.score, at, style.marker(index), color=color, ms=4, zorder=4)
            if standing.archive:
                _write_ranks(ax, y, standing, order)
        ax.set_yticks(range(len(standings)), [f"{s.dimension}-D" for s in standings])
        ax.set_ylim(len(standings) - 0.5, -0.5)
        ax.set_xlim(0, None)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("score (mean over functions and targets of 1 - log10(ERT / n) / 4)")
        _legend(figure, order, suite)
    return figure


def _write_ranks(ax: Axes, y: int, standing: Standing, order: Sequence[str]) -> None:
    """Write the ranks in columns to the right, in the order of the legend."""

    def write(text: str, column: float, row: float, **look: Any) -> None:
        at = (1.01 + 0.045 * column, row)
        ax.annotate(text, at, xycoords=("axes fraction", "data"), va="center", fontsize=7, **look)

    for entrant in standing.ours:
        index = order.index(entrant.name)
        color = style.line(index)["color"]
        write(str(standing.rank(entrant)), index + 0.5, y, color=color, ha="center")
    write(f"of {standing.places}", len(order), y, color=style.MUTED)
    if y == 0:
        write("rank", 0.1, -0.75)


def _legend(figure: Figure, order: Sequence[str], suite: Suite) -> None:
    ax = figure.axes[0]
    for i, name in enumerate(order):
        ax.plot([], [], style.marker(i), color=style.line(i)["color"], label=name)
    if suite.in_archive:
        ax.plot([], [], "|", color="0.6", label="the archive's algorithms")
    for name in reversed(suite.best):
        ax.plot([], [], color=VIRTUAL[name], linewidth=2.5, label=name)
    style.legend_above(figure, ax, most=6, fontsize=7)
