"""Running one work unit, in a worker process, from its seed to its published folder."""

import copy
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.atomic_io import check_room, read_json, write_json
from casmore.experiments import study_trial
from casmore.experiments.kernels import kernels
from casmore.experiments.limits import time_limit
from casmore.experiments.manifest import versions
from casmore.experiments.store.checksums import write_checksums
from casmore.experiments.store.coco_files import check_trial, optimal_value
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import ObservedWork, TaskWork, TracedWork, Unit, Work
from casmore.problems import bbob, suites
from casmore.problems.analytic import FUNCTIONS
from casmore.problems.episodic import tasks
from casmore.problems.regret import RegretRecorder
from casmore.solvers import plain_function, registry
from casmore.solvers.restarts import Restarting
from casmore.trace import Trace

_LONGEST_ERROR = 500  # in a list of failures; the traceback has all of it
_MOST_WARNINGS = 20  # of a unit: there may be one with other numbers in each step

# a trace, further columns, and the reasons why the run ended
_Traced = tuple[Trace, dict[str, NDArray[np.float32]], dict[StopReason, float]]


@dataclass(frozen=True)
class UnitOutcome:
    """Outcome of a work unit, reported by its worker; the unit's data are on disk."""

    unit: Unit
    seconds: float
    evaluations: int = 0
    error: str | None = None  # one line, if the unit failed
    worker_died: bool = False  # while running the unit, which is then neither done nor failed
    kernels: dict[str, Any] | None = None  # used by the unit


@dataclass(frozen=True)
class Workplace:
    """The run context of units: folder, session and limits.

    Attributes
    ----------
    root
        The run's folder.
    share
        The share of the plan that the session runs.
    session
        The session's token.
    unit_timeout
        In seconds; None: no limit.
    portable
        Whether workers use the portable kernels.
    """

    root: Path
    share: str
    session: str
    unit_timeout: float | None = None
    portable: bool = False

    @property
    def folder(self) -> RunFolder:
        """The run's folder, as the session sees it."""
        return RunFolder(self.root, self.share)


def run_batch(batch: tuple[Work, ...], place: Workplace) -> list[UnitOutcome]:
    """Run units one after another; each is published as soon as it is finished.

    A batch may be run a second time, after a worker was killed, so published units are skipped. A
    worker on another machine does not end with its session, but it starts no more units once the
    session has ended.
    """
    folder, outcomes = place.folder, []
    for work in batch:
        if folder.is_over(place.session):
            break
        if folder.is_published(work.unit):
            outcomes.append(outcome_of(work.unit, folder))
        else:
            outcomes.append(run_unit(work, folder, timeout=place.unit_timeout))
    return outcomes


def outcome_of(unit: Unit, folder: RunFolder) -> UnitOutcome:
    """Return the outcome of a published unit, from its record."""
    try:
        record = read_json(folder.sidecar(unit))
        return UnitOutcome(
            unit, record["wall_seconds"], record["evaluations"], kernels=record.get("kernels")
        )
    except (OSError, ValueError, KeyError, TypeError):  # 'casmore verify' reports it
        return UnitOutcome(unit, 0.0)


def run_unit(work: Work, folder: RunFolder, *, timeout: float | None = None) -> UnitOutcome:
    """Run and publish one unit, or record its failure."""
    kernels()  # before the solver's own packages are loaded
    unit, began = work.unit, time.perf_counter()
    try:
        with folder.private(unit.label, unit.name) as private:
            check_room(private)  # before and after: COCO does not report write errors
            with time_limit(timeout, private):
                finished, record = _run(work, private)
            check_room(private)
            write_json(finished / "unit.json", record)
            write_checksums(finished)
            folder.publish(finished, unit)
    except BaseException as error:  # a solver may raise anything; workers ignore Ctrl-C
        summary = _one_line("".join(traceback.format_exception_only(error)))
        with suppress(OSError):  # the unit may have failed because the disk is full
            write_failure(folder, work, summary, traceback.format_exc())
        return UnitOutcome(unit, time.perf_counter() - began, error=summary)
    return UnitOutcome(
        unit, time.perf_counter() - began, record["evaluations"], kernels=record["kernels"]
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_ERROR else f"{line[:_LONGEST_ERROR]} ..."


def write_failure(folder: RunFolder, work: Work, summary: str, details: str) -> None:
    """Record why a unit failed; a later session that succeeds removes the record."""
    write_json(
        folder.failure(work.unit),
        {**identity(work), "error": summary, "traceback": details, "versions": _versions()},
    )


def _run(work: Work, private: Path) -> tuple[Path, dict[str, Any]]:
    match work:
        case ObservedWork():
            return _run_observed(work, private)
        case TracedWork():
            return _run_traced(work, private)
    raise TypeError(f"nothing runs {type(work).__name__}")


def _run_observed(work: ObservedWork, private: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the observer's files, checked, and the unit's record."""
    unit = work.unit
    with (
        _Measured() as measured,
        bbob.ObservedProblem(
            unit.function,
            unit.dimension,
            unit.instance,
            outer_folder=private,
            algorithm_name=unit.label,
            algorithm_info=work.algorithm_info,
            suite=suites.find(work.suite),
            noise_offset=work.noise_offset,
        ) as problem,
    ):
        # no target: the optimal value is hidden; COCO reports when the final target is hit
        solver = _solver(work)
        regret = RegretRecorder(lambda: solver.mean, problem.value_at)
        ended = bbob.minimize(solver, problem, work.budget, regret)
        evaluations, best_value = problem.evaluations, problem.best_value
        target_hit = problem.final_target_hit
    check_trial(
        problem.folder,
        dimension=unit.dimension,
        instance=unit.instance,
        evaluations=evaluations,
        restarts=solver.restarts,
    )
    return problem.folder, {
        **identity(work),
        "evaluations": evaluations,
        "budget": work.budget,
        "final_target_hit": target_hit,
        "best_value": _finite(best_value),
        **_end(solver, ended),
        **measured.record(),
        "regret": regret.document(optimal_value(problem.folder)),
    }


def _run_traced(work: TracedWork, private: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the trace, and the unit's record."""
    with _Measured() as measured:
        solver = _solver(work)
        trace, more, ended = (
            _minimize_task(work, solver)
            if isinstance(work, TaskWork)
            else _minimize_function(work, solver)
        )
    trace.save(private / "unit" / study_trial.FILE, dtype=np.float32, **more)
    return private / "unit", {
        **identity(work),
        "evaluations": solver.evaluations,
        "budget": work.budget,
        "final_target_hit": StopReason.TARGET in ended,
        "value_at_mean": _finite(float(trace["f_mean"][-1])),
        **_end(solver, ended),
        **measured.record(),
    }


def _minimize_function(work: TracedWork, solver: Restarting) -> _Traced:
    f = FUNCTIONS[work.unit.function](work.unit.dimension, work.unit.instance)
    trace, ended = study_trial.minimize(solver, f, budget=work.budget, target=work.target)
    return trace, {}, ended


def _minimize_task(work: TaskWork, solver: Restarting) -> _Traced:
    from casmore.experiments import task_trial  # needs Gymnasium

    of_samples, of_mean = work.noise.spawn(2)
    objective = tasks.find(work.task).objective(seed=of_samples)
    seeds = [int(seed >> 1) for seed in of_mean.generate_state(work.episodes_at_mean)]
    return task_trial.minimize(solver, objective, budget=work.budget, seeds=seeds)


def _solver(work: Work) -> Restarting:
    return Restarting(
        plain_function.with_budget(registry.factory(work.solver), work.budget),
        work.start,
        work.sigma0,
        policy=work.restarts,
        population_size=work.population_size,
        seed=work.seed,
        target=None,
        settings=copy.deepcopy(work.settings),  # a solver may modify them
    )


class _Measured:
    """Measures the time within a context, and collects its warnings, each once."""

    def __enter__(self) -> Self:
        self._catching = warnings.catch_warnings(record=True)
        warned = self._catching.__enter__()
        assert warned is not None  # it records
        self._warned = warned
        warnings.simplefilter("default")
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self._wall = time.perf_counter() - self._wall
        self._cpu = time.process_time() - self._cpu
        self._catching.__exit__(None, None, None)

    def record(self) -> dict[str, Any]:
        """Return the measurements as entries of a unit's record."""
        return {
            "wall_seconds": round(self._wall, 6),
            "cpu_seconds": round(self._cpu, 6),
            "warnings": list(dict.fromkeys(str(w.message) for w in self._warned))[:_MOST_WARNINGS],
            "versions": _versions(),
            "kernels": kernels(),
        }


def _end(solver: Restarting, ended: dict[StopReason, float]) -> dict[str, Any]:
    return {
        "restarts": solver.restarts,
        "stop_reasons": [_readable(reasons) for reasons in [*solver.ended, ended]],
    }


def identity(work: Work) -> dict[str, Any]:
    """Return the entries of a unit's record that identify it and its run."""
    unit, (run_seed, unit_hash) = work.unit, work.entropy
    return {
        "label": unit.label,
        "solver": work.solver,
        "function": unit.function,
        "dimension": unit.dimension,
        "instance": unit.instance,
        "repeat": unit.repeat,
        # decimal strings: other readers of JSON round numbers of this size
        "seed_entropy": [str(run_seed), str(unit_hash)],
        "config": work.config_digest,
    }


def _readable(reasons: dict[StopReason, float]) -> dict[str, float | None]:
    """Return the reasons by name; JSON has no infinity and no NaN."""
    return {str(reason): _finite(value) for reason, value in reasons.items()}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@cache
def _versions() -> dict[str, str]:
    return versions()
