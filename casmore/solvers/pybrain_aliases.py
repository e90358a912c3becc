"""Import PyBrain's xNES, which was written for the SciPy of 2010, with a current SciPy.

PyBrain2 installs itself as ``pybrain2``, imports itself as ``pybrain``, and imports names from
``scipy`` that no longer exist. `pybrain_importable` adds the missing names while PyBrain is
imported and an optimizer is built, which imports more modules. Afterwards it removes them and
``pybrain``.
PyBrain's packages import all of PyBrain (its neural networks, with more obsolete names), so the
parent packages of xNES are replaced by empty ones.
"""

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.linalg

# Names that the imported modules take from scipy, and that NumPy provides
_FROM_NUMPY = (
    *(
        "append",
        "arange",
        "arctan",
        "argmax",
        "array",
        "clip",
        "cos",
        "diag",
        "dot",
        "exp",
        "eye",
        "isinf",
    ),
    *("isnan", "isscalar", "log", "mean", "median", "ndarray", "outer", "pi", "power", "ravel"),
    *("sin", "size", "sqrt", "trace", "var", "where", "zeros", "zeros_like", "floor"),
)
# Packages whose own __init__ is not run
_EMPTIED = (
    *("pybrain", "pybrain.auxiliary", "pybrain.optimization"),
    *("pybrain.optimization.distributionbased", "pybrain.rl", "pybrain.rl.environments"),
    *("pybrain.rl.environments.functions", "pybrain.rl.learners"),
    *("pybrain.rl.learners.directsearch", "pybrain.structure", "pybrain.structure.connections"),
    *("pybrain.structure.modules",),
)

# PyBrain's modules while they are not in sys.modules, so that each is imported once
_put_away: dict[str, types.ModuleType] = {}


def import_xnes() -> type[Any]:
    """Return PyBrain's class ``XNES``.

    Raises
    ------
    ModuleNotFoundError
        If PyBrain2 is not installed.
    """
    with pybrain_importable():
        module = importlib.import_module("pybrain.optimization.distributionbased.xnes")
    xnes: type[Any] = module.XNES
    return xnes


@contextmanager
def pybrain_importable() -> Iterator[None]:
    """Make the modules of PyBrain that xNES needs importable within the context."""
    with _old_names(), _as_pybrain():
        yield


@contextmanager
def _as_pybrain() -> Iterator[None]:
    """Make ``pybrain`` an alias of the installed ``pybrain2``, with its larger packages empty."""
    others = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_pybrain(name)}
    try:
        sys.modules.update(_put_away or _emptied_packages())
        if not _put_away:
            # the only name that is imported from an empty package
            environment = importlib.import_module("pybrain.rl.environments.environment")
            vars(sys.modules["pybrain.rl.environments"])["Environment"] = environment.Environment
        yield
        _put_away.update({n: module for n, module in sys.modules.items() if _is_pybrain(n)})
    finally:
        for name in list(sys.modules):
            if _is_pybrain(name):
                del sys.modules[name]
        sys.modules.update(others)


def _emptied_packages() -> dict[str, types.ModuleType]:
    spec = importlib.util.find_spec("pybrain2")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'pybrain2'", name="pybrain2")
    root = Path(spec.submodule_search_locations[0])
    packages = {name: types.ModuleType(name) for name in _EMPTIED}
    for name, package in packages.items():
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
    return packages


def _is_pybrain(name: str) -> bool:
    return name == "pybrain" or name.startswith("pybrain.")


@contextmanager
def _old_names() -> Iterator[None]:
    """Add the obsolete names to scipy within the context."""
    old: list[tuple[types.ModuleType, str, Any]] = [
        *((scipy, name, getattr(np, name)) for name in _FROM_NUMPY),
        (scipy, "mat", np.asmatrix),
        # functions of NumPy's global random state: imported by PyBrain, but not used
        (scipy, "rand", np.random.rand),
        (scipy, "randn", np.random.randn),
        (scipy.linalg, "expm2", scipy.linalg.expm),
    ]
    missing = [(module, name, value) for module, name, value in old if name not in vars(module)]
    for module, name, value in missing:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, _ in missing:
            delattr(module, name)
