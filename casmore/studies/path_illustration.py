"""The paper's illustration of the evolution path: short, uncorrelated and long paths.

The top row shows steps of length 1 at chosen angles, and the length for right angles. The bottom
row shows six successive steps of the mean from a run of CAS-MORE, scaled by their weights in the
path.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.plotting import style
from casmore.problems.analytic import Rosenbrock

Array = NDArray[np.float64]

_STEPS = 6
_SEED = 1
_TITLES = ("short: entropy falls", "uncorrelated", "long: entropy grows")
# Directions of the six steps in degrees: opposite, at right angles, similar
_SCHEMATIC = (
    (60, 185, 300, 20, 215, 100),
    (30, 135, 50, 150, 240, 160),
    (40, 20, 55, 25, 60, 70),
)


@dataclass(frozen=True)
class Window:
    """The last steps up to one iteration of a run.

    Attributes
    ----------
    parts
        Contribution of each step to the path, shape (6, 2), the oldest first.
    rest
        Contribution of all earlier steps to the path, shape (2,).
    desired_length
        Desired length of the path.
    """

    parts: Array
    rest: Array
    desired_length: float

    @property
    def path(self) -> Array:
        """The evolution path, shape (2,)."""
        path: Array = self.rest + self.parts.sum(axis=0)
        return path

    @property
    def ratio(self) -> float:
        """Length of the path divided by its desired length."""
        return float(np.linalg.norm(self.path)) / self.desired_length

    @property
    def correlation(self) -> float:
        """Mean absolute cosine of the angles between successive steps."""
        directions = self.parts / np.linalg.norm(self.parts, axis=1, keepdims=True)
        return float(np.abs((directions[1:] * directions[:-1]).sum(axis=1)).mean())


def windows(seed: int = _SEED) -> tuple[Window, Window, Window]:
    """Return a short, an uncorrelated and a long path of one run on the 2-D Rosenbrock function."""
    f = Rosenbrock(2)
    solver = CasMore(np.array([-3.0, 3.0]), 1.0, seed=seed, target=1e-10)
    keep = 1 - solver.parameters.path_smoothing
    paths: list[Array] = []
    found: list[Window] = []
    while not solver.stop():
        X = solver.ask()
        solver.tell(X, f.batch(X))
        paths.append(solver.path.path)
        if len(paths) > 3 * _STEPS:  # a path of full length
            # p_{t+1} = keep p_t + step, which gives the contribution of each of the last steps
            last = np.array(paths[-_STEPS - 1 :])
            parts = (last[1:] - keep * last[:-1]) * keep ** np.arange(_STEPS)[::-1, np.newaxis]
            found.append(Window(parts, keep**_STEPS * last[0], solver.path.desired_length))
    ratios = np.array([window.ratio for window in found])
    # uncorrelated: of the desired length, with steps as close to right angles as possible
    correlated = np.array([window.correlation for window in found]) + 5 * np.abs(ratios - 1)
    chosen = (ratios.argmin(), correlated.argmin(), ratios.argmax())
    short, right, long = (found[i] for i in chosen)
    return short, right, long


def evolution_path(results: Path) -> Figure:
    """Return the figure; it needs no results, and its run takes a second."""
    with style.paper():
        figure = Figure(figsize=(style.PAGE * 0.75, 4.1), layout="constrained")
        axes = figure.subplots(2, 3)
        for ax, title, degrees in zip(axes[0], _TITLES, _SCHEMATIC, strict=True):
            angles = np.radians(degrees)
            steps = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            _draw(ax, steps, np.zeros(2), np.sqrt(len(steps)))
            ax.set_title(title, loc="left")
        for ax, window in zip(axes[1], windows(), strict=True):
            _draw(ax, window.parts, window.rest, window.desired_length)
            length = window.ratio * window.desired_length
            ax.set_title(f"length {length:.2f}, desired {window.desired_length:.2f}", loc="left")
        axes[0, 0].set_ylabel("schematic")
        axes[1, 0].set_ylabel("from a run")
        _legend(figure)
    return figure


def _draw(ax: Axes, steps: Array, start: Array, desired: float) -> None:
    points = np.vstack([start, start + np.cumsum(steps, axis=0)])
    ax.add_patch(
        Circle((0, 0), desired, fill=False, linestyle="--", edgecolor=style.MUTED, linewidth=0.8)
    )
    if start.any():
        _arrow(ax, np.zeros(2), start, style.MUTED, 1.0)
    for a, b in pairwise(points):
        _arrow(ax, a, b, "black", 1.0)
    _arrow(ax, np.zeros(2), points[-1], style.line(0)["color"], 2.0)
    ax.plot(0, 0, "o", color="black", markersize=3)
    low = np.minimum(points.min(axis=0), -desired)
    high = np.maximum(points.max(axis=0), desired)
    middle, half = (low + high) / 2, 0.55 * float((high - low).max()) + 0.1
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)


def _arrow(ax: Axes, a: Array, b: Array, color: str, width: float) -> None:
    ax.add_patch(
        FancyArrowPatch(
            (float(a[0]), float(a[1])),
            (float(b[0]), float(b[1])),
            arrowstyle="-|>",
            mutation_scale=4 + 2 * width,
            shrinkA=0,
            shrinkB=0,
            color=color,
            linewidth=width,
        )
    )


def _legend(figure: Figure) -> None:
    looks = {
        "step of the mean": ("black", "-", 1.0),
        "evolution path": (style.line(0)["color"], "-", 2.0),
        "earlier steps": (style.MUTED, "-", 1.0),
        "desired length": (style.MUTED, "--", 0.8),
    }
    ax = figure.axes[0]
    handles = [
        ax.plot([], [], color=color, linestyle=line, linewidth=width, label=label)[0]
        for label, (color, line, width) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
