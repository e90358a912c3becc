"""What all experiments have: solvers, where their runs start, how the work is done."""

import json
import re
from hashlib import sha256
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from casmore.experiments.limits import cores
from casmore.solvers.restarts import RestartPolicy

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]+")


def _at_least_one(value: object) -> object:
    if value == []:
        raise ValueError("give at least one [[solvers]]")
    return value


def _label(value: object) -> object:
    if isinstance(value, str) and not _LABEL.fullmatch(value):
        raise ValueError(
            "use two or more letters, digits and _ . + - alone, a letter or digit first"
        )
    return value


def _policy(value: object) -> RestartPolicy:
    try:
        return RestartPolicy(str(value))
    except ValueError:
        raise ValueError(f"choose one of {', '.join(RestartPolicy)}") from None


Label = Annotated[StrictStr, BeforeValidator(_label)]


class Section(BaseModel):
    """A section of a config: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Start(Section):
    """Where a run starts: uniform in ``[lower, upper]^n``, with step size ``sigma0``."""

    lower: StrictFloat | StrictInt = -4.0
    upper: StrictFloat | StrictInt = 4.0
    sigma0: Annotated[StrictFloat | StrictInt, Field(gt=0)] = 2.0

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.lower < self.upper:
            raise ValueError(f"lower = {self.lower} must be less than upper = {self.upper}")
        return self


class SolverConfig(Section):
    """A solver under a label, with its settings."""

    name: StrictStr
    label: Label = ""
    restarts: Annotated[RestartPolicy, BeforeValidator(_policy)] = RestartPolicy.IPOP
    population_size: Annotated[StrictInt, Field(ge=2)] | None = None
    settings: dict[StrictStr, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _default_label(cls, data: Any) -> Any:
        if isinstance(data, dict) and "label" not in data and isinstance(data.get("name"), str):
            return {**data, "label": data["name"].rpartition(":")[2]}
        return data


class Dask(Section):
    """Where the scheduler of the ``dask`` backend is."""

    scheduler: StrictStr


class Slurm(Section):
    """What the ``slurm`` backend asks the cluster for.

    ``parameters`` are submitit's, as of its ``AutoExecutor.update_parameters``.
    """

    cluster: Literal["slurm", "local"] = "slurm"
    minutes_per_job: Annotated[StrictInt, Field(ge=1)] = 240
    parameters: dict[StrictStr, Any] = {}


class Run(Section):
    """How the work is done; nothing here changes a result.

    Attributes
    ----------
    workers
        Number of units that are run at a time.
    backend
        What spreads them: processes of this machine, dask's workers, or jobs of SLURM.
    unit_timeout
        What a unit may take, in seconds; one that takes longer has failed.
    memory_gib
        What a worker may take for its units, in GiB; a unit that wants more has failed.
    """

    workers: Annotated[StrictInt, Field(ge=1)] | None = None
    backend: Literal["loky", "dask", "slurm"] = "loky"
    unit_timeout: Annotated[StrictFloat | StrictInt, Field(gt=0)] | None = None
    memory_gib: Annotated[StrictFloat | StrictInt, Field(gt=0)] | None = None
    dask: Dask | None = None
    slurm: Slurm = Slurm()

    @model_validator(mode="after")
    def _dask_has_a_scheduler(self) -> Self:
        if self.backend == "dask" and self.dask is None:
            raise ValueError(
                'backend = "dask" needs its scheduler\'s address: [run.dask] scheduler = '
                '"tcp://host:8786"'
            )
        return self


class Experiment(Section):
    """What all experiments have: solvers, where their runs start, a seed."""

    name: Label
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    start: Start = Start()
    solvers: Annotated[tuple[SolverConfig, ...], BeforeValidator(_at_least_one)]
    run: Run = Run()

    @property
    def workers(self) -> int:
        """Number of worker processes; default: the cores this process may use."""
        return cores() if self.run.workers is None else self.run.workers

    def document(self) -> dict[str, Any]:
        """Return all that decides the results, with defaults resolved, ready for JSON."""
        return self.model_dump(mode="json", exclude={"run"})

    @property
    def digest(self) -> str:
        """A hash of ``document()``."""
        return sha256(json.dumps(self.document(), sort_keys=True).encode()).hexdigest()[:16]
