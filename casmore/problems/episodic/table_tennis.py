"""Table tennis: a WAM arm that hangs above the end of the table returns a ball with a smash.

Paper, "Table Tennis". The ball comes with a speed that is a little different each time; the
further it is returned the better, but not beyond the edge of the table. Numbers are those of the
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

DT = 0.002  # seconds
HORIZON = 1000
START = np.array([0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 1.5])
GEAR = np.array([150.0, 125.0, 40.0, 60.0, 5.0, 5.0, 2.0])  # N m
REACH = 1.25  # m from the base's axis; the links' lengths up to the bat sum to 1.2 m
FAR_EDGE = -1.37  # x of the end of the table on the opponent's side

_BALL = np.array([-0.2, -0.8, 1.85])
_SLOWEST, _FASTEST = 2.49, 2.51  # of the ball towards the robot, m/s
_BALL_VELOCITY = (2.0, 0.5)  # sideways and upwards
_GOAL_HEIGHT = 0.77  # of the table's surface
_EFFORT = 1e-5  # cost of a squared torque, in units of the largest ones


@cache
def model() -> Any:
    """Return the compiled model: arm with bat, table, net, ball, floor."""
    spec = wam.new_spec(DT)
    wam.add_surroundings(spec, camera=(2.2, -4.6, 2.6), target=(0.5, 0, 1.2), fovy=36)
    base = spec.worldbody.add_body(name="base", pos=(2.1, 0, 2.0), quat=(0, 0, 1, 0))
    palm = wam.add_arm(spec, base, wam.HANGING, GEAR)
    bat = palm.add_body(name="bat", pos=(0, 0, 0.26))
    turned = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    for x, radius, half, color in (
        (0.0, 0.075, 0.005, (0.75, 0.1, 0.1, 1)),
        (-0.0026, 0.0749, 0.0025, (0.1, 0.1, 0.1, 1)),
    ):
        bat.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[radius, half, 0],
            pos=(x, 0, 0),
            quat=turned,
            mass=0.085,  # together a usual bat's
            rgba=color,
            contype=1,
            conaffinity=1,
        )
    bat.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=[0, 0, -0.26, 0, 0, -0.07],
        size=[0.012, 0, 0],
        mass=0.0,
        rgba=[0.5, 0.35, 0.2, 1],
        **wam.UNTOUCHABLE,
    )
    bat.add_site(name="bat")
    wam.add_ball(spec, solref=(0.1, 0.03))
    wam.add_box(spec, "table", (1.37, 0.7625, 0.01), (0, 0, 0.76), (0.1, 0.35, 0.55))
    wam.add_box(spec, "net", (0.01, 0.915, 0.07625), (0, 0, 0.846), (0.9, 0.9, 0.9))
    for x, y in ((-1.2, -0.6), (-1.2, 0.6), (1.2, -0.6), (1.2, 0.6)):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[0.025, 0.375, 0],
            pos=(x, y, 0.375),
            rgba=[0.4, 0.4, 0.42, 1],
            **wam.UNTOUCHABLE,
        )
    wam.add_contact_sensor(spec, "hit", "ball", "bat", body=True)
    wam.add_contact_sensor(spec, "on_table", "ball", "table")
    wam.add_contact_sensor(spec, "on_floor", "ball", "floor")
    return spec.compile()


class TableTennisBatch(EpisodeBatch):
    """Episodes of one stroke each."""

    start, gear, horizon, failure_reward = START, GEAR, HORIZON, -25.0

    def _place(self, generators: Sequence[np.random.Generator]) -> None:
        self.ball[:] = _BALL
        self.ball_velocity[:, 0] = [rng.uniform(_SLOWEST, _FASTEST) for rng in generators]
        self.ball_velocity[:, 1:] = _BALL_VELOCITY
        self.hit = np.zeros(self._count, dtype=bool)
        self.landed = self.hit.copy()
        self.nearest = np.full(self._count, np.inf)  # ball to bat
        self.nearest_to_goal = self.nearest.copy()  # ball to the far edge, seen from the side

    def _watch(self) -> None:
        ball = self.ball
        offset = ball - self._sites[:, 0]
        to_bat = np.sqrt((offset * offset).sum(axis=1))
        to_goal = np.hypot(ball[:, 0] - FAR_EDGE, ball[:, 2] - _GOAL_HEIGHT)
        np.minimum(self.nearest, to_bat, out=self.nearest)
        np.minimum(self.nearest_to_goal, to_goal, out=self.nearest_to_goal)
        hit, on_table, on_floor = (self._sensors > 0).T
        self.landed |= self.hit & (on_table | on_floor)
        self.hit |= hit

    def _ends(self) -> Mask:
        return self.landed | (~self.hit & self._passed())

    def _passed(self) -> Mask:
        """Whether the ball is beside the table for good, farther from the bat than it has been.

        Beyond the side of the table there is nothing that could bring the ball back, so the bat
        will neither hit it nor come nearer: the reward is decided.
        """
        farthest = REACH + self.nearest
        passed: Mask = (self.ball[:, 1] > farthest) & (self.ball_velocity[:, 1] > 0)
        return passed

    def _reward(self) -> Array:
        """Three stages: to hit the ball, to bring it near the far edge, to play it far."""
        near, effort = nearness(self.nearest), _EFFORT * self.effort
        x = self.ball[:, 0]
        missed = 0.2 * near
        in_the_air = 0.5 * near + nearness(self.nearest_to_goal) - effort
        off_the_table = 2 * near + 3 * nearness(np.abs(x - FAR_EDGE)) - effort
        returned = 5 * near - 10 * x - effort
        landed = np.where(self._succeeded(), returned, off_the_table)
        reward: Array = np.where(self.hit, np.where(self.landed, landed, in_the_air), missed)
        return reward

    def _succeeded(self) -> Mask:
        """Whether the ball has landed on the opponent's side of the table."""
        succeeded: Mask = self.landed & (self.ball[:, 0] < 0) & (self.ball[:, 2] > 0.7)
        return succeeded


class TableTennisEnv(ArmEnv):
    """Return a ball as far as possible; see `ArmEnv` for actions and observations.

    The reward comes in the end: when the ball first touches table or floor after a hit, or after
    two seconds. It grows with how near the bat has come to the ball, then with how near the ball
    has come to the far edge of the table, then, for a ball that is returned onto the table, with
    its length: about 18 at the edge. Squared torques cost 1e-5. An episode whose ball has passed
    out of the bat's reach ends early, since its reward is decided.
    """

    dt, horizon = DT, HORIZON
    _model = staticmethod(model)

    def _new_batch(self, count: int, threads: int) -> EpisodeBatch:
        return TableTennisBatch(self.model, count, threads)
