"""Pictures of the hole-reaching arm."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.problems.episodic import hole_physics as physics

Array = NDArray[np.float64]

_GROUND, _ARM = "0.82", "#0072B2"


def draw(ax: Axes, q: Array, *, width: float, depth: float, alpha: float = 1.0) -> None:
    """Draw an arm, shape (5,), above the ground with its hole.

    Parameters
    ----------
    ax
        Where to; called again for further arms of a movement.
    q
        Positions of the joints.
    width, depth
        Of the hole, in metres.
    alpha
        Opacity of the arm.
    """
    x, y = physics.corners(q)
    left, right = physics.HOLE_X - width / 2, physics.HOLE_X + width / 2
    if not ax.patches:
        outline = [(-9, 0), (left, 0), (left, -depth), (right, -depth), (right, 0), (9, 0)]
        ax.fill(*zip(*outline, (9, -3), (-9, -3), strict=True), color=_GROUND, linewidth=0)
        ax.plot(*zip(*outline, strict=True), color="0.3", linewidth=0.8)
    ax.plot(
        x,
        y,
        "-o",
        color=_ARM,
        alpha=alpha,
        linewidth=2.5,
        markersize=4,
        markerfacecolor="white",
        solid_capstyle="round",
    )
    ax.set(aspect="equal", xlim=(-2.2, 4.2), ylim=(-1.3, 5.1), xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.grid(False)


def picture(q: Array, *, width: float, depth: float) -> NDArray[np.uint8]:
    """Return a picture of an arm, shape (480, 480, 3)."""
    with style.paper():
        figure = Figure(figsize=(4.8, 4.8), dpi=100)
        canvas: Any = FigureCanvasAgg(figure)
        draw(figure.add_axes((0, 0, 1, 1)), q, width=width, depth=depth)
        canvas.draw()
    pixels: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())[..., :3].copy()
    return pixels
