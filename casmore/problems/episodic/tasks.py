"""The paper's episodic tasks: environment, movement primitive, controller, and initial mean.

Importing this needs NumPy alone; running a task needs Gymnasium, and for the WAM arm MuJoCo.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from casmore.problems.episodic.controllers import Controller, PDController, VelocityController
from casmore.problems.episodic.promp import ProMP

if TYPE_CHECKING:
    import gymnasium

    from casmore.problems.episodic.objective import EpisodicObjective


@dataclass(frozen=True)
class Task:
    """An environment with a movement primitive, a controller, and where a search starts.

    ``casmore.problems.episodic.TASKS`` holds those of the paper, by the id of the environment.

    Attributes
    ----------
    env
        The environment's id, or a function that makes one.
    promp, controller
        Turn weights into a trajectory of the joints, and joint states into an action.
    mean
        Initial mean of the search distribution, n weights; for the paper's tasks chosen here, since
        the paper does not give it.
    sigma0
        Initial standard deviation, likewise.
    """

    env: str | Callable[[], gymnasium.Env[Any, Any]]
    promp: ProMP
    controller: Controller
    mean: tuple[float, ...]
    sigma0: float

    @property
    def dimension(self) -> int:
        """Number of weights."""
        return self.promp.dimension

    def objective(
        self, *, seed: int | np.random.SeedSequence | None = None, threads: int = 1
    ) -> EpisodicObjective:
        """Return the task as a function to be minimized.

        Raises
        ------
        ImportError
            If Gymnasium or MuJoCo is missing; the message says what to install.
        """
        from casmore.problems.episodic import EpisodicObjective

        env = self.env if isinstance(self.env, str) else self.env()
        return EpisodicObjective(env, self.promp, self.controller, seed=seed, threads=threads)


# The arm bent, its last link vertical, the end-effector 0.4 m above the hole: from an upright arm
# some runs of all solvers stay out of the hole.
_BENT = np.array([1.61, -0.45, -0.92, -1.08, -0.73]) - [np.pi / 2, 0, 0, 0, 0]
_ABOVE_HOLE = tuple(float(w) for w in np.outer(_BENT / 0.1, [0.5, 1.0, 1.0]).ravel())

_HOLE_PROMP = ProMP(joints=5, bases=3, duration=2.0, scale=0.1)
_HOLE_CONTROLLER = PDController(100.0 / 1000, 10.0 / 1000)  # of the largest acceleration
_BY_VELOCITY = VelocityController(1 / (2 * np.pi))  # of the largest velocity

# gains in units of the motors' largest torques, of which an action of 1 asks for ten
_TENNIS_CONTROLLER = PDController(
    np.array([1, 4, 2, 4, 1, 4, 1]) / 2 / 10, np.array([0.1, 0.4, 0.2, 0.4, 0.1, 0.4, 0.1]) / 2 / 10
)
_PONG_CONTROLLER = PDController(
    np.array([1.5, 5, 2.55, 3, 2, 2, 1.25]) / 10,
    np.array([0.02333, 0.1, 0.0625, 0.08, 0.03, 0.03, 0.0125]) / 10,
)

# Found among 4000 random movements: a throw that bounces on the table, with 12 % in the cup.
_THROW = (-7.0, -3.0, -9.0, -6.0, -1.0, -9.0, 1.0, -2.0, 1.0, -1.0, 6.0, 4.0, -7.0, 3.0)

TASKS = {
    str(task.env): task
    for task in (
        Task("casmore/HoleReaching-v0", _HOLE_PROMP, _HOLE_CONTROLLER, _ABOVE_HOLE, 1.0),
        Task("casmore/HoleReaching-Noisy-v0", _HOLE_PROMP, _HOLE_CONTROLLER, _ABOVE_HOLE, 1.0),
        Task(
            "casmore/HoleReaching-Penalty-v0",
            _HOLE_PROMP,
            _BY_VELOCITY,
            (0.0,) * 15,
            1.0,
        ),
        Task(
            "casmore/TableTennis-v0",
            ProMP(joints=7, bases=2, duration=1.0, scale=0.1, offset=-0.05, bandwidth=3.5),
            _TENNIS_CONTROLLER,
            (0.0,) * 14,
            2.0,
        ),
        Task(
            "casmore/BeerPong-v0",
            ProMP(joints=7, bases=2, duration=1.0, scale=0.1),
            _PONG_CONTROLLER,
            _THROW,
            1.0,
        ),
    )
}


def find(name: str) -> Task:
    """Return a task of the paper, or ``module:attribute`` of another one.

    Raises
    ------
    ValueError
        If there is no such task; the message lists the names and suggests the nearest.
    """
    if name in TASKS:
        return TASKS[name]
    module, _, attribute = name.partition(":")
    if module and attribute:
        found = getattr(importlib.import_module(module), attribute, None)
        if isinstance(found, Task):
            return found
        raise ValueError(f"{attribute!r} of the module {module!r} is no casmore Task")
    near = difflib.get_close_matches(name, TASKS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"unknown task {name!r}{hint} (known: {', '.join(TASKS)}; or module:attribute of a Task)"
    )
