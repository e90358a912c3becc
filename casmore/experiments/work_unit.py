"""A work unit: its key, and all information that a worker needs to run it."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from casmore.solvers.restarts import RestartPolicy, Start

NOISE_OFFSETS = 4096  # the number of places at which the noise of a trial may begin
_LONGEST_INFO = 40  # COCO ends the process if its options are too long


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
    """A unit with all information that a worker needs to run it."""

    unit: Unit
    solver: str
    settings: dict[str, Any]
    population_size: int | None
    restarts: RestartPolicy
    start: Start
    sigma0: float
    budget: int
    run_seed: int
    config_digest: str

    @property
    def entropy(self) -> tuple[int, int]:
        """Entropy of the unit's seed: the run's seed and a hash of the unit's key.

        It depends neither on the order of the units nor on the number of workers.
        """
        key = sha256(str(self.unit).encode()).digest()
        return self.run_seed, int.from_bytes(key[:16], "big")

    @property
    def seed(self) -> np.random.SeedSequence:
        """The unit's own seed."""
        return np.random.SeedSequence(self.entropy)

    @property
    def algorithm_info(self) -> str:
        """The info that COCO writes next to the algorithm's name; the same for a whole label."""
        return re.sub(r"[^A-Za-z0-9_.+-]", ".", f"{self.solver}_{self.restarts}")[-_LONGEST_INFO:]

    @property
    def cost(self) -> int:
        """Expected cost, in arbitrary units; the time of a step grows with the dimension."""
        return self.unit.dimension * self.budget


@dataclass(frozen=True)
class ObservedWork(Work):
    """A trial on a suite of COCO, which is logged by COCO's observer."""

    suite: str

    @property
    def noise_offset(self) -> int:
        """Where the trial begins in COCO's random numbers, if the suite is noisy."""
        (number,) = np.random.SeedSequence([*self.entropy, 1]).generate_state(1)
        return int(number % NOISE_OFFSETS)


@dataclass(frozen=True)
class TracedWork(Work):
    """A unit of a study, which is traced and ends when the value at the mean is <= ``target``."""

    target: float


@dataclass(frozen=True)
class TaskWork(TracedWork):
    """A unit of a study on an episodic task."""

    task: str
    episodes_at_mean: int

    @property
    def noise(self) -> np.random.SeedSequence:
        """The seed of the episodes, independent of the solver's."""
        return np.random.SeedSequence([*self.entropy, 1])
