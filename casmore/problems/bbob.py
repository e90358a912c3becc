"""COCO's suites through cocoex: one observed problem at a time.

cocoex keeps its observer in a global C variable. Problem, observer and suite must be freed in this
order; a problem that outlives its suite ends the interpreter. ``ObservedProblem`` takes care of
this. Use processes, never threads, to run several problems at once.
"""

import math
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import cocoex
import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.problems.noise_free import NoiseFree
from casmore.problems.regret import RegretRecorder
from casmore.problems.suites import BBOB, NOISY, Suite
from casmore.solvers.restarts import Restarting

_RESULT_FOLDER = "unit"
# Values that COCO's option parser accepts: it cuts a value at a space, takes the text before a
# colon as a key, and ignores values of one character.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.+-]{2,}")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./@+=-]+")
_LONGEST_PATH = 60  # leaves more than half of COCO's limit to the names
# Linux: a path for each open folder, which leaves nothing behind if the process is killed
_DESCRIPTORS = Path("/proc/self/fd")
_LINK = "casmore-xxxxxxxx/link"  # what is added to the folder of temporary files
# less than 1e-8 by more than the rounding errors of COCO's values and ours, so that COCO agrees
_FINAL_TARGET = 0.999e-8

cocoex.log_level("warning")  # no line on stdout for each observer


def instances_of(suite: Suite, year: int | None = None) -> tuple[int, ...]:
    """Return COCO's instances of a year, including repeats; default: COCO's own default.

    Raises
    ------
    ValueError
        If COCO has no instances of that year.
    """
    first, last = suite.years
    if year is not None and not first <= year <= last:
        known = f"{first}" if first == last else f"{first} and later"
        raise ValueError(f"year {year}: {suite.name} has instances of {known}")
    found = []
    for problem in cocoex.Suite(
        suite.name,
        "" if year is None else f"year:{year}",
        f"dimensions:{suite.dimensions[0]} function_indices:1",
    ):
        found.append(int(problem.id_instance))
        problem.free()
        del problem
    return tuple(found)


class ObservedProblem:
    """One problem under COCO's observer, as a context manager.

    On leaving the context the data files are closed and complete; the problem can't be used
    after it.

    COCO's noise begins anew with each suite that is made, so with each problem. To make the noise
    of trials independent, each begins at a place of its own in COCO's random numbers.

    Parameters
    ----------
    function, dimension, instance
        The problem.
    outer_folder
        Existing folder in which the observer creates its own.
    algorithm_name, algorithm_info
        Written into the ``.info`` file. They must be the same for all problems of an algorithm;
        otherwise cocopp does not merge them.
    suite
        The suite of the problem.
    noise_offset
        How many noisy values to skip; of no effect in suites without noise.

    Raises
    ------
    ValueError
        If COCO's options can't hold the name or the info.
    """

    def __init__(
        self,
        function: int,
        dimension: int,
        instance: int,
        *,
        outer_folder: Path,
        algorithm_name: str,
        algorithm_info: str,
        suite: Suite = BBOB,
        noise_offset: int = 0,
    ) -> None:
        for value in (algorithm_name, algorithm_info):
            if not _PLAIN_VALUE.fullmatch(value):
                raise ValueError(
                    f"COCO would misread {value!r}: give two or more letters, digits and _ . + -"
                )
        self.dimension = dimension
        self._selection = (
            suite.name,
            f"instances:{instance}",
            f"dimensions:{dimension} function_indices:{suite.index(function)}",
        )
        self._noise_free = NoiseFree(function, dimension, instance) if suite.noisy else None
        self._noise_offset = noise_offset
        self._best_value = float("inf")  # without noise, where COCO's own has noise
        self._outer_folder = outer_folder
        self._info = {"algorithm_name": algorithm_name, "algorithm_info": algorithm_info}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        outer = self._open.enter_context(_path_for_coco(self._outer_folder.resolve(strict=True)))
        self._suite = cocoex.Suite(*self._selection)
        self._observer = cocoex.Observer(
            "bbob", {"outer_folder": str(outer), "result_folder": _RESULT_FOLDER, **self._info}
        )
        self._problem = self._suite.get_problem(0)
        self._problem.observe_with(self._observer)
        if self._noise_free is None:
            self._copy = self._suite.get_problem(0)  # COCO can observe one problem at a time
        else:
            _skip_noise(self._noise_offset)
        self.folder = self._outer_folder / Path(self._observer.result_folder).name
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._problem.free()
        del self._problem
        if self._noise_free is None:
            self._copy.free()
            del self._copy
        del self._observer
        del self._suite
        self._open.close()

    def evaluate(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Evaluate points, shape (k, n), in turn, until one hits the final target.

        Returns
        -------
        y : ndarray, shape (m,)
            The values of the first m points; m is k, unless the target was hit.
        noise_free : ndarray, shape (m,)
            The values without noise.
        """
        y = np.empty(len(X))
        noise_free = y if self._noise_free is None else np.empty(len(X))
        evaluated = 0
        for x in X:
            y[evaluated] = self._problem(x)
            if self._noise_free is not None:
                noise_free[evaluated] = value = self._noise_free(x)
                self._best_value = min(self._best_value, value)
            evaluated += 1
            if self.final_target_hit:
                break
        return y[:evaluated], noise_free[:evaluated]

    def value_at(self, x: NDArray[np.float64]) -> float:
        """Return the value at a point, shape (n,), without noise.

        COCO does not count or log this evaluation.
        """
        if not all(map(math.isfinite, x.tolist())):  # faster than NumPy for few numbers
            return float("nan")
        return float(self._copy(x)) if self._noise_free is None else self._noise_free(x)

    @property
    def evaluations(self) -> int:
        """Number of points evaluated so far."""
        return int(self._problem.evaluations)

    @property
    def final_target_hit(self) -> bool:
        """Whether the final target, a precision of 1e-8, has been reached.

        COCO itself compares noisy values, which are larger than the target, but logs values
        without noise.
        """
        if self._noise_free is None:
            return bool(self._problem.final_target_hit)
        return self._best_value - self._noise_free.optimal_value <= _FINAL_TARGET

    @property
    def best_value(self) -> float:
        """Smallest value seen, without noise."""
        if self._noise_free is None:
            return float(self._problem.best_observed_fvalue1)
        return self._best_value

    def signal_restart(self) -> None:
        """Log a restart of the solver."""
        self._observer.signal_restart(self._problem)


def minimize(
    solver: Restarting,
    problem: ObservedProblem,
    budget: int,
    regret: RegretRecorder | None = None,
) -> dict[StopReason, float]:
    """Run ``solver`` until it reaches the final target, spends the budget, or stops.

    Evaluates only the points that the solver asks for. The last batch is truncated at the budget,
    or where the target is hit, and is then not told.

    Parameters
    ----------
    solver
        A new solver.
    problem
        The problem.
    budget
        In evaluations.
    regret
        Gets all values, without noise.

    Returns
    -------
    dict
        The reasons why the last run ended.
    """
    signalled = solver.restarts
    ended: dict[StopReason, float] = {}

    def evaluate(asked: NDArray[np.float64]) -> NDArray[np.float64] | None:
        nonlocal signalled, ended
        X = _points(asked, problem.dimension)
        if solver.restarts > signalled:
            signalled = solver.restarts
            problem.signal_restart()
        y, noise_free = problem.evaluate(X[: budget - problem.evaluations])
        if regret is not None:
            regret.add(noise_free)
        if problem.final_target_hit:
            ended = {StopReason.TARGET: float(y[-1])}
        elif problem.evaluations >= budget:
            ended = {StopReason.BUDGET: float(budget)}
        return None if ended else y

    while not (reasons := solver.stop()) and not ended:
        solver.advance(evaluate)
    if regret is not None:
        regret.end()
    return ended or reasons


def _skip_noise(values: int) -> None:
    """Advance COCO's random numbers, from which all noise is drawn in turn."""
    # a function with Cauchy noise, which takes normal and uniform numbers
    suite = cocoex.Suite(NOISY.name, "instances:1", "dimensions:2 function_indices:3")
    problem, x = suite.get_problem(0), np.zeros(2)
    for _ in range(values):
        problem(x)
    problem.free()
    del problem


def _points(asked: object, dimension: int) -> NDArray[np.float64]:
    """Return the points of a solver after validation, since COCO accepts invalid points.

    Raises
    ------
    ValueError
        If the shape is wrong, or a coordinate is not finite.
    """
    X = np.asarray(asked, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != dimension or len(X) == 0:
        raise ValueError(
            f"the solver asked for points of shape {X.shape}; it should be (k, {dimension}), with "
            "k at least 1"
        )
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        raise ValueError(f"the solver asked for a point that is not finite: {X[~finite][0]}")
    return X


@contextmanager
def _path_for_coco(path: Path) -> Iterator[Path]:
    """Create an alias of ``path`` that COCO can read: its options allow only ASCII and no spaces.

    COCO also joins all options, with the folder more than once, into a string of at most 443
    characters, and ends the process if it is longer.
    """
    if _suits_coco(path):
        yield path
        return
    if _DESCRIPTORS.is_dir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            yield _DESCRIPTORS / str(descriptor)
        finally:
            os.close(descriptor)
        return
    place = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(
        prefix="casmore-", dir=place if _suits_coco(Path(place, _LINK)) else "/tmp"
    ) as folder:
        link = Path(folder, "link")
        link.symlink_to(path, target_is_directory=True)
        yield link


def _suits_coco(path: Path) -> bool:
    return bool(_PLAIN_PATH.fullmatch(str(path))) and len(str(path)) <= _LONGEST_PATH
