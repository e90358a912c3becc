"""The plan of an experiment: its work units, each with its own seed, and their order."""

from collections.abc import Iterator, Sequence
from typing import Any

from casmore.experiments.config.base import Experiment, SolverConfig
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.study import StudyConfig
from casmore.experiments.work_unit import TracedWork, Unit, Work

# A batch keeps a worker busy for about a second: small beside a run, large beside its dispatch.
_BATCH_EVALUATIONS = 10_000
# ... and in a small run there are still some for each worker, so that none is idle for long.
_BATCHES_PER_WORKER = 8


def make_plan(config: Experiment) -> tuple[Work, ...]:
    """Return all units of an experiment, each solver's in the order COCO itself would take."""
    match config:
        case Config():
            return tuple(_bbob_plan(config))
        case StudyConfig():
            return tuple(_study_plan(config))
    raise TypeError(f"there is no plan for {type(config).__name__}")


def _bbob_plan(config: Config) -> Iterator[Work]:
    for solver in config.solvers:
        common = _common(config, solver)
        for dimension in config.suite.dimensions:
            for function in config.suite.functions:
                for instance, repeat in config.suite.trials:
                    yield Work(
                        unit=Unit(solver.label, function, dimension, instance, repeat),
                        budget=dimension * config.budget.evaluations_per_dimension,
                        **common,
                    )


def _study_plan(config: StudyConfig) -> Iterator[TracedWork]:
    study = config.study
    for solver in config.solvers:
        common = _common(config, solver)
        for function in study.functions:
            for run in range(study.runs):
                yield TracedWork(
                    unit=Unit(solver.label, function, study.dimension, study.instance, run),
                    budget=study.evaluations,
                    target=study.target,
                    **common,
                )


def _common(config: Experiment, solver: SolverConfig) -> dict[str, Any]:
    return {
        "solver": solver.name,
        "settings": solver.settings,
        "population_size": solver.population_size,
        "restarts": solver.restarts,
        "lower": config.start.lower,
        "upper": config.start.upper,
        "sigma0": config.start.sigma0,
        "run_seed": config.seed,
        "config_digest": config.digest,
    }


def schedule(work: Sequence[Work], workers: int) -> Iterator[tuple[Work, ...]]:
    """Group work into batches for a worker, the most expensive first.

    So the last units to end are small ones, and no worker is left alone with a large one. Units
    of the same cost come in an order that has nothing to do with solver or function: what they
    take on average, from which the time left is estimated, is soon known.
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
