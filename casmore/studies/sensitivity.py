"""The sensitivity figure: what halving or doubling a default does to the evaluations needed."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from casmore.plotting import style
from casmore.problems.analytic import FUNCTIONS
from casmore.studies.hyper_parameters import SYMBOLS
from casmore.studies.tables import End, read_ends

_DEFAULT = "default"
_FACTORS = {"x0.5": ("halved", "o"), "x2": ("doubled", "s")}
_EDGE = 8.0  # beyond this ratio, or not reached by the median run: an arrow at the edge


def sensitivity(results: Path) -> Figure:
    """Return the figure, from ``sensitivity_ends.csv``."""
    ends = read_ends(results / "sensitivity_ends.csv")
    functions = list(dict.fromkeys(end.function for end in ends))
    names = list(dict.fromkeys(_setting(end.label) for end in ends if end.label != _DEFAULT))
    with style.paper():
        size = (style.PAGE, 0.24 * len(names) + 0.95)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(functions), sharey=True, squeeze=False)[0]
        for ax, function in zip(axes, functions, strict=True):
            _panel(ax, [end for end in ends if end.function == function], names)
        axes[0].set_yticks(range(len(names)), [SYMBOLS[name] for name in names])
        axes[0].invert_yaxis()
        figure.supxlabel(
            f"evaluations to the target, relative to the defaults: medians "
            f"(10-D, {ends[0].runs} runs each)",
            fontsize=8,
        )
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _setting(label: str) -> str:
    return label.removeprefix(f"{_DEFAULT}_").rpartition("_")[0]


def _panel(ax: Axes, ends: Sequence[End], names: Sequence[str]) -> None:
    by_label = {end.label: end for end in ends}
    default = by_label[_DEFAULT]
    for i, (suffix, (word, marker)) in enumerate(_FACTORS.items()):
        colour = style.line(i)["color"]
        shift = 0.14 * (2 * i - 1)
        ax.plot([], [], marker, color=colour, markersize=4, label=word)
        for row, name in enumerate(names):
            end = by_label[f"{_DEFAULT}_{name}_{suffix}"]
            ratio = end.evaluations / default.evaluations
            if not math.isfinite(ratio) or ratio > _EDGE:
                ax.plot(_EDGE, row + shift, ">", color=colour, markersize=4, clip_on=False)
                text = f"{ratio:.0f}" if math.isfinite(ratio) else "never"
                ax.text(_EDGE / 1.15, row + shift, text, fontsize=5, ha="right", va="center")
            else:
                ax.plot(ratio, row + shift, marker, color=colour, markersize=4)
    ax.axvline(1, color="black", linewidth=0.6)
    ax.set_xscale("log")
    ax.set_xlim(0.4, _EDGE)
    ax.xaxis.set_major_locator(FixedLocator([0.5, 1, 2, 4, 8]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    function = FUNCTIONS[default.function]
    ax.set_title(
        f"f{function.number} {function.name}\n{default.evaluations:.0f} evaluations", loc="left"
    )
