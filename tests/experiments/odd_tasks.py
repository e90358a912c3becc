"""Tasks that are not the paper's, for studies that name them."""

from typing import Any

import gymnasium

from casmore.problems.episodic import MujocoJointSpace, PDController, ProMP, Task


def _reacher() -> gymnasium.Env[Any, Any]:
    return MujocoJointSpace(gymnasium.make("Reacher-v5"), ["joint0", "joint1"])


REACHER = Task(
    _reacher, ProMP(joints=2, bases=2, duration=0.8), PDController(1.0, 0.1), (0.0,) * 4, 1.0
)
