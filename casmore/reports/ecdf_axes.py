"""What all figures of ECDFs have in common: their axes and their lines."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

LEFT = 0.5  # the first evaluation is at 1 / n; nothing happens before one evaluation per dimension


def prepare(ax: Axes, right: float) -> None:
    """Set the scales: evaluations per dimension up to ``right``, and fractions."""
    ax.set_xscale("log")
    ax.set_xlim(LEFT, right)
    ax.set_ylim(0, 1)
    ax.xaxis.set_major_locator(LogLocator(numticks=8))
    ax.xaxis.set_minor_formatter(NullFormatter())


def small_panel(ax: Axes, title: str, right: float, *, fontsize: float = 7) -> None:
    """Prepare one of many panels, and set its title."""
    prepare(ax, right)
    ax.set_title(title, fontsize=fontsize, pad=3)


def columns(panels: int) -> int:
    """Return in how many columns panels are arranged: four in two, others in at most three."""
    return 2 if panels == 4 else min(3, panels)


def step(
    ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], right: float, **look: Any
) -> None:
    """Draw the line that has the height ``y[i]`` from ``x[i]`` on, up to ``right``."""
    shown = x <= right
    steps_x = np.concatenate([[1e-3], x[shown], [right]])
    steps_y = np.concatenate([[0.0], y[shown], y[shown][-1:] if shown.any() else [0.0]])
    ax.step(steps_x, steps_y, where="post", **look)
