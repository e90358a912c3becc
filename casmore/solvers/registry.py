"""Solvers by name; each is imported only when asked for, so that peers stay optional.

Installed packages add theirs by entry points of the group ``casmore.solvers``.
"""

import difflib
import importlib
from dataclasses import dataclass
from importlib import metadata
from typing import cast

from casmore.solvers.protocol import SolverFactory


class UnknownSolverError(ValueError):
    """The name is not in the registry."""


class MissingDependencyError(ImportError):
    """The solver's package is not installed."""


@dataclass(frozen=True)
class Entry:
    """What the registry knows of a solver without importing it."""

    name: str
    path: str
    description: str
    extra: str | None = None  # the extra of this package that brings what the solver needs


_ENTRIES = (
    Entry("cas-more", "casmore.solvers.cas_more:make", "CAS-MORE, the paper's algorithm"),
    Entry(
        "lean-cas-more",
        "casmore.solvers.cas_more:make_lean",
        "CAS-MORE with fewer evaluations, for more computation: not in the paper",
    ),
    Entry("ca-more", "casmore.solvers.more:make_ca_more", "CAS-MORE with a fixed entropy schedule"),
    Entry("more", "casmore.solvers.more:make", "the original MORE, one joint trust region"),
    Entry("cma", "casmore.solvers.cma:make", "CMA-ES of pycma, active covariance", extra="cma"),
    Entry(
        "lq-cma",
        "casmore.solvers.lq_cma:make",
        "lq-CMA-ES of pycma, assisted by a quadratic surrogate",
        extra="cma",
    ),
    Entry("xnes", "casmore.solvers.xnes:make", "xNES"),
    Entry(
        "xnes-as",
        "casmore.solvers.xnes:make_with_adaptation_sampling",
        "xNES with adaptation sampling, the paper's xNESas",
    ),
    Entry("pybrain-xnes", "casmore.solvers.pybrain:make", "xNES of PyBrain", extra="pybrain"),
    Entry("nelder-mead", "casmore.solvers.scipy:make_nelder_mead", "Nelder-Mead of SciPy"),
    Entry("powell", "casmore.solvers.scipy:make_powell", "Powell's method of SciPy"),
    Entry("l-bfgs-b", "casmore.solvers.scipy:make_l_bfgs_b", "L-BFGS-B of SciPy"),
    Entry("slsqp", "casmore.solvers.scipy:make_slsqp", "SLSQP of SciPy"),
    Entry(
        "differential-evolution",
        "casmore.solvers.scipy:make_differential_evolution",
        "differential evolution of SciPy",
    ),
    Entry("random-search", "casmore.solvers.random_search:make", "uniform random search"),
)
_GROUP = "casmore.solvers"


def entries() -> tuple[Entry, ...]:
    """Return all registered solvers, in the order they are listed to people: ours first.

    A name of ours can't be taken by another package: a config means the same everywhere.
    """
    ours = {entry.name for entry in _ENTRIES}
    theirs = {
        point.name: Entry(
            point.name,
            path=point.value,
            description=f"of the package {point.dist.name}" if point.dist else "installed",
        )
        for point in metadata.entry_points(group=_GROUP)
        if point.name not in ours
    }
    return _ENTRIES + tuple(theirs[name] for name in sorted(theirs))


def lookup(name: str) -> Entry:
    """Return the entry of ``name``: a registered name, or ``module:attribute`` of any factory.

    Raises
    ------
    UnknownSolverError
        If there is no such solver; the message lists the names and suggests the nearest.
    """
    by_name = {entry.name: entry for entry in _ENTRIES}
    if name in by_name:  # without a look at what is installed
        return by_name[name]
    by_name = {entry.name: entry for entry in entries()}
    if name in by_name:
        return by_name[name]
    module, _, attribute = name.partition(":")
    if module and attribute:
        return Entry(name, path=name, description="not of this package")
    near = difflib.get_close_matches(name.lower().replace("_", "-"), by_name, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownSolverError(
        f"unknown solver {name!r}{hint} (known: {', '.join(by_name)}; or module:attribute)"
    )


def factory(name: str) -> SolverFactory:
    """Import the solver ``name`` and return what builds it.

    Raises
    ------
    UnknownSolverError
        If there is no such solver, or no such attribute of a module.
    MissingDependencyError
        If its package is not installed; the message says what to install.
    """
    entry = lookup(name)
    module, _, attribute = entry.path.partition(":")
    try:
        return cast(SolverFactory, getattr(importlib.import_module(module), attribute))
    except AttributeError as error:
        raise UnknownSolverError(f"unknown solver {name!r}: {error}") from error
    except ModuleNotFoundError as error:
        if entry.path == name and error.name == module:
            raise UnknownSolverError(
                f"unknown solver {name!r}: there is no module {module!r}"
            ) from error
        if entry.extra is None or (error.name or "").startswith("casmore"):
            raise
        raise MissingDependencyError(
            f"solver {name!r} needs the package {error.name!r}: "
            f"pip install 'casmore[{entry.extra}]'"
        ) from error
