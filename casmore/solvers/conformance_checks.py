"""The checks of `casmore.solvers.conformance`: one function for each point of the contract."""

import gc
import math
import pickle
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.isolation import captured_output, in_empty_folder
from casmore.solvers.protocol import Solver, SolverFactory

Array = NDArray[np.float64]

_EVALUATIONS = 60  # of a run: some iterations of most solvers, a moment for any
_MEMBERS = (
    "ask", "tell", "stop", "mean", "best_x", "best_y", "evaluations", "population_size",
)  # fmt: skip


class BrokenPromiseError(Exception):
    """A violation of the contract; the message says what is wrong and how to fix it."""


class Maker:
    """Builds the solver under test."""

    def __init__(self, factory: SolverFactory, settings: dict[str, Any]) -> None:
        self._factory, self._settings = factory, settings

    def __call__(
        self, n: int = 3, *, seed: Any = 1, target: float | None = None, x0: Array | None = None
    ) -> Solver:
        """Build the solver, in n dimensions."""
        return self._factory(
            np.linspace(1.0, 2.0, n) if x0 is None else x0,
            1.0,
            population_size=None,
            seed=seed,
            target=target,
            **self._settings,
        )


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise BrokenPromiseError(otherwise)


def objective(X: Array) -> Array:
    """Return the values of an ellipsoid with ripples, shape (k,)."""
    # summed row by row: the rounding of a matrix product may depend on the batch
    terms = np.logspace(0, 1, X.shape[1]) * (X - 0.5) ** 2 + np.cos(3 * X)
    values: Array = np.ascontiguousarray(terms).sum(axis=1)
    return values


def run(solver: Solver, evaluations: int = _EVALUATIONS) -> Array:
    """Drive a solver on the objective until it stops; return all points it asked for."""
    asked = [np.empty((0, len(solver.best_x)))]
    told = 0
    while told < evaluations and not solver.stop():
        X = np.array(solver.ask())
        solver.tell(X.copy(), objective(X))
        told += len(X)
        asked.append(X)
    return np.concatenate(asked)


def can_be_built(make: Maker) -> None:
    """Require all members, and their values before the first evaluation."""
    solver = make()
    missing = [name for name in _MEMBERS if not hasattr(solver, name)]
    _require(not missing, f"it has no {', '.join(missing)}; see casmore.solvers.protocol.Solver")
    _require(solver.stop() == {}, f"stop() is {solver.stop()!r} before anything is told, not {{}}")
    _require(
        isinstance(solver.population_size, int | np.integer) and solver.population_size >= 0,
        f"population_size is {solver.population_size!r}; give the number of points, 0 for none",
    )


def asks_for_points(make: Maker) -> None:
    """Require finite points of shape (k, n)."""
    for n in (2, 3, 10):
        solver = make(n)
        for _ in range(3):
            if solver.stop():
                break
            X = solver.ask()
            _require(isinstance(X, np.ndarray), f"ask() returns a {type(X).__name__}, no array")
            _require(
                X.ndim == 2 and X.shape[1] == n and len(X) >= 1,
                f"ask() returns shape {X.shape} in dimension {n}; (k, {n}) with k >= 1 is right",
            )
            _require(np.isfinite(X).all(), "ask() returns points that are not finite")
            solver.tell(X, objective(X))


def counts_and_remembers(make: Maker) -> None:
    """Require the number of evaluations and a copy of the best point told."""
    solver = make()
    _require(solver.best_y == math.inf, f"best_y is {solver.best_y!r} at first, not infinity")
    told, lowest = 0, math.inf
    while told < _EVALUATIONS and not solver.stop():
        X = np.array(solver.ask())
        y = objective(X)
        solver.tell(X, y)
        told, lowest = told + len(X), min(lowest, float(y.min()))
        X[:] = math.nan  # the caller may reuse its array
        _require(
            solver.evaluations == told, f"evaluations is {solver.evaluations} after {told} points"
        )
        _require(
            solver.best_y == lowest, f"best_y is {solver.best_y!r}; the lowest told is {lowest!r}"
        )
        best = np.asarray(solver.best_x)
        _require(
            best.shape == (3,) and np.isfinite(best).all() and _value(best) == lowest,
            f"best_x is {best}, which does not have the value best_y; keep a copy of the point",
        )
        _require(np.shape(solver.mean) == (3,), f"mean has shape {np.shape(solver.mean)}, not (3,)")


def _value(x: Array) -> float:
    return float(objective(x[np.newaxis])[0])


def keeps_no_arrays(make: Maker) -> None:
    """Require that overwriting the caller's arrays does not change the run."""
    for parts in (1, 2):
        reference, asked = (_run_in_parts(make(), parts, overwrite=o) for o in (False, True))
        _require(
            np.array_equal(asked, reference),
            "overwriting the arrays that ask() returned or tell() was given changes the run; "
            "copy them",
        )
    x0 = np.linspace(1.0, 2.0, 3)
    solver = make(x0=x0)
    x0[:] = 7.0
    _require(
        7.0 not in solver.best_x and np.array_equal(run(solver), run(make())),
        "overwriting x0 after the solver was built changes the solver; copy it",
    )


def _run_in_parts(solver: Solver, parts: int, *, overwrite: bool) -> Array:
    """Tell each batch in parts; return all points that were asked for."""
    asked = [np.empty((0, 3))]
    while sum(map(len, asked)) < _EVALUATIONS and not solver.stop():
        X = solver.ask()
        asked.append(np.array(X))
        for part in np.array_split(X, parts):
            y = objective(part)
            told, values = part.copy(), y.copy()
            solver.tell(told, values)
            _require(
                np.array_equal(told, part) and np.array_equal(values, y),
                "tell() changes the arrays that it is given; work on copies",
            )
            if overwrite:
                part[:], told[:], values[:] = 7.0, 7.0, 7.0
    return np.concatenate(asked)


def hands_out_no_memory(make: Maker) -> None:
    """Require that writing into ``best_x`` or ``mean`` does not change the run."""
    reference, solver = make(), make()
    asked: list[Array] = []
    while sum(map(len, asked)) < _EVALUATIONS and not solver.stop():
        X = solver.ask()
        _require(
            np.array_equal(X, reference.ask()),
            "writing into best_x or mean changes the run; return copies",
        )
        y = objective(X)
        for which in (reference, solver):
            which.tell(X.copy(), y.copy())
        asked.append(X)
        for name in ("best_x", "mean"):
            array = getattr(solver, name)
            with suppress(ValueError):  # a read-only array is as good as a copy
                array[:] = 7.0
            _require(
                np.array_equal(getattr(solver, name), getattr(reference, name)),
                f"writing into {name} changes the solver; return a copy",
            )


def stops_at_the_target(make: Maker) -> None:
    """Require ``StopReason.TARGET`` once a value is at most the target."""
    solver = make(target=-5.0)
    X = solver.ask()
    solver.tell(X, np.full(len(X), -6.0))
    stop = solver.stop()
    _require(
        isinstance(stop, dict) and all(isinstance(reason, StopReason) for reason in stop),
        f"stop() returns {stop!r}; a dict whose keys are StopReason is right",
    )
    _require(
        StopReason.TARGET in stop,
        f"stop() returns {stop!r} after -6 was told, the target being -5: StopReason.TARGET is due",
    )


def takes_any_number_of_points(make: Maker) -> None:
    """Require that points it did not ask for can be told, in any number."""
    solver = make()
    rng = np.random.default_rng(5)
    told = 0
    for k in (1, 2, 0, 25, 1, 3):
        X = rng.standard_normal((k, 3))
        solver.tell(X, objective(X))
        told += k
        _require(
            solver.evaluations == told,
            f"evaluations is {solver.evaluations} after {told} points that it had not asked for",
        )
    for share in (0.5, 1.0):  # a caller may run out of budget in the middle of a batch
        if not solver.stop():
            X = solver.ask()
            X = X[: math.ceil(share * len(X))]
            solver.tell(X, objective(X))


def bears_values_that_are_not_finite(make: Maker) -> None:
    """Require that NaN and infinity rank last."""
    for value in (math.nan, math.inf):
        for share in (0.5, 1.0):
            solver = make()
            told, lowest = 0, math.inf
            while told < _EVALUATIONS and not solver.stop():
                X = solver.ask()
                _require(
                    np.isfinite(X).all(), f"ask() returns points that are not finite after {value}"
                )
                y = objective(X)
                y[np.arange(told, told + len(X)) % 2 < 2 * share - 0.5] = value
                solver.tell(X, y)
                told += len(X)
                lowest = min(lowest, float(np.where(np.isnan(y), math.inf, y).min()))
                _require(
                    solver.best_y == lowest,
                    f"best_y is {solver.best_y!r} where {value} was told; "
                    f"it ranks last, so {lowest!r} is right",
                )


def is_reproducible(make: Maker) -> None:
    """Require the same run for the same seed, of each kind of seed."""
    for kind in (int, np.random.SeedSequence, np.random.default_rng):
        first, second = run(make(seed=kind(4))), run(make(seed=kind(4)))
        _require(
            np.array_equal(first, second),
            f"two runs with the same seed differ; take all randomness from one generator, "
            f"numpy.random.default_rng(seed) (seed: {kind.__name__})",
        )


def uses_its_seed(make: Maker) -> None:
    """Require different runs for different seeds; only a note for deterministic solvers."""
    first, second = run(make(seed=4)), run(make(seed=5))
    _require(
        not np.array_equal(first, second),
        "runs with different seeds are the same: right for a deterministic solver alone",
    )


def leaves_global_randomness_alone(make: Maker) -> None:
    """Require that global random generators are neither used nor changed."""
    np.random.seed(3)  # noqa: NPY002 - the global state is what is tested
    random.seed(3)
    before = pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002
    first = run(make())
    after = pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002
    _require(
        before == after,
        "it draws from or seeds a global generator (numpy.random or random); "
        "use numpy.random.default_rng(seed)",
    )
    np.random.seed(4)  # noqa: NPY002
    random.seed(4)
    _require(np.array_equal(first, run(make())), "its run depends on a global random generator")


def can_be_pickled(make: Maker) -> None:
    """Require that a pickled solver continues the uninterrupted run."""
    whole = run(make(), 2 * _EVALUATIONS)
    solver = make()
    before = run(solver)
    copy = pickle.loads(pickle.dumps(solver))
    for which, name in ((copy, "the unpickled solver"), (solver, "the original, after pickling,")):
        after = run(which, max(len(whole) - len(before), 0))
        _require(
            np.array_equal(np.concatenate([before, after]), whole),
            f"{name} does not continue the uninterrupted run; "
            "all that decides the run must be pickled, the generator included",
        )


def leaves_no_traces(make: Maker) -> None:
    """Require that no output, files or threads remain."""
    threads = threading.active_count()
    with in_empty_folder() as folder:
        with captured_output(folder / "output") as output:
            solver = make()
            run(solver)
            del solver
            gc.collect()
        written, printed = sorted(p.name for p in (folder / "here").iterdir()), output.read_text()
    _require(not printed, f"it prints, for example {printed[:60]!r}; be silent")
    _require(not written, f"it leaves files behind: {', '.join(written)}")
    alive = threading.active_count() - threads
    _require(alive <= 0, f"it leaves threads running when it is dropped ({alive})")


CHECKS: dict[str, Callable[[Maker], None]] = {
    "it can be built, and has all members": can_be_built,
    "it asks for points of the right shape": asks_for_points,
    "it counts, and remembers the best point": counts_and_remembers,
    "the arrays it is given stay the caller's": keeps_no_arrays,
    "the arrays it returns are not its own": hands_out_no_memory,
    "it stops at the target": stops_at_the_target,
    "it takes any points, in any number": takes_any_number_of_points,
    "it bears NaN and infinity": bears_values_that_are_not_finite,
    "the same seed gives the same run": is_reproducible,
    "another seed gives another run": uses_its_seed,
    "it leaves global random generators alone": leaves_global_randomness_alone,
    "pickled, it continues the uninterrupted run": can_be_pickled,
    "it leaves no files, output or threads": leaves_no_traces,
}
