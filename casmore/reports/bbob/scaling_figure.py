"""How the expected running time scales with the dimension, for each function of a suite."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

from casmore.plotting import style
from casmore.reports import references
from casmore.reports.bbob.function_title import function_title_size
from casmore.reports.bbob.significance import p_value_against_all
from casmore.reports.bbob.trial_note import trial_note
from casmore.reports.runtimes import Runtimes, dimensions, solvers, suite_of

_FINAL = -1  # the row of the target 1e-8
_LEVEL = 0.01
_BEST: dict[str, Any] = {"color": "#f3d9a4", "linewidth": 4.0}
_COLUMNS = 4


def scaling(runtimes: Sequence[Runtimes]) -> Figure:
    """Return the figure: ERT to 1e-8 divided by the dimension, over the dimension.

    A filled symbol says that all trials reached the target, an open one that some did. A light
    symbol is the longest trial, where none did. A star marks the solver that is significantly
    better than all others there (rank-sum test, p < 0.01 after Bonferroni's correction with the
    number of dimensions). The thick light line is the oldest virtual best solver of the suite,
    sloping grid lines are ERTs that grow with the square of the dimension.
    """
    names, all_dimensions = solvers(runtimes), dimensions(runtimes)
    functions = sorted({r.function for r in runtimes})
    rows = -(-len(functions) // _COLUMNS)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 1.4 * rows + 0.5), layout="constrained")
        axes = figure.subplots(rows, _COLUMNS, sharex=True, squeeze=False)
        style.hide_unused(axes, len(functions))
        for ax, function in zip(axes.flat, functions, strict=False):
            own = [r for r in runtimes if r.function == function]
            _panel(ax, function, own, names, all_dimensions)
        figure.supxlabel(f"dimension   ({trial_note(runtimes)})", fontsize=8)
        figure.supylabel("ERT / dimension, to 1e-8", fontsize=8)
        style.legend_above(figure, axes[0, 0], most=7, fontsize=7)
    return figure


def _panel(
    ax: Axes,
    function: int,
    own: Sequence[Runtimes],
    names: Sequence[str],
    all_dimensions: Sequence[int],
) -> None:
    suite = suite_of(own)
    x = np.array(all_dimensions, dtype=float)
    for reference in suite.best[-1:]:
        best = references.best(suite, reference)
        y = [best[n, function][_FINAL] / n for n in all_dimensions]
        ax.plot(x, y, **_BEST, label=reference, zorder=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for index, name in enumerate(names):
        of_solver = sorted((r for r in own if r.solver == name), key=lambda r: r.dimension)
        _draw(ax, of_solver, index, name)
    for n in all_dimensions:
        _mark_the_best(ax, [r for r in own if r.dimension == n], len(all_dimensions))
    low, high = np.log10(ax.get_ylim())
    ax.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))  # whole decades have labels
    for start in 10.0 ** np.arange(np.floor(low) - 2, np.ceil(high)):
        ax.plot(x, start * x / 2, color="0.9", linewidth=0.5, zorder=0)  # ERT grows with n^2
    ax.set_xlim(min(all_dimensions) / 1.15, max(all_dimensions) * 1.15)
    ax.xaxis.set_major_locator(FixedLocator(all_dimensions))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_title(suite.title(function), fontsize=function_title_size(suite), pad=3)


def _draw(ax: Axes, own: Sequence[Runtimes], index: int, name: str) -> None:
    look, marker = style.line(index), style.marker(index)
    x = [r.dimension for r in own]
    y = [r.ert[_FINAL] / r.dimension if r.successes else np.nan for r in own]
    ax.plot(x, y, **look, marker=marker, markersize=3.2, markerfacecolor="white", label=name)
    for r in own:
        if r.successes == r.trials:
            at = r.ert[_FINAL] / r.dimension
            ax.plot(r.dimension, at, marker, color=look["color"], markersize=3.2, zorder=3)
        if not r.successes:
            # beside each other, since budgets are often the same
            place = r.dimension * 1.06 ** (index - 1.5)
            at = r.longest / r.dimension
            ax.plot(place, at, marker, color=look["color"], markersize=3.2, alpha=0.35)


def _mark_the_best(ax: Axes, own: Sequence[Runtimes], tests: int) -> None:
    for r in own:
        others = [other for other in own if other is not r]
        p = p_value_against_all(r, others, _FINAL)
        if r.successes and p * tests < _LEVEL:
            ax.plot(
                r.dimension, r.ert[_FINAL] / r.dimension / 1.8, "*", color="black", markersize=4
            )
