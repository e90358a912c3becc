"""The sensitivity figure: what halving or doubling a default does to the evaluations needed."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from casmore.plotting import style
from casmore.problems.analytic import FUNCTIONS
from casmore.studies.confidence import ert_ratio
from casmore.studies.hyper_parameters import SYMBOLS
from casmore.studies.run_table import Variant, read_variants

_DEFAULT = "default"
_FACTORS = {"x0.5": ("halved", "o"), "x2": ("doubled", "s")}
_EDGES = 0.4, 8.0  # a ratio beyond the upper one is written beside an arrow
_BLANK = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # keeps text off the interval


def sensitivity(results: Path) -> Figure:
    """Return the figure, from ``sensitivity_runs.csv``."""
    variants = read_variants(results / "sensitivity_runs.csv")
    functions = list(dict.fromkeys(v.function for v in variants))
    names = list(dict.fromkeys(_setting(v.label) for v in variants if v.label != _DEFAULT))
    with style.paper():
        size = (style.PAGE, 0.25 * len(names) + 1.05)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(functions), sharey=True, squeeze=False)[0]
        for ax, function in zip(axes, functions, strict=True):
            _panel(ax, {v.label: v for v in variants if v.function == function}, names)
        axes[0].set_yticks(range(len(names)), [SYMBOLS[name] for name in names])
        axes[0].invert_yaxis()
        figure.supxlabel(
            "expected running time relative to the defaults, with 95 % confidence intervals "
            f"(10-D, {len(variants[0].runs)} runs each)\n"
            r"a halved $Q_\mathrm{max}$ holds no full model: these runs keep to the diagonal one",
            fontsize=8,
        )
        style.legend_above(figure, axes[0])
    return figure


def _setting(label: str) -> str:
    return label.removeprefix(f"{_DEFAULT}_").rpartition("_")[0]


def _panel(ax: Axes, variants: Mapping[str, Variant], names: Sequence[str]) -> None:
    default = variants[_DEFAULT]
    for i, (suffix, (word, marker)) in enumerate(_FACTORS.items()):
        color = style.line(i)["color"]
        ax.plot([], [], marker, color=color, markersize=4, label=word)
        for row, name in enumerate(names):
            y = row + 0.14 * (2 * i - 1)
            ratio = ert_ratio(variants[f"{_DEFAULT}_{name}_{suffix}"].attempts, default.attempts)
            low, high = (min(max(x, _EDGES[0]), _EDGES[1]) for x in (ratio.low, ratio.high))
            ax.plot([low, high], [y, y], color=color, linewidth=1)
            if ratio.value <= _EDGES[1]:
                ax.plot(ratio.value, y, marker, color=color, markersize=4)
                continue
            ax.plot(_EDGES[1], y, ">", color=color, markersize=4, clip_on=False)
            text = f"{ratio.value:.0f}" if math.isfinite(ratio.value) else "never"
            ax.text(_EDGES[1] / 1.15, y, text, fontsize=5, ha="right", va="center", bbox=_BLANK)
    ax.axvline(1, color="black", linewidth=0.6)
    ax.set_xscale("log")
    ax.set_xlim(*_EDGES)
    ax.xaxis.set_major_locator(FixedLocator([0.5, 1, 2, 4, 8]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    function = FUNCTIONS[default.function]
    ax.set_title(f"f{function.number} {function.name}\nERT {default.attempts.ert:.0f}", loc="left")
