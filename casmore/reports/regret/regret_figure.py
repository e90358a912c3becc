"""ECDFs of regret: how many targets the best value, a typical sample and the mean are below.

The first kind of line is the usual ECDF without simulated restarts. The second gives the fraction
of function-target pairs for which the median recent sample is below the target, and the third that
for which the mean of the search distribution is. These two may fall. After the end of a trial its
last values count.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.reports import ecdf, ecdf_axes
from casmore.reports.regret.regrets import MEAN, SAMPLES, Regrets, fraction, points
from casmore.reports.runtimes import Runtimes, comparable, solvers, suite_of

Array = NDArray[np.float64]

BEST = "best so far"
KINDS = {BEST: "best value so far", SAMPLES: "median of recent samples", MEAN: "mean"}
_ROW = 1.7  # height in inches
_SOLVERS_IN_A_ROW = 6


def curve(
    runtimes: Sequence[Runtimes], regrets: Sequence[Regrets], kind: str, budget: float
) -> tuple[Array, Array]:
    """Return a line of the figure for one solver in one dimension.

    Parameters
    ----------
    runtimes, regrets
        Of the solver, on the same functions.
    kind
        One of `KINDS`.
    budget
        In evaluations per dimension; where the line ends.

    Returns
    -------
    x, y : ndarray
        From evaluations per dimension ``x[i]`` on, the fraction is ``y[i]``.
    """
    if kind == BEST:
        x, y = ecdf.curve(runtimes)
        shown = x <= budget
        return x[shown], y[shown]
    dimension = regrets[0].dimension
    grid = points(budget * dimension)
    return grid / dimension, fraction(regrets, kind, grid)


def by_dimension(
    runtimes: Sequence[Runtimes], regrets: Sequence[Regrets], budgets: Mapping[int, float]
) -> Figure:
    """Return the figure over all functions: a row for each dimension, a panel for each kind.

    Parameters
    ----------
    runtimes, regrets
        Of all solvers; functions count that all of them have in a dimension.
    budgets
        In evaluations per dimension, for the dimensions to show.
    """
    rows = len(budgets)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, _ROW * rows + 0.45), layout="constrained")
        axes = figure.subplots(rows, len(KINDS), sharex=True, sharey=True, squeeze=False)
        for row, (dimension, budget) in zip(axes, budgets.items(), strict=True):
            found = _by_solver(runtimes, regrets, dimension)
            for ax, (kind, title) in zip(row, KINDS.items(), strict=True):
                for index, solver in enumerate(solvers(runtimes)):
                    if solver in found:
                        line = curve(*found[solver], kind, budget)
                        ecdf_axes.step(ax, *line, budget, label=solver, **style.line(index))
                ecdf_axes.small_panel(ax, f"{title}, {dimension}-D", budget)
        _label(figure, axes)
    return figure


def by_group(
    runtimes: Sequence[Runtimes], regrets: Sequence[Regrets], dimension: int, budget: float
) -> Figure:
    """Return the figure of one dimension: a panel for each function group, and one for all.

    Thick lines are of the median of recent samples, thin ones of the best value so far.

    Parameters
    ----------
    runtimes, regrets
        Of all solvers; functions count that all of them have.
    dimension
        The dimension.
    budget
        In evaluations per dimension; where the lines end.
    """
    found = _by_solver(runtimes, regrets, dimension)
    functions = sorted({r.function for own, _ in found.values() for r in own})
    suite = suite_of(runtimes)
    panels = {
        suite.group_title(group): [f for f in functions if group.first <= f <= group.last]
        for group in suite.groups
    }
    panels = {name: members for name, members in panels.items() if members}
    panels["all functions"] = functions
    columns = ecdf_axes.columns(len(panels))
    rows = math.ceil(len(panels) / columns)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, _ROW * rows + 0.45), layout="constrained")
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        style.hide_unused(axes, len(panels))
        for ax, (name, members) in zip(axes.flat, panels.items(), strict=False):
            for index, solver in enumerate(solvers(runtimes)):
                if solver not in found:
                    continue
                own, regret = found[solver]
                of_panel = (
                    [r for r in own if r.function in members],
                    [r for r in regret if r.function in members],
                )
                best, samples = (curve(*of_panel, kind, budget) for kind in (BEST, SAMPLES))
                look = style.line(index)
                ecdf_axes.step(ax, *best, budget, **look, linewidth=0.6)
                ecdf_axes.step(ax, *samples, budget, **look, label=solver)
            ecdf_axes.small_panel(ax, f"{name}, {dimension}-D", budget)
        _label(figure, axes)
    return figure


def _by_solver(
    runtimes: Sequence[Runtimes], regrets: Sequence[Regrets], dimension: int
) -> dict[str, tuple[list[Runtimes], list[Regrets]]]:
    """Return the data of each solver that has both, on the functions that all of these have."""
    known = {(r.solver, r.function): r for r in regrets if r.dimension == dimension}
    with_both = [
        r for r in runtimes if r.dimension == dimension and (r.solver, r.function) in known
    ]
    if not with_both:
        return {}
    return {
        solver: (own, [known[solver, r.function] for r in own])
        for solver, own in comparable(with_both, dimension).items()
        if own
    }


def _label(figure: Figure, axes: NDArray[Any]) -> None:
    for row in axes:
        row[0].set_ylabel("fraction of\nfunction-target pairs", fontsize=7)
    figure.supxlabel("evaluations / dimension", fontsize=8)
    style.legend_above(figure, axes[0, 0], most=_SOLVERS_IN_A_ROW)
