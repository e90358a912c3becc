"""The registry of solvers; each is imported only on use, so that peers stay optional.

Installed packages register solvers by entry points of the group ``casmore.solvers``.

This module imports neither NumPy nor a solver, since the command line uses it to list and complete
names.
"""

import difflib
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from casmore.solvers.protocol import SolverFactory


class UnknownSolverError(ValueError):
    """The name is not in the registry."""


class MissingDependencyError(ImportError):
    """The solver's package is not installed."""


@dataclass(frozen=True)
class RegisteredSolver:
    """Description of a solver that needs no import.

    Attributes
    ----------
    name
        Its name in configs and commands.
    path
        ``module:attribute`` of a `SolverFactory`: a class or a function.
    description
        A short description.
    requires
        Modules that the solver needs besides this package's own dependencies.
    extra
        The extra of this package that installs them.
    preset
        Settings of this variant of ``path``; a config may override them.
    """

    name: str
    path: str
    description: str
    requires: tuple[str, ...] = ()
    extra: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The required modules that are not installed; this imports nothing."""
        return tuple(module for module in self.requires if not _is_installed(module))


_SOLVERS = (
    RegisteredSolver(
        "cas-more", "casmore.algorithms.cas_more:CasMore", "CAS-MORE, the paper's algorithm"
    ),
    RegisteredSolver(
        "lean-cas-more",
        "casmore.algorithms.lean_cas_more:LeanCasMore",
        "CAS-MORE with fewer evaluations and more computation; not in the paper",
    ),
    RegisteredSolver(
        "auto",
        "casmore.solvers.auto:Auto",
        "coordinate search, quasi-Newton start, lean CAS-MORE with restarts",
    ),
    RegisteredSolver(
        "ca-more", "casmore.solvers.ca_more:make", "CAS-MORE with a fixed entropy schedule"
    ),
    RegisteredSolver(
        "more", "casmore.algorithms.more:More", "the original MORE, one joint trust region"
    ),
    RegisteredSolver(
        "cma",
        "casmore.solvers.cma:make",
        "CMA-ES of pycma, active covariance",
        requires=("cma",),
        extra="cma",
    ),
    RegisteredSolver(
        "lq-cma",
        "casmore.solvers.lq_cma:make",
        "lq-CMA-ES of pycma, assisted by a quadratic surrogate",
        requires=("cma",),
        extra="cma",
    ),
    RegisteredSolver(
        "cma-noise",
        "casmore.solvers.cma_noise:make",
        "CMA-ES of pycma with its noise handling",
        requires=("cma",),
        extra="cma",
    ),
    RegisteredSolver(
        "cmaes",
        "casmore.solvers.cmaes:make_cma",
        "CMA-ES of cmaes",
        requires=("cmaes",),
        extra="cmaes",
    ),
    RegisteredSolver(
        "sep-cma",
        "casmore.solvers.cmaes:make_separable",
        "separable CMA-ES of cmaes",
        requires=("cmaes",),
        extra="cmaes",
    ),
    RegisteredSolver(
        "lra-cma",
        "casmore.solvers.cmaes:make_cma",
        "CMA-ES of cmaes with learning rate adaptation",
        requires=("cmaes",),
        extra="cmaes",
        preset={"lr_adapt": True},
    ),
    RegisteredSolver(
        "dx-nes-ic",
        "casmore.solvers.cmaes:make_dx_nes_ic",
        "DX-NES-IC of cmaes",
        requires=("cmaes",),
        extra="cmaes",
    ),
    RegisteredSolver(
        "coordinate-search",
        "casmore.algorithms.coordinate_search:CoordinateSearch",
        "global search along each coordinate of additive functions",
    ),
    RegisteredSolver("xnes", "casmore.algorithms.xnes:Xnes", "xNES"),
    RegisteredSolver(
        "xnes-as",
        "casmore.algorithms.xnes:Xnes",
        "xNES with adaptation sampling, the paper's xNESas",
        preset={"adaptation_sampling": True},
    ),
    RegisteredSolver(
        "pybrain-xnes",
        "casmore.solvers.pybrain:make",
        "xNES of PyBrain",
        requires=("pybrain2",),
        extra="pybrain",
    ),
    RegisteredSolver(
        "nelder-mead", "casmore.solvers.scipy:make_nelder_mead", "Nelder-Mead of SciPy"
    ),
    RegisteredSolver("powell", "casmore.solvers.scipy:make_powell", "Powell's method of SciPy"),
    RegisteredSolver("l-bfgs-b", "casmore.solvers.scipy:make_l_bfgs_b", "L-BFGS-B of SciPy"),
    RegisteredSolver("slsqp", "casmore.solvers.scipy:make_slsqp", "SLSQP of SciPy"),
    RegisteredSolver(
        "differential-evolution",
        "casmore.solvers.scipy:make_differential_evolution",
        "differential evolution of SciPy",
    ),
    RegisteredSolver(
        "random-search", "casmore.solvers.random_search:make", "uniform random search"
    ),
)
_GROUP = "casmore.solvers"


def registered() -> tuple[RegisteredSolver, ...]:
    """Return all registered solvers in the order of display, ours first.

    Other packages can't override our names, so that a config means the same everywhere.
    """
    ours = {solver.name for solver in _SOLVERS}
    theirs = {
        point.name: RegisteredSolver(
            point.name,
            path=point.value,
            description=f"of the package {point.dist.name}" if point.dist else "installed",
        )
        for point in metadata.entry_points(group=_GROUP)
        if point.name not in ours
    }
    return _SOLVERS + tuple(theirs[name] for name in sorted(theirs))


def lookup(name: str) -> RegisteredSolver:
    """Return the entry of ``name``: a registered name, or ``module:attribute`` of any factory.

    Raises
    ------
    UnknownSolverError
        If there is no such solver; the message lists the names and suggests the nearest.
    """
    by_name = {solver.name: solver for solver in _SOLVERS}
    if name in by_name:  # no need to search the installed packages
        return by_name[name]
    by_name = {solver.name: solver for solver in registered()}
    if name in by_name:
        return by_name[name]
    module, _, attribute = name.partition(":")
    if module and attribute:
        return RegisteredSolver(name, path=name, description="not of this package")
    near = difflib.get_close_matches(name.lower().replace("_", "-"), by_name, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownSolverError(
        f"unknown solver {name!r}{hint} (known: {', '.join(by_name)}; or module:attribute)"
    )


def factory(name: str) -> "SolverFactory":
    """Import the solver ``name`` and return its factory.

    Raises
    ------
    UnknownSolverError
        If there is no such solver, or no such attribute of a module.
    MissingDependencyError
        If its package is not installed; the message says what to install.
    """
    solver = lookup(name)
    if solver.missing:
        raise MissingDependencyError(
            f"solver {name!r} needs the package {solver.missing[0]!r}: "
            f"pip install 'casmore[{solver.extra}]'"
        )
    module, _, attribute = solver.path.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            raise UnknownSolverError(
                f"unknown solver {name!r}: there is no module {error.name!r}"
            ) from error
        raise MissingDependencyError(
            f"solver {name!r} needs the module {error.name!r}, which is not installed"
        ) from error
    try:
        make = getattr(found, attribute)
    except AttributeError as error:
        raise UnknownSolverError(f"unknown solver {name!r}: {error}") from error
    if solver not in _SOLVERS:
        from casmore.solvers import plain_function

        try:
            return plain_function.adapt(make, name)
        except TypeError as error:
            raise UnknownSolverError(f"unknown solver {name!r}: {error}") from error
    return cast("SolverFactory", partial(make, **solver.preset) if solver.preset else make)


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
