"""The plan of an experiment: its work units, each with its own seed, and their order."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from casmore.experiments.config.base import Experiment, SolverConfig
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.study import StudyConfig
from casmore.experiments.config.task_study import TaskStudyConfig
from casmore.experiments.work_unit import ObservedWork, TaskWork, TracedWork, Unit, Work

_NO_FUNCTION = 0  # no function of a suite: a study has one task
# A batch takes about a second: short compared with a run, long compared with its dispatch.
_BATCH_EVALUATIONS = 10_000
# A small run has at least this many batches per worker, so that none is idle for long.
_BATCHES_PER_WORKER = 8


def make_plan(config: Experiment) -> tuple[Work, ...]:
    """Return all units of an experiment, in COCO's order for each solver."""
    match config:
        case Config():
            return tuple(_bbob_plan(config))
        case StudyConfig():
            return tuple(_study_plan(config))
        case TaskStudyConfig():
            return tuple(_task_plan(config))
    raise TypeError(f"there is no plan for {type(config).__name__}")


def _bbob_plan(config: Config) -> Iterator[ObservedWork]:
    for solver in config.solvers:
        for dimension in config.suite.dimensions:
            common = _common(config, solver, dimension)
            for function in config.suite.functions:
                for instance, repeat in config.suite.trials:
                    yield ObservedWork(
                        suite=config.suite.name,
                        unit=Unit(solver.label, function, dimension, instance, repeat),
                        budget=dimension * config.budget.evaluations_per_dimension,
                        **common,
                    )


def _study_plan(config: StudyConfig) -> Iterator[TracedWork]:
    study = config.study
    for solver in config.solvers:
        common = _common(config, solver, study.dimension)
        for function in study.functions:
            for run in range(study.runs):
                yield TracedWork(
                    unit=Unit(solver.label, function, study.dimension, study.instance, run),
                    budget=study.evaluations,
                    target=study.target,
                    **common,
                )


def _task_plan(config: TaskStudyConfig) -> Iterator[TaskWork]:
    study = config.study
    for solver in config.solvers:
        common = _common(config, solver, config.dimension)
        for run in range(study.runs):
            yield TaskWork(
                unit=Unit(solver.label, _NO_FUNCTION, config.dimension, 1, run),
                budget=study.evaluations,
                target=-math.inf,
                task=study.task,
                episodes_at_mean=study.episodes_at_mean,
                **common,
            )


def _common(config: Experiment, solver: SolverConfig, dimension: int) -> dict[str, Any]:
    return {
        "solver": solver.name,
        "settings": solver.settings,
        "population_size": solver.population_size,
        "restarts": solver.restarts,
        "start": config.start.points(dimension),
        "sigma0": config.start.sigma0,
        "run_seed": config.seed,
        "config_digest": config.digest,
    }


def schedule(work: Sequence[Work], workers: int) -> Iterator[tuple[Work, ...]]:
    """Group work into batches for a worker, the most expensive first.

    Therefore the last units are small, and no worker is left with a large one. The order of units
    of the same cost does not depend on solver or function, so that their average time, from which
    the time left is estimated, is soon known.
    """
    total = sum(item.budget for item in work)
    limit = min(_BATCH_EVALUATIONS, total // (workers * _BATCHES_PER_WORKER))
    batch: list[Work] = []
    evaluations = 0
    for item in sorted(work, key=lambda item: (-item.cost, item.entropy)):
        if batch and evaluations + item.budget > limit:
            yield tuple(batch)
            batch, evaluations = [], 0
        batch.append(item)
        evaluations += item.budget
    if batch:
        yield tuple(batch)
