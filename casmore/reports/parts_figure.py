"""What each part of a solver gives and costs: the league's points of variants without the part."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.reports.league import points
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import ERT_ROWS, Runtimes, dimensions, solvers, suite_of

_MOST = 30.0  # points at which the color is saturated


def parts(runtimes: Sequence[Runtimes]) -> Figure:
    """Return the figure: points that the first solver has more than each of the others.

    A panel for each dimension, a column for each function group and one for all functions. The
    points are those of the league, times 100: a purple cell says that the part is worth that
    much, an orange one that it costs that much. The first row is the first solver's own points.

    Raises
    ------
    ReportError
        If there is only one solver.
    """
    first, *others = solvers(runtimes)
    if not others:
        raise ReportError(f"the table has only {first}; there is no variant to compare it with")
    shown = dimensions(runtimes)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 0.22 * (len(others) + 1) + 1.05), layout="constrained")
        axes = figure.subplots(1, len(shown), squeeze=False, sharey=True)[0]
        for ax, n in zip(axes, shown, strict=True):
            _panel(ax, [r for r in runtimes if r.dimension == n], first, others)
            ax.set_title(f"{n}-D")
        axes[0].set_yticks(range(len(others) + 1), [first, *others])
    return figure


def group_points(
    runtimes: Sequence[Runtimes], solver: str
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of the groups and "all", and the solver's mean points in each, in [0, 100].

    Parameters
    ----------
    runtimes
        Of one dimension.
    solver
        The solver's label.
    """
    own = [r for r in runtimes if r.solver == solver]
    suite = suite_of(runtimes)
    of_each = {r.function: 100 * points(r.ert[ERT_ROWS], r.dimension) for r in own}
    groups = {g.name: [f for f in of_each if suite.group_of(f) == g.name] for g in suite.groups}
    groups["all"] = list(of_each)
    known = {name: fs for name, fs in groups.items() if fs}
    return list(known), np.array([np.mean([of_each[f] for f in fs]) for fs in known.values()])


def _panel(ax: Axes, runtimes: Sequence[Runtimes], first: str, others: Sequence[str]) -> None:
    names, of_first = group_points(runtimes, first)
    gains = np.array([of_first - group_points(runtimes, other)[1] for other in others])
    shades = np.vstack([np.zeros(len(names)), gains])
    ax.imshow(shades, cmap="PuOr", vmin=-_MOST, vmax=_MOST, aspect="auto")
    for (row, column), value in np.ndenumerate(np.vstack([of_first, gains])):
        text = f"{value:.0f}" if row == 0 else f"{value:+.0f}".replace("-", "\N{MINUS SIGN}")
        text = "0" if text in ("+0", "\N{MINUS SIGN}0") else text
        strong = row > 0 and abs(value) > 0.6 * _MOST
        ax.text(
            column, row, text, ha="center", va="center", fontsize=7, color="w" if strong else "k"
        )
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    ax.axhline(0.5, color="0.4", linewidth=0.6)
    ax.grid(visible=False)
    ax.tick_params(length=0)
