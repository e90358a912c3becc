"""The plan of an experiment: its work units, each with its own seed, and their order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from casmore.experiments.config import Config, Experiment, SolverConfig
from casmore.experiments.study import StudyConfig
from casmore.solvers.restarts import RestartPolicy

# A batch keeps a worker busy for about a second: small beside a run, large beside its dispatch.
_BATCH_EVALUATIONS = 10_000
# ... and in a small run there are still some for each worker, so that none is idle for long.
_BATCHES_PER_WORKER = 8


@dataclass(frozen=True)
class Unit:
    """The key of a work unit: one trial of one solver."""

    label: str
    function: int
    dimension: int
    instance: int
    repeat: int = 0

    @property
    def name(self) -> str:
        """Name of the unit's folder, below that of its label."""
        return f"f{self.function:03d}_d{self.dimension:02d}_i{self.instance:03d}_r{self.repeat}"

    def __str__(self) -> str:
        return f"{self.label}/{self.name}"


@dataclass(frozen=True)
class Work:
    """A unit with all a worker has to know to run it."""

    unit: Unit
    solver: str
    settings: dict[str, Any]
    population_size: int | None
    restarts: RestartPolicy
    lower: float
    upper: float
    sigma0: float
    budget: int
    run_seed: int
    config_digest: str

    @property
    def entropy(self) -> tuple[int, int]:
        """What the unit's randomness comes from: the run's seed and a hash of the unit's key.

        Neither the order of the units nor the number of workers is in it.
        """
        key = sha256(str(self.unit).encode()).digest()
        return self.run_seed, int.from_bytes(key[:16], "big")

    @property
    def seed(self) -> np.random.SeedSequence:
        """The unit's own seed."""
        return np.random.SeedSequence(self.entropy)

    @property
    def algorithm_info(self) -> str:
        """What COCO writes beside the algorithm's name; the same for all units of a label."""
        return re.sub(r"[^A-Za-z0-9_.+-]", ".", f"{self.solver}_{self.restarts}")

    @property
    def cost(self) -> int:
        """Expected cost, in arbitrary units: a step's time grows with the dimension."""
        return self.unit.dimension * self.budget


@dataclass(frozen=True)
class TracedWork(Work):
    """A unit of a study: traced, and over when the value at the mean is at most ``target``."""

    target: float


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
