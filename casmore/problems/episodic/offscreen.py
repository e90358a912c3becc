"""Pictures from MuJoCo, with and without a display."""

import os
import sys
from typing import Any

import mujoco
from mujoco.rendering.classic import gl_context


def renderer(model: Any, *, height: int, width: int) -> Any:
    """Return a ``mujoco.Renderer``, which uses EGL where there is no display.

    MuJoCo itself chooses when it is imported, by the environment variable ``MUJOCO_GL``, and takes
    a window system where that is not set.

    Raises
    ------
    RuntimeError
        If there is neither a display nor EGL.
    """
    displays = {"DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"}
    if sys.platform == "linux" and not displays & {*os.environ}:
        try:
            from mujoco.egl import GLContext
        except (ImportError, AttributeError) as error:  # what PyOpenGL raises without the library
            raise RuntimeError(
                "there is no display to render with: install EGL (on Debian: libegl1), or set "
                "MUJOCO_GL=osmesa"
            ) from error
        gl_context.GLContext = GLContext
    return mujoco.Renderer(model, height, width)
