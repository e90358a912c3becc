"""Pictures of solved robot tasks: an illustration of all, and a film strip of each.

They are rendered from the movement in ``NAME_solution.csv``, the result of a study.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.plotting import style
from casmore.problems.episodic.tasks import TASKS
from casmore.reports.report_error import ReportError
from casmore.studies.episodic.task_tables import read_solution

Picture = NDArray[np.uint8]

# for each study the task, and the title of its picture
SOLVED = {
    "hole_reaching_noisy": ("casmore/HoleReaching-Noisy-v0", "hole reaching"),
    "table_tennis": ("casmore/TableTennis-v0", "table tennis"),
    "beer_pong": ("casmore/BeerPong-v0", "beer pong"),
}
_SEEDS = range(50)
_STROBE = 9  # number of superimposed pictures
_FINER = 2  # pictures that are taken for each that is shown, at about equal time steps
_FADED = 0.45  # opacity of the earlier ones of a film strip
_MOVED = 40  # summed difference of colors that indicates motion


def tasks(results: Path) -> Figure:
    """Return the paper's illustration of its tasks: one picture of a movement for each."""
    shown = {
        name: _movement(results, name, _STROBE) for name in SOLVED if _is_solved(results, name)
    }
    if not shown:
        read_solution(results / f"{next(iter(SOLVED))}_solution.csv")  # says how it is made
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.3), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(shown)))
        for ax, (name, (frames, background)) in zip(axes, shown.items(), strict=True):
            _show(ax, stroboscopic(frames, background))
            ax.set_title(SOLVED[name][1])
    return figure


def film_strip(results: Path, name: str, pictures: int = 3) -> Figure:
    """Return pictures of a movement side by side; what came between two of them is faded."""
    frames, behind = _movement(results, name, pictures * _STROBE)
    height, width = frames[0].shape[:2]
    with style.paper():
        size = (style.PAGE, style.PAGE / pictures * height / width)
        figure = Figure(figsize=size)
        grid = figure.subplots(1, pictures, gridspec_kw={"wspace": 0.03})
        figure.subplots_adjust(0, 0, 1, 1)
        for i, ax in enumerate(grid):
            part = frames[i * _STROBE : (i + 1) * _STROBE]
            _show(ax, stroboscopic(part, behind, faded=_FADED))
    return figure


def stroboscopic(frames: list[Picture], background: Picture, faded: float = 1.0) -> Picture:
    """Superimpose what moves in front of a background, the later pictures on top.

    ``faded`` is the opacity of all pictures but the last.
    """
    composed = background.astype(float)
    for i, frame in enumerate(frames):
        moved = np.abs(frame.astype(float) - background).sum(axis=2) > _MOVED
        opacity = faded if i < len(frames) - 1 else 1.0
        composed[moved] += opacity * (frame[moved] - composed[moved])
    return composed.round().astype(np.uint8)


def _movement(results: Path, name: str, count: int) -> tuple[list[Picture], Picture]:
    """Return pictures of the first successful episode, equally spaced, and its background."""
    weights = read_solution(results / f"{name}_solution.csv")
    try:
        import gymnasium

        from casmore.problems.episodic.objective import EpisodicObjective
    except ModuleNotFoundError as error:
        raise ReportError(
            f"pictures of tasks need {error.name}: pip install 'casmore[robot]'"
        ) from error
    task = TASKS[SOLVED[name][0]]
    env: Any = gymnasium.make(str(task.env), render_mode="rgb_array")
    objective = EpisodicObjective(env, task.promp, task.controller)
    episodes = objective.run(np.tile(weights, (len(_SEEDS), 1)), _SEEDS)
    chosen = int(episodes.success.argmax())
    every = max(int(episodes.lengths[chosen]) // (_FINER * count), 1)
    try:
        frames = objective.episode(weights, _SEEDS[chosen], every=every).frames
        behind = background(env.unwrapped, frames)
    except RuntimeError as error:  # nothing to render with
        raise ReportError(str(error)) from error
    env.close()
    picked = np.linspace(0, len(frames) - 1, count).round().astype(int)
    return [frames[i] for i in picked], behind


def background(env: Any, frames: Sequence[Picture]) -> Picture:
    """Return a picture without what moves.

    In a MuJoCo scene, moving bodies are hidden. Elsewhere it is the median of the frames: enough
    for thin lines.
    """
    if not hasattr(env, "model"):
        median: Picture = np.median(frames, axis=0).astype(np.uint8)
        return median
    model = env.model
    opacity, moves = model.geom_rgba[:, 3].copy(), model.body_weldid[model.geom_bodyid] > 0
    model.geom_rgba[moves, 3] = 0
    picture: Picture = env.render()
    model.geom_rgba[:, 3] = opacity
    return picture


def _is_solved(results: Path, name: str) -> bool:
    return (results / f"{name}_solution.csv").is_file()


def _show(ax: Axes, picture: Picture) -> None:
    ax.imshow(picture)
    ax.set_axis_off()


# film strips, and the studies whose solutions they show
SHOWN = {
    "film_hole_reaching": "hole_reaching_noisy",
    "film_table_tennis": "table_tennis",
    "film_beer_pong": "beer_pong",
}
TASK_PICTURES: dict[str, Callable[[Path], Figure]] = {
    "tasks": tasks,
    **{film: partial(film_strip, name=study) for film, study in SHOWN.items()},
}
