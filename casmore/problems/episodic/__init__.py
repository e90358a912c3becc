"""Robot skills: movement primitives, Gymnasium environments, and both as a function to minimize.

Importing this registers ``casmore/HoleReaching-v0``, ``casmore/HoleReaching-Noisy-v0``,
``casmore/HoleReaching-Penalty-v0``, ``casmore/TableTennis-v0`` and ``casmore/BeerPong-v0`` for
``gymnasium.make``. All but `ProMP`, the controllers and `TASKS` need ``casmore[robot]``.
"""

import importlib
from typing import TYPE_CHECKING, Any

from casmore.problems.episodic.controllers import Controller, PDController, VelocityController
from casmore.problems.episodic.episodes import Episodes
from casmore.problems.episodic.promp import Plan, ProMP
from casmore.problems.episodic.tasks import TASKS, Task

if TYPE_CHECKING:
    from casmore.problems.episodic.joint_space import BatchRollout, JointSpace, MujocoJointSpace
    from casmore.problems.episodic.objective import EpisodicObjective

__all__ = [
    "TASKS",
    "BatchRollout",
    "Controller",
    "Episodes",
    "EpisodicObjective",
    "JointSpace",
    "MujocoJointSpace",
    "PDController",
    "Plan",
    "ProMP",
    "Task",
    "VelocityController",
]

_NEED_GYMNASIUM = {
    "BatchRollout": "joint_space",
    "EpisodicObjective": "objective",
    "JointSpace": "joint_space",
    "MujocoJointSpace": "joint_space",
}

try:
    from casmore.problems.episodic.registration import register
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "gymnasium":
        raise
else:
    register()


def __getattr__(name: str) -> Any:
    """Import what needs Gymnasium when it is asked for; say so if that is missing."""
    if name not in _NEED_GYMNASIUM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_NEED_GYMNASIUM[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "gymnasium":
            raise
        raise ImportError(
            f"{__name__}.{name} needs Gymnasium: pip install 'casmore[robot]'"
        ) from error
    return getattr(module, name)
