"""The common style of all figures, for the columns of a two-column paper.

Sizes are in inches. A figure that is included in a paper without scaling has the text size set
here.
"""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

COLUMN, PAGE = 3.5, 7.16  # widths of one column and of both

# Okabe & Ito (2008): distinguishable with any color vision, and in greyscale by the line style.
# Their yellow is omitted, since it is too faint for lines on white.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osDv^Ph"
_LINE_STYLES = ("-", (0, (5, 1.5)), (0, (1.2, 1)), (0, (6, 1.2, 1.2, 1.2)))

MUTED = "0.45"

_SETTINGS: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "figure.dpi": 100,
    "savefig.dpi": 250,
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3 fonts
    "svg.fonttype": "none",
}


@contextmanager
def paper() -> Iterator[None]:
    """Use this style within the context; Matplotlib's settings are restored afterwards."""
    with mpl.rc_context(_SETTINGS):
        yield


def line(index: int) -> dict[str, Any]:
    """Return color and line style of the solver with this place in the run's order."""
    turn = index // len(_COLORS)  # a second turn through the colors gets other line styles
    return {
        "color": _COLORS[index % len(_COLORS)],
        "linestyle": _LINE_STYLES[(index + 2 * turn) % len(_LINE_STYLES)],
    }


def marker(index: int) -> str:
    """Return the marker of the solver with this place in the run's order."""
    return _MARKERS[index % len(_MARKERS)]


def legend_above(figure: Figure, ax: Axes, *, most: int | None = None, **look: Any) -> None:
    """Put one legend, of what ``ax`` shows, above all panels, in as many columns as fit.

    ``most`` is the largest number of columns; default: one for each label.
    """
    handles, labels = ax.get_legend_handles_labels()
    for columns in range(min(len(labels), most or len(labels)), 0, -1):
        legend = figure.legend(handles, labels, loc="outside upper center", ncols=columns, **look)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def hide_unused(axes: NDArray[np.object_], used: int) -> None:
    """Hide the panels of a grid beyond the first ``used``; label the x axes above the hidden ones.

    Parameters
    ----------
    axes
        The axes of the panels, shape (rows, columns).
    used
        Number of panels with content.
    """
    for ax in axes.flat[used:]:
        ax.set_visible(False)
    for ax in axes.flat[max(used - axes.shape[1], 0) : used]:
        ax.tick_params(labelbottom=True)


def break_lines(figure: Figure, text: Text) -> int:
    """Break a text that is wider than its figure into lines; return how many are added."""
    width, available = text.get_window_extent().width, figure.bbox.width
    if width <= available:
        return 0
    content = text.get_text()
    length = int(0.9 * len(content) * available / width)
    lines = textwrap.wrap(content, length, break_on_hyphens=False)
    text.set_text("\n".join(lines))
    return len(lines) - 1


def save(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write ``stem.png`` and ``stem.pdf``, without the time: the same data give the same files."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    png, pdf = stem.with_name(stem.name + ".png"), stem.with_name(stem.name + ".pdf")
    with paper():
        figure.savefig(png, metadata={"Software": None})
        figure.savefig(pdf, metadata={"CreationDate": None})
    return png, pdf
