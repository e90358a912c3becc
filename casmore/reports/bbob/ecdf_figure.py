"""ECDFs of runtimes with simulated restarts, as in the paper: groups, all functions, single ones.

A line gives the fraction of all pairs of function and target that a solver reaches within a number
of evaluations per dimension. A cross marks the median budget of the trials that failed; the line
beyond it rests on simulated restarts. The thick light line is a virtual best solver, of 2009 for
most suites, which reaches each target after the smallest ERT of any algorithm of its years.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.problems.suites import BBOB, Suite
from casmore.reports import ecdf_axes, references
from casmore.reports.bbob.function_title import function_title_size
from casmore.reports.bbob.simulated_restarts import simulate
from casmore.reports.bbob.trial_note import short_trial_note
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, dimensions, solvers, suite_of

# the single functions of the paper's figure, on BBOB
SELECTED = (6, 8, 10, 12, 13, 15)
_SAMPLES = 100  # simulated runs for each pair of function and target
_SEED = 2009  # the figure of the same data is the same
_BEYOND = 100.0  # the axis ends at this multiple of the largest budget
_BEST: dict[str, Any] = {"color": "#f3d9a4", "linewidth": 4.0, "solid_capstyle": "butt"}


def by_group(runtimes: Sequence[Runtimes], dimension: int) -> Figure:
    """Return the paper's figure: the groups, all functions, and six single functions of BBOB."""
    suite = suite_of(runtimes)
    panels = {suite.group_title(group): suite.members(group.name) for group in suite.groups}
    panels["all functions"] = suite.functions
    if suite is BBOB:
        panels |= {suite.title(f): range(f, f + 1) for f in SELECTED}
    return _figure(runtimes, dimension, panels, columns=ecdf_axes.columns(len(panels)))


def by_function(runtimes: Sequence[Runtimes], dimension: int) -> Figure:
    """Return the appendix's figure: a panel for each function of the suite."""
    suite = suite_of(runtimes)
    panels = {suite.title(f): range(f, f + 1) for f in suite.functions}
    size = function_title_size(suite)
    return _figure(runtimes, dimension, panels, columns=4, title_size=size)


def by_dimension(runtimes: Sequence[Runtimes]) -> Figure:
    """Return the figure over all functions: a panel for each dimension."""
    shown = dimensions(runtimes)
    columns = ecdf_axes.columns(len(shown))
    rows = math.ceil(len(shown) / columns)
    names, rng = solvers(runtimes), np.random.default_rng(_SEED)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 1.9 * rows + 0.45), layout="constrained")
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        style.hide_unused(axes, len(shown))
        for ax, n in zip(axes.flat, shown, strict=False):
            own = [r for r in runtimes if r.dimension == n]
            simulated = {(r.solver, r.function): simulate(r, _SAMPLES, rng) for r in own}
            limit = _BEYOND * max(r.longest for r in own) / n
            functions = sorted({r.function for r in own})
            _draw_best(ax, suite_of(own), functions, n, limit)
            for index, solver in enumerate(names):
                of_solver = [r for r in own if r.solver == solver]
                _draw(ax, of_solver, simulated, limit, style.line(index), solver)
            ecdf_axes.small_panel(ax, f"{n}-D   ({short_trial_note(own)})", limit)
        figure.supxlabel("evaluations / dimension", fontsize=8)
        figure.supylabel("fraction of function-target pairs", fontsize=8)
        style.legend_above(figure, axes[0, 0], most=7, fontsize=7)
    return figure


def curve(
    simulated: Sequence[NDArray[np.float64]], dimension: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ECDF of simulated runtimes, with equal weights for functions and targets.

    Parameters
    ----------
    simulated
        Evaluations, for each function an array of shape (51, samples).
    dimension
        Evaluations are divided by it.

    Returns
    -------
    x, y : ndarray
        From evaluations per dimension ``x[i]`` on the fraction is ``y[i]``; ``x`` ascends.
    """
    values = np.concatenate([s.ravel() for s in simulated]) / dimension
    x, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    return x, np.cumsum(counts) / len(values)


def _figure(
    runtimes: Sequence[Runtimes],
    dimension: int,
    panels: Mapping[str, range],
    *,
    columns: int,
    title_size: float = 7,
) -> Figure:
    own = [r for r in runtimes if r.dimension == dimension]
    if not own:
        raise ReportError(f"no trials in {dimension}-D; there are some in {dimensions(runtimes)}-D")
    suite, present = suite_of(runtimes), solvers(own)
    rng = np.random.default_rng(_SEED)
    simulated = {(r.solver, r.function): simulate(r, _SAMPLES, rng) for r in own}
    limit = _BEYOND * max(r.longest for r in own) / dimension
    rows = math.ceil(len(panels) / columns)
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 1.45 * rows + 0.45), layout="constrained")
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        style.hide_unused(axes, len(panels))
        for ax, (name, functions) in zip(axes.flat, panels.items(), strict=False):
            _draw_best(ax, suite, functions, dimension, limit)
            for index, solver in enumerate(solvers(runtimes)):
                if solver in present:
                    of_panel = [r for r in own if r.solver == solver and r.function in functions]
                    _draw(ax, of_panel, simulated, limit, style.line(index), solver)
            ecdf_axes.small_panel(ax, name, limit, fontsize=title_size)
        label = f"evaluations / dimension, {dimension}-D   ({short_trial_note(own)})"
        figure.supxlabel(label, fontsize=8)
        figure.supylabel("fraction of function-target pairs", fontsize=8)
        style.legend_above(figure, axes[0, 0], most=7, fontsize=7)
    return figure


def _draw_best(
    ax: Axes, suite: Suite, functions: Iterable[int], dimension: int, limit: float
) -> None:
    for name in suite.best[-1:]:
        best = references.best(suite, name)
        ert = [best[dimension, f][:, None] for f in functions]
        ecdf_axes.step(ax, *curve(ert, dimension), limit, **_BEST, label=name, zorder=1)


def _draw(
    ax: Axes,
    own: Sequence[Runtimes],
    simulated: Mapping[tuple[str, int], NDArray[np.float64]],
    limit: float,
    look: Mapping[str, Any],
    label: str,
) -> None:
    if not own:
        ax.plot([], [], **look, label=label)
        return
    x, y = curve([simulated[r.solver, r.function] for r in own], own[0].dimension)
    ecdf_axes.step(ax, x, y, limit, **look, label=label, zorder=2)
    failed = [r.spent[np.isnan(r.evaluations[-1])] for r in own]
    if sum(map(len, failed)):
        at = float(np.median(np.concatenate(failed))) / own[0].dimension
        height = y[np.count_nonzero(x <= at) - 1] if np.any(x <= at) else 0.0
        ax.plot(at, height, "x", color=look["color"], markersize=6, markeredgewidth=0.8, zorder=3)
