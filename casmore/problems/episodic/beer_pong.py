"""Beer pong: a WAM arm throws a ball that has to bounce on the table and land in a cup.

Paper, "Beerpong". The release is noisy, so that no throw succeeds always. Numbers are those of the
authors' environment (https://github.com/ALRhub/fancy_gym, February 2022).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from casmore.problems.episodic import wam
from casmore.problems.episodic.arm_env import ArmEnv, EpisodeBatch, nearness

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

DT = 0.005  # seconds
HORIZON = 600
RELEASE = 175  # the step after which the ball is free
START = np.array([0.0, 1.35, 0.0, 1.18, 0.0, -0.786, -1.59])
GEAR = np.array([150.0, 200.0, 50.0, 60.0, 5.0, 5.0, 2.0])  # N m
CUP = np.array([0.3, -1.6335])  # its axis
RIM = 0.946  # height of the cup

_NOISE = 0.02  # standard deviation of each velocity at the release, m/s
_OUT_OF_THE_WAY = (0.0, 0.0, 20.0)  # and after the 4 m that it falls until the release, too
_TABLE_TOP = 0.8025
_INNER, _OUTER = 0.071, 0.081  # radii of the cup
_SECTORS = 12
_TOP = np.array([*CUP, 0.95])
_FINAL = np.array([*CUP, 0.865])
# The ball bounces off table, wall and floor, and comes to rest in the cup, whose damping is larger.
# MuJoCo takes the settings of the geom with the larger priority; the ball's is 1, the others' 0.
_DAMPED = {**wam.BALL_CONTACT, "solref": (-10000.0, -100.0), "priority": 2}


@cache
def model() -> Any:
    """Return the compiled model: arm, table, wall, cup, ball, floor."""
    spec = wam.new_spec(DT)
    wam.add_surroundings(spec, camera=(3.0, 0.4, 2.1), target=(0.1, -1.15, 1.0), fovy=40)
    base = spec.worldbody.add_body(name="base", pos=(0, 0, 0.6))
    base.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.09, 0.3, 0],
        pos=(0, 0, -0.3),
        rgba=[0.4, 0.4, 0.42, 1],
        **wam.UNTOUCHABLE,
    )
    palm = wam.add_arm(spec, base, wam.THROWING, GEAR, friction=0.001)
    palm.add_site(name="palm", pos=(0, 0, 0.035))
    palm.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.035, 0.008, 0],
        rgba=[0.4, 0.4, 0.42, 1],
        mass=0.0,
        **wam.UNTOUCHABLE,
    )
    wam.add_ball(spec, solref=(-10000.0, -10.0))
    wam.add_box(spec, "table", (0.4, 0.6, 0.4), (0, -1.85, 0.4025), (0.55, 0.4, 0.28))
    wam.add_box(spec, "wall", (0.4, 0.04, 1.1), (0, -2.45, 1.1), (0.8, 0.8, 0.82))
    _add_cup(spec)
    wam.add_contact_sensor(spec, "on_table", "ball", "table")
    wam.add_contact_sensor(spec, "in_cup", "ball", "cup_bottom")
    spec.add_sensor(
        name="palm_velocity",
        type=mujoco.mjtSensor.mjSENS_FRAMELINVEL,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname="palm",
    )
    return spec.compile()


def _add_cup(spec: Any) -> None:
    """Add a cup: a ring of boxes, and a disc within for the ball to land on."""
    middle, half_height = (_INNER + _OUTER) / 2, (RIM - _TABLE_TOP) / 2
    for i in range(_SECTORS):
        angle = 2 * np.pi * i / _SECTORS
        wam.add_box(
            spec,
            f"cup{i}",
            ((_OUTER - _INNER) / 2, middle * np.tan(np.pi / _SECTORS), half_height),
            (
                CUP[0] + middle * np.cos(angle),
                CUP[1] + middle * np.sin(angle),
                _TABLE_TOP + half_height,
            ),
            (0.75, 0.12, 0.12),
            quat=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)),
            **_DAMPED,
        )
    spec.worldbody.add_geom(
        name="cup_bottom",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.07, 0.01, 0],
        pos=(*CUP, 0.855),
        rgba=[0.9, 0.85, 0.8, 1],
        contype=0,
        conaffinity=1,
        **_DAMPED,
    )


class BeerPongBatch(EpisodeBatch):
    """Episodes of one throw each."""

    start, gear, horizon, failure_reward = START, GEAR, HORIZON, -30.0

    @property
    def ball(self) -> Array:
        """Positions of the ball, shape (k, 3): until the release, that of the palm."""
        return self._palm if self.steps < RELEASE else super().ball

    @property
    def ball_velocity(self) -> Array:
        """Velocities of the ball, shape (k, 3): until the release, that of the palm."""
        return self._palm_velocity if self.steps < RELEASE else super().ball_velocity

    @property
    def _palm(self) -> Array:
        position: Array = self._sites[:, 0]
        return position

    @property
    def _palm_velocity(self) -> Array:
        velocity: Array = self._sensors[:, 2:]
        return velocity

    def _place(self, generators: Sequence[np.random.Generator]) -> None:
        self._noise = np.array([rng.normal(0, _NOISE, 3) for rng in generators])
        self.bounced = np.zeros(self._count, dtype=bool)
        self.nearest = np.full(self._count, np.inf)  # ball to the top of the cup
        # The ball weighs on nothing while it is held. Until then its simulation is out of the
        # way: to set its state in each step would cost a second pass over the model's kinematics.
        super().ball[:] = _OUT_OF_THE_WAY

    def _watch(self) -> None:
        if self.steps == RELEASE:
            self.ball[:] = self._palm
            self.ball_velocity[:] = self._palm_velocity + self._noise
        elif self.steps > RELEASE:
            self.bounced |= self._sensors[:, 0] > 0
        to_top = np.sqrt(((self.ball - _TOP) ** 2).sum(axis=1))
        np.minimum(self.nearest, to_top, out=self.nearest)

    def _ends(self) -> Mask:
        return np.zeros(self._count, dtype=bool)

    @property
    def _in_cup(self) -> Mask:
        touches: Mask = self._sensors[:, 1] > 0
        return touches

    def _reward(self) -> Array:
        top = nearness(self.nearest)
        final = nearness(np.sqrt(((self.ball - _FINAL) ** 2).sum(axis=1)))
        missed = np.where(
            self.bounced,
            top + 0.5 * final - 5e-3 * self.effort,
            0.2 * top + 0.1 * final - 1e-3 * self.effort,
        )
        in_cup = np.where(
            self.bounced,
            2 * final + top + 3 - 5e-2 * self.effort,
            2 * final + top + 1 - 1e-2 * self.effort,
        )
        reward: Array = np.where(self._in_cup, in_cup, missed)
        return reward

    def _succeeded(self) -> Mask:
        """Whether the ball is in the cup after a bounce on the table."""
        return self._in_cup & self.bounced


class BeerPongEnv(ArmEnv):
    """Throw a ball into a cup after a bounce; see `ArmEnv` for actions and observations.

    The ball leaves the hand after 0.875 s, with noise of 0.02 m/s in each direction. The reward
    comes after three seconds. It grows with how near the ball has come to the top of the cup, and
    with how near it is to its bottom in the end; more if it has bounced on the table, and most if
    it is in the cup. Squared torques are paid for.
    """

    dt, horizon = DT, HORIZON
    _model = staticmethod(model)

    def _new_batch(self, count: int, threads: int) -> EpisodeBatch:
        return BeerPongBatch(self.model, count, threads)
