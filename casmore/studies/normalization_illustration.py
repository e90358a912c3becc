"""The paper's illustration of the robust normalization: a histogram for each level of recursion."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.algorithms.defaults import CLIP, KURTOSIS_THRESHOLD
from casmore.algorithms.targets import robust
from casmore.plotting import style

Array = NDArray[np.float64]

_POINTS, _NOISY, _NOISE = 100, 20, 10.0
_SEED = 2  # five levels
_KEPT, _OUTLIER = "black", str(style.line(1)["color"])


@dataclass(frozen=True)
class Level:
    """One level of the recursion.

    Attributes
    ----------
    values
        The standardized input values of the level.
    inside
        Whether each of them lies in the open interval (-clip, clip).
    kurtosis
        Excess kurtosis of the inner values.
    """

    values: Array
    inside: NDArray[np.bool_]
    kurtosis: float


def data(seed: int = _SEED) -> Array:
    """Return 100 values ``y = -x'x / 2``, x from a standard normal in 2-D, 20 of them noisy."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((_POINTS, 2))
    y: Array = -0.5 * (X**2).sum(axis=1)
    y[rng.choice(_POINTS, _NOISY, replace=False)] += rng.normal(0, _NOISE, _NOISY)
    return y


def levels(y: Array) -> list[Level]:
    """Return the levels of the recursion of the paper's Algorithm 1."""
    y = (y - y.mean()) / y.std()
    inside = np.abs(y) < CLIP
    kept = y[inside]
    centered = kept - kept.mean()
    kurtosis = float((centered**4).mean() / (centered**2).mean() ** 2 - 3)
    level = Level(y, inside, kurtosis)
    if kurtosis > KURTOSIS_THRESHOLD and not inside.all():
        return [level, *levels(kept)]
    return [level]


def robust_normalization(results: Path) -> Figure:
    """Return the figure, whose data are generated here."""
    y = data()
    found = levels(y)
    with style.paper():
        columns = 3
        rows = math.ceil((len(found) + 1) / columns)
        figure = Figure(figsize=(style.PAGE, 1.5 * rows + 0.3), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        style.hide_unused(axes, len(found) + 1)
        for i, (ax, level) in enumerate(zip(axes.flat, found, strict=False)):
            _histogram(ax, level.values, level.inside)
            ax.axvspan(-CLIP, CLIP, color="0.93", zorder=0)
            ax.set_title(f"level {i + 1}: excess kurtosis {level.kurtosis:.2f}", loc="left")
        _output(axes.flat[len(found)], y)
        for ax in axes[:, 0]:
            ax.set_ylabel("points")
        figure.supxlabel("standardized value", fontsize=8)
    return figure


def _histogram(ax: Axes, values: Array, inside: NDArray[np.bool_]) -> None:
    edge = np.ceil(max(np.abs(values).max(), CLIP) + 0.25)
    bins = np.linspace(-edge, edge, 31)
    ax.hist(
        [values[inside], values[~inside]],
        bins=list(bins),
        stacked=True,
        color=[_KEPT, _OUTLIER],
        linewidth=0,
    )
    ax.set_xlim(-edge, edge)
    ax.grid(visible=False, axis="x")


def _output(ax: Axes, y: Array) -> None:
    normalized = robust(y, CLIP, KURTOSIS_THRESHOLD)
    lowest, highest = normalized.min(), normalized.max()
    # values on a bound have been clipped to it, except for the one value that set the bound
    clipped = np.zeros(len(y), dtype=bool)
    for bound, end in ((lowest, np.argmax), (highest, np.argmin)):
        on = np.flatnonzero(np.isclose(normalized, bound))
        clipped[on] = True
        clipped[on[end(y[on])]] = False
    _histogram(ax, normalized, ~clipped)
    ax.set_title(f"output: {clipped.sum()} points clipped", loc="left")
