"""The view of a run of CAS-MORE in six panels, which also works during the run."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.trace import COMPLEXITIES, Trace, step_size

Array = NDArray[np.float64]

SIZE = (style.PAGE, 4.2)  # inches
_NAMES = ["none", *(str(c.value) for c in COMPLEXITIES if c is not None)]


def draw(figure: Figure, trace: Trace) -> None:
    """Draw the view into an empty figure.

    Parameters
    ----------
    figure
        Figure with a constrained layout.
    trace
        Trace of a run; values that its solver does not provide stay empty.

    Raises
    ------
    ValueError
        If nothing has been recorded.
    """
    if len(trace) == 0:
        raise ValueError("the trace is empty: run fmin(..., trace=True) first")
    x = trace["evaluations"]
    axes = figure.subplots(2, 3, sharex=True)
    _values(axes[0, 0], x, trace)
    _step_size(axes[0, 1], x, trace)
    _axis_lengths(axes[0, 2], x, trace)
    _path(axes[1, 0], x, trace)
    _complexity(axes[1, 1], x, trace)
    _condition(axes[1, 2], x, trace)
    for ax in axes.flat:
        ax.set_xlim(0, max(float(x[-1]), 1.0))
        ax.xaxis.set_major_locator(MaxNLocator(4))
        for start in x[1:][np.diff(trace["restart"]) > 0]:
            ax.axvline(start, color=style.MUTED, linewidth=0.6, linestyle=":")
    figure.supxlabel("evaluations", fontsize=8)


def _values(ax: Axes, x: Array, trace: Trace) -> None:
    curves = {
        "at the mean": trace["f_mean"],
        "median of iteration": trace["f_median"],
        "best": trace["f_best"],
    }
    finite = np.concatenate([c[np.isfinite(c)] for c in curves.values()])
    # a logarithmic axis, as for any optimization; above the best value if that is not positive
    offset = 0.0 if finite.size and finite.min() > 0 else float(finite.min(initial=0.0))
    _title(ax, "$f$" if offset == 0 else f"$f$ above {offset:.6g}, the least seen")
    for i, (label, values) in enumerate(curves.items()):
        above = values - offset
        visible = np.isfinite(above) & (above > 0)
        if visible.any():
            wide = {"linewidth": 0.8, "alpha": 0.6} if i == 1 else {}
            ax.plot(x[visible], above[visible], label=label, **{**style.line(i), **wide})
    ax.set_yscale("log")
    _legend(ax)


def _step_size(ax: Axes, x: Array, trace: Trace) -> None:
    _title(ax, "step size (entropy on the right)")
    n = trace["axis_lengths"].shape[1]
    ax.plot(x, trace["step_size"], **style.line(0))
    ax.set_yscale("log")

    def entropy(sigma: Any) -> Any:
        return n * np.log(np.maximum(sigma, 1e-300) * math.sqrt(2 * math.pi * math.e))

    # the same curve read in nats: the entropy is linear in log(step size)
    right = ax.secondary_yaxis("right", functions=(entropy, lambda nats: step_size(nats, n)))
    right.set_yscale("linear")
    right.yaxis.set_major_locator(MaxNLocator(5))
    right.set_ylabel("nats", fontsize=7, labelpad=1)


def _axis_lengths(ax: Axes, x: Array, trace: Trace) -> None:
    _title(ax, "axis lengths")
    lengths = trace["axis_lengths"]
    shades = np.linspace(0, 0.65, lengths.shape[1])
    for column, shade in zip(lengths.T, shades, strict=True):
        ax.plot(x, column, color=(shade, 0.25 + 0.6 * shade, 0.55 + 0.35 * shade), linewidth=0.8)
    ax.set_yscale("log")


def _condition(ax: Axes, x: Array, trace: Trace) -> None:
    _title(ax, "condition number")
    ax.plot(x, trace["condition"], **style.line(0))
    ax.set_yscale("log")


def _path(ax: Axes, x: Array, trace: Trace) -> None:
    _title(ax, "evolution path")
    ax.plot(x, trace["path_length"], label="length", **style.line(0))
    ax.plot(x, trace["desired_length"], label="desired length", **style.line(1))
    ax.set_ylim(bottom=0)
    _legend(ax)


def _complexity(ax: Axes, x: Array, trace: Trace) -> None:
    _title(ax, "model")
    ax.step(x, trace["complexity"], where="post", **style.line(0))
    ax.set_yticks(range(len(_NAMES)), _NAMES)
    ax.set_ylim(-0.3, len(_NAMES) - 0.7)


def _legend(ax: Axes) -> None:
    if not ax.get_legend_handles_labels()[0]:
        return  # the solver does not provide it
    # curves may be anywhere, so the legend is transparent
    ax.legend(fontsize=6, handlelength=2.2, frameon=True, framealpha=0.8, edgecolor="none")


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left")
