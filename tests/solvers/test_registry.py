"""Solvers by name: found without being imported, built, and kept when pickled."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.xnes import Xnes
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, UniformStart


def points(solver: Any, iterations: int) -> NDArray[np.float64]:
    """Drive a solver on the sphere; return all points that it asked for."""
    asked = []
    for _ in range(iterations):
        asked.append(solver.ask())
        solver.tell(asked[-1], (asked[-1] ** 2).sum(axis=1))
    return np.concatenate(asked)


def test_an_unknown_solver_is_refused_with_a_suggestion() -> None:
    with pytest.raises(registry.UnknownSolverError, match=r"did you mean 'cas-more'"):
        registry.lookup("CAS_MORE")


def test_names_are_looked_up_without_importing_numpy_or_a_solver() -> None:
    code = (
        "import sys; from casmore.solvers import registry; "
        "assert not any(solver.missing for solver in registry.registered()); "
        "print(*sorted({'numpy', 'scipy', 'cma', 'matplotlib', 'pybrain2'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("solver", registry.registered(), ids=lambda solver: solver.name)
def test_what_a_solver_requires_is_what_it_fails_without(
    solver: registry.RegisteredSolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(registry.factory(solver.name))
    for module in solver.requires:
        monkeypatch.setitem(sys.modules, module, None)
        assert solver.missing == (module,)
        message = rf"needs the package '{module}': pip install 'casmore\[{solver.extra}\]'"
        with pytest.raises(registry.MissingDependencyError, match=message):
            registry.factory(solver.name)


def test_a_variant_is_its_class_with_a_preset_that_settings_override() -> None:
    def run(make: Any, **settings: Any) -> NDArray[np.float64]:
        arguments = {"population_size": None, "seed": 3, "target": None}
        return points(make(np.full(3, 2.0), 1.0, **arguments, **settings), 60)

    variant = registry.factory("xnes-as")
    assert np.array_equal(run(variant), run(Xnes, adaptation_sampling=True))
    assert np.array_equal(run(variant, adaptation_sampling=False), run(Xnes))
    assert not np.array_equal(run(variant), run(Xnes))


@pytest.mark.parametrize("solver", registry.registered(), ids=lambda solver: solver.name)
def test_restarts_around_any_solver_can_be_pickled(solver: registry.RegisteredSolver) -> None:
    def make() -> Restarting:
        return Restarting(registry.factory(solver.name), UniformStart(2), 2.0, seed=5)

    part = make()
    before = points(part, 7)
    after = points(pickle.loads(pickle.dumps(part)), 7)
    assert np.array_equal(np.concatenate([before, after]), points(make(), 14))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, registry.UnknownSolverError, "there is no module 'mine'"),
        ("", registry.UnknownSolverError, "has no attribute 'Solver'"),
        ("import nothere", registry.MissingDependencyError, "needs the module 'nothere'"),
        ("import casmore.nothere", registry.MissingDependencyError, "'casmore.nothere'"),
        ("None.wrong", AttributeError, "'NoneType' object has no attribute 'wrong'"),
    ],
)
def test_a_module_that_is_wrong_is_named(
    content: str | None,
    error: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if content is not None:
        (tmp_path / "mine.py").write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    with pytest.raises(error, match=message):
        registry.factory("mine:Solver")
