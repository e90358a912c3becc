"""The Barrett WAM arm with seven joints, built from its numbers for MuJoCo.

There are two models with slightly different numbers: one hangs above a tennis table, one stands
and throws. The numbers are those of the paper's authors (https://github.com/ALRhub/fancy_gym, 2022)
and of https://github.com/tu-rbo/barrett_model. Principal axes of inertia are taken to be those of
the links' frames. The links are drawn as capsules and do not collide; bat and ball do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

JOINTS = 7

_STRAIGHT = (1.0, 0.0, 0.0, 0.0)
_BACK = (np.sqrt(0.5), -np.sqrt(0.5), 0, 0)  # about x, by -90 degrees
_FORTH = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Link:
    """A link, moved by a hinge about the z axis of its own frame.

    Attributes
    ----------
    position, rotation
        Of its frame in that of the link before, in metres and as a quaternion.
    mass, center, inertia
        In kg, m, and kg m^2 about the axes of its frame.
    range
        Of the hinge, in rad.
    damping
        Of the hinge, in N m s.
    """

    position: Vector
    rotation: Vector
    mass: float
    center: Vector
    inertia: Vector
    range: tuple[float, float]
    damping: float


_INERTIA: list[Vector] = [
    (0.135, 0.113, 0.090),
    (0.0214, 0.0167, 0.0126),
    (0.0593, 0.0592, 0.0031),
    (0.0151, 0.0148, 0.0028),
    (5.6e-4, 4.6e-4, 2.3e-4),
    (5.6e-4, 4.6e-4, 2.3e-4),
    (2.1e-4, 1.1e-4, 1.1e-4),
]

HANGING = [
    Link((0, 0, 0.346), _STRAIGHT, 5.0, (-0.0044, -0.0007, -0.129), _INERTIA[0], (-2.6, 2.6), 1.98),
    Link((0, 0, 0), _BACK, 3.875, (-0.0024, -0.0154, 0.0311), _INERTIA[1], (-2.0, 2.0), 0.55),
    Link((0, 0, 0), _FORTH, 2.202, (0.0068, 0, 0.3925), _INERTIA[2], (-2.8, 2.8), 1.65),
    Link((0.045, 0, 0.55), _BACK, 0.500, (-0.040, -0.143, 0), _INERTIA[3], (-0.9, 3.1), 0.88),
    Link((-0.045, -0.3, 0), _FORTH, 1.054, (0, 0.0044, -0.0051), _INERTIA[4], (-4.8, 1.3), 0.55),
    Link((0, 0, 0), _BACK, 0.518, (-0.0001, -0.0247, -0.017), _INERTIA[5], (-1.6, 1.6), 0.11),
    Link((0, 0, 0), _FORTH, 0.083, (0, 0, 0.055), _INERTIA[6], (-2.2, 2.2), 0.11),
]

# The same arm with other frames: that of the upper arm is near the elbow, that of the wrist's first
# joint at the elbow. The centers of mass are where they are in the other model.
_TURNED = (np.sqrt(0.5), 0, 0, -np.sqrt(0.5))
_PITCH, _WRIST = (-1.985, 1.985), (-1.5707, 1.5707)
THROWING = [
    Link((0, 0, 0.16), _TURNED, 10.77, (-0.0044, -0.0007, 0.055), _INERTIA[0], (-2.6, 2.6), 0.07),
    Link((0, 0, 0.184), _BACK, 3.875, (-0.0024, -0.0154, 0.0311), _INERTIA[1], _PITCH, 0.07),
    Link((0, -0.505, 0), _FORTH, 1.802, (0.0068, 0, -0.1125), _INERTIA[2], (-2.8, 2.8), 0.07),
    Link((0.045, 0, 0.045), _BACK, 2.400, (-0.040, -0.143, 0), _INERTIA[3], (-0.9, 3.14159), 0.07),
    Link((-0.045, 0, 0), _FORTH, 0.124, (0, 0.0044, 0.2949), _INERTIA[4], (-4.55, 1.25), 0.07),
    Link((0, 0, 0.3), _BACK, 0.418, (-0.0001, -0.0247, -0.017), _INERTIA[5], _WRIST, 0.07),
    Link((0, -0.06, 0), _FORTH, 0.069, (0, 0, -0.005), _INERTIA[6], (-2.7, 2.7), 0.07),
]


def new_spec(dt: float) -> Any:
    """Return an empty model, a ``mujoco.MjSpec`` with angles in rad and this time step."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = dt
    # a simulation that fails is to be seen as such
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return spec


def add_arm(
    spec: Any, base: Any, links: Sequence[Link], gear: NDArray[np.float64], *, friction: float = 0.0
) -> Any:
    """Add an arm and its motors to a model.

    Parameters
    ----------
    spec : mujoco.MjSpec
        The model.
    base : mujoco.MjsBody
        What the arm is mounted on.
    links
        From the shoulder to the palm.
    gear
        Largest torque of each motor in N m; its control is from -1 to 1.
    friction
        Torque of dry friction of each joint, in N m.

    Returns
    -------
    mujoco.MjsBody
        The palm.
    """
    body = base
    for number, link in enumerate(links, start=1):
        _draw_link(body, link)
        body = body.add_body(
            name=f"link{number}",
            pos=link.position,
            quat=link.rotation,
            mass=link.mass,
            ipos=link.center,
            inertia=link.inertia,
            explicitinertial=True,
        )
        body.add_joint(
            name=f"joint{number}",
            axis=(0, 0, 1),
            range=link.range,
            limited=True,
            damping=[link.damping, 0, 0],
            frictionloss=friction,
        )
        spec.add_actuator(
            name=f"motor{number}",
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=f"joint{number}",
            gear=[gear[number - 1], 0, 0, 0, 0, 0],
            ctrlrange=(-1, 1),
            ctrllimited=True,
        )
    return body


def _draw_link(body: Any, following: Link) -> None:
    """Draw a link as a capsule from its own frame to that of the following one."""
    if np.linalg.norm(following.position) > 0.05:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0, 0, 0, *following.position],
            size=[0.045, 0, 0],
            rgba=[0.75, 0.76, 0.78, 1],
            **UNTOUCHABLE,
        )


# settings of a geom that nothing collides with
UNTOUCHABLE = {"contype": 0, "conaffinity": 0, "group": 1}


# settings of a ball's contacts
BALL_CONTACT = {
    "condim": 4,
    "friction": [0.1, 0.1, 0.1],
    "solimp": [0.9, 0.95, 0.001, 0.5, 2],
}


def add_ball(spec: Any, *, solref: tuple[float, float]) -> Any:
    """Add a table tennis ball without spin: its three joints are its position in the world.

    Returns
    -------
    mujoco.MjsBody
        The ball, of radius 0.025 m and mass 0.1 kg.
    """
    ball = spec.worldbody.add_body(name="ball")
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        ball.add_joint(name=f"ball_{name}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    ball.add_geom(
        name="ball",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[0.025, 0, 0],
        mass=0.1,
        rgba=[0.95, 0.45, 0.05, 1],
        solref=solref,
        priority=1,
        **BALL_CONTACT,
        contype=1,
        conaffinity=1,
    )
    return ball


def add_box(
    spec: Any, name: str, size: Vector, position: Vector, color: Vector, **settings: Any
) -> None:
    """Add a fixed box of these half-sizes, which balls and bats collide with."""
    spec.worldbody.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=size,
        pos=position,
        rgba=[*color, 1],
        contype=0,
        conaffinity=1,
        **settings,
    )


def add_surroundings(spec: Any, *, camera: Vector, target: Vector, fovy: float) -> None:
    """Add floor, sky, light, and a camera called ``view`` that looks at a point."""
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[1, 1, 1],
        rgb2=[0.85, 0.9, 0.95],
        width=64,
        height=384,
    )
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[4, 4, 0.1],
        rgba=[0.87, 0.87, 0.85, 1],
        contype=0,
        conaffinity=1,
    )
    spec.visual.headlight.ambient = (0.5, 0.5, 0.5)
    spec.visual.headlight.diffuse = (0.3, 0.3, 0.3)
    spec.visual.quality.shadowsize = 4096
    spec.visual.map.shadowclip = 3.0
    spec.stat.extent = 4.0  # m: what the shadows' and the camera's ranges are multiples of
    spec.stat.center = (0, 0, 1)
    spec.worldbody.add_light(
        pos=(0, 0, 5),
        dir=(0.2, 0.2, -1),
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        diffuse=(0.35, 0.35, 0.35),
        castshadow=True,
    )
    backward = np.subtract(camera, target)
    right = np.cross((0, 0, 1), backward)
    up = np.cross(backward, right)
    spec.worldbody.add_camera(name="view", pos=camera, xyaxes=[*right, *up], fovy=fovy)


def add_contact_sensor(spec: Any, name: str, geom: str, other: str, *, body: bool = False) -> None:
    """Add a sensor that is positive while a geom touches another one, or a body."""
    kinds = mujoco.mjtObj
    spec.add_sensor(
        name=name,
        type=mujoco.mjtSensor.mjSENS_CONTACT,
        objtype=kinds.mjOBJ_GEOM,
        objname=geom,
        reftype=kinds.mjOBJ_BODY if body else kinds.mjOBJ_GEOM,
        refname=other,
        intprm=[1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND), 0, 1],
    )
