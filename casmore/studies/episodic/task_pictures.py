"""Pictures of solved robot tasks: an illustration of all, and a film strip of each.

They are rendered from the movement in ``NAME_solution.csv``, the result of a study.
"""

from collections.abc import Callable
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
_MOVED = 40  # summed difference of colours that indicates motion


def tasks(results: Path) -> Figure:
    """Return the paper's illustration of its tasks: one picture of a movement for each."""
    shown = {name: _frames(results, name, _STROBE) for name in SOLVED if _is_solved(results, name)}
    if not shown:
        read_solution(results / f"{next(iter(SOLVED))}_solution.csv")  # says how it is made
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 2.3), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(shown)))
        for ax, (name, frames) in zip(axes, shown.items(), strict=True):
            _show(ax, stroboscopic(frames))
            ax.set_title(SOLVED[name][1])
    return figure


def film_strip(results: Path, name: str, pictures: int = 6) -> Figure:
    """Return pictures of a movement side by side, from the beginning to the end."""
    frames = _frames(results, name, pictures)
    height, width = frames[0].shape[:2]
    with style.paper():
        size = (style.PAGE, style.PAGE / pictures * height / width)
        figure = Figure(figsize=size)
        grid = figure.subplots(1, pictures, gridspec_kw={"wspace": 0.03})
        figure.subplots_adjust(0, 0, 1, 1)
        for ax, frame in zip(grid, frames, strict=True):
            _show(ax, frame)
    return figure


def stroboscopic(frames: list[Picture]) -> Picture:
    """Superimpose the moving parts of pictures, the later ones on top."""
    background = np.median(frames, axis=0)
    composed: Picture = background.astype(np.uint8)
    for frame in frames:
        moved = np.abs(frame - background).sum(axis=2) > _MOVED
        composed[moved] = frame[moved]
    return composed


def _frames(results: Path, name: str, count: int) -> list[Picture]:
    """Return this number of pictures of the first successful episode, at equal time steps."""
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
    every = max(int(episodes.lengths[chosen]) // (count - 1), 1)
    try:
        frames = objective.episode(weights, _SEEDS[chosen], every=every).frames
    except RuntimeError as error:  # nothing to render with
        raise ReportError(str(error)) from error
    env.close()
    return [*frames[: count - 1], frames[-1]]


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
