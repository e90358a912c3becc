"""The ECDF figures: a panel for each dimension, or for each function group, a line for each solver.

A line gives the fraction of all pairs of function and target that a solver had reached, over its
evaluations. Unlike in cocopp's figures, there are no simulated restarts: lines end at the budget.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.reports import ecdf_axes
from casmore.reports.ecdf_axes import LEFT
from casmore.reports.runtimes import (
    TARGETS,
    Runtimes,
    comparable,
    dimensions,
    solvers,
    suite_of,
)

_PANEL_HEIGHT = 1.75
_COLUMNS = 4


def curve(runtimes: Sequence[Runtimes]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ECDF over the pairs of function, target and trial.

    Functions have equal weights, whatever their number of trials, and so have their instances.

    Parameters
    ----------
    runtimes
        Those of one solver, on any functions.

    Returns
    -------
    x, y : ndarray
        The steps: from evaluations per dimension ``x[i]`` on, the fraction is ``y[i]``.
        ``x`` ascends and has no value twice.
    """
    r = np.concatenate([(f.evaluations / f.dimension).ravel() for f in runtimes])
    weight = np.concatenate(
        [np.tile(f.weights, len(TARGETS)) / (len(TARGETS) * len(runtimes)) for f in runtimes]
    )
    reached = np.isfinite(r)
    x, place = np.unique(r[reached], return_inverse=True)
    return x, np.cumsum(np.bincount(place, weights=weight[reached], minlength=len(x)))


def by_dimension(runtimes: Sequence[Runtimes], budgets: Mapping[int, float]) -> Figure:
    """Return the figure over all functions, a panel for each dimension.

    Parameters
    ----------
    runtimes
        Of the whole run. In each dimension the functions that all solvers there have are taken.
    budgets
        In evaluations per dimension, by dimension; where the lines end.
    """
    panels = {f"{n}-D": comparable(runtimes, n) for n in dimensions(runtimes)}
    return _figure(panels, solvers(runtimes), [budgets[n] for n in dimensions(runtimes)])


def by_group(runtimes: Sequence[Runtimes], dimension: int, budget: float) -> Figure:
    """Return the figure of one dimension, a panel for each function group that has data.

    Parameters
    ----------
    runtimes
        Of the whole run.
    dimension
        The dimension to show.
    budget
        In evaluations per dimension; where the lines end.

    Raises
    ------
    ValueError
        If there is no data of this dimension, or no function that all solvers have.
    """
    if dimension not in dimensions(runtimes):
        raise ValueError(f"no data in {dimension}-D; there is some in {dimensions(runtimes)}")
    found = comparable(runtimes, dimension).items()
    panels = {}
    for name, _, _ in suite_of(runtimes).groups:
        by_solver = {solver: [r for r in rs if r.group == name] for solver, rs in found}
        if any(by_solver.values()):
            panels[f"{name}, {dimension}-D"] = by_solver
    if not panels:
        raise ValueError(f"the solvers have no function in common in {dimension}-D")
    return _figure(panels, solvers(runtimes), [budget] * len(panels))


def _figure(
    panels: Mapping[str, Mapping[str, Sequence[Runtimes]]],
    order: Sequence[str],
    budgets: Sequence[float],
) -> Figure:
    columns = min(len(panels), _COLUMNS if len(panels) not in (5, 6) else 3)
    rows = math.ceil(len(panels) / columns)
    width = style.COLUMN if columns == 1 else style.PAGE
    with style.paper():
        figure = Figure(figsize=(width, rows * _PANEL_HEIGHT + 0.45), layout="constrained")
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        style.hide_unused(axes, len(panels))
        for ax, (title, by_solver), budget in zip(axes.flat, panels.items(), budgets, strict=False):
            _panel(ax, title, by_solver, order, budget)
        for ax in axes[:, 0]:
            ax.set_ylabel("fraction of\nfunction-target pairs")
        figure.supxlabel("evaluations / dimension", fontsize=8)
        _legend(figure, axes.flat[0], order)
    return figure


def _panel(
    ax: Axes,
    title: str,
    by_solver: Mapping[str, Sequence[Runtimes]],
    order: Sequence[str],
    budget: float,
) -> None:
    for solver, runtimes in by_solver.items():
        if not runtimes:
            continue
        x, y = curve(runtimes)
        x, y = x[x <= budget], y[: np.count_nonzero(x <= budget)]
        # from the axis on the left to the budget on the right
        steps_x = np.concatenate([[LEFT / 100], x, [budget]])
        steps_y = np.concatenate([[0.0], y, y[-1:] if len(y) else [0.0]])
        look = style.line(order.index(solver))
        ax.step(steps_x, steps_y, where="post", **look)
        ax.plot(budget, steps_y[-1], "o", markersize=2.5, color=look["color"], clip_on=False)
    ecdf_axes.prepare(ax, budget * (budget / LEFT) ** 0.03)  # room for the marks at the end
    ax.set_title(title)
    ax.text(
        0.04,
        0.96,
        _what_is_in(by_solver, budget),
        transform=ax.transAxes,
        va="top",
        fontsize=6,
        color=style.MUTED,
        linespacing=1.3,
    )


def _what_is_in(by_solver: Mapping[str, Sequence[Runtimes]], budget: float) -> str:
    runtimes = [r for rs in by_solver.values() for r in rs]
    functions = len({r.function for r in runtimes})
    trials = sorted({r.trials for r in runtimes})
    number = f"{trials[0]}" if len(trials) == 1 else f"{trials[0]}-{trials[-1]}" if trials else "0"
    return (
        f"{functions} function{'s' * (functions != 1)}, {len(TARGETS)} targets\n"
        f"{number} trial{'s' * (number != '1')} each\nbudget {budget:g}$\\,n$"
    )


def _legend(figure: Figure, ax: Axes, order: Sequence[str]) -> None:
    for i, solver in enumerate(order):
        ax.plot([], [], label=solver, **style.line(i))
    style.legend_above(figure, ax, most=6 if figure.get_figwidth() > style.COLUMN else 3)
