"""The sections common to all experiments: solvers, starting points, execution."""

import math
import re
from hashlib import sha256
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from casmore.experiments.limits import cores
from casmore.experiments.store.toml_values import canonical, to_json
from casmore.solvers import restarts
from casmore.solvers.restarts import RestartPolicy

# part of folder names, which file systems limit to 255 bytes
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{1,99}")
_ARGUMENTS = {
    "population_size": "write it beside the solver's name",
    "seed": "write it at the top of the config, for the whole run",
    "sigma0": "write it in [start]",
    "target": "a run ends at the target of its suite or study",
    "x0": "write [start], from which each run draws its starting point",
}
_YEAR = 366 * 24 * 3600
_MOST_UNITS = 1_000_000


def tables(name: str) -> BeforeValidator:
    """Return a validator that refuses a single table instead of an array of tables."""

    def check(value: object) -> object:
        if isinstance(value, dict):
            raise ValueError(
                f"write [[{name}]], with two brackets on each side, above each of them"
            )
        return value

    return BeforeValidator(check)


def _at_least_one(value: object) -> object:
    if value == []:
        raise ValueError("give at least one [[solvers]]")
    return value


def _label(value: object) -> object:
    if isinstance(value, str) and not _LABEL.fullmatch(value):
        raise ValueError(
            "use 2 to 100 characters: letters, digits and _ . + -, a letter or digit first"
        )
    return value


def _toml(value: Any) -> Any:
    try:
        to_json(value)
    except TypeError as error:  # pydantic would not report it as a validation error
        raise ValueError(str(error)) from error
    return value


def _policy(value: object) -> RestartPolicy:
    try:
        return RestartPolicy(str(value))
    except ValueError:
        raise ValueError(f"choose one of {', '.join(RestartPolicy)}") from None


def _no_arguments(settings: dict[str, Any]) -> dict[str, Any]:
    """Refuse settings that the run itself passes to a solver."""
    for name, place in _ARGUMENTS.items():
        if name in settings:
            raise ValueError(f"{name} is not a setting: {place}")
    return settings


Label = Annotated[StrictStr, BeforeValidator(_label)]
# a float; integers are accepted as well
Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
TOML = AfterValidator(_toml)  # refuses values that TOML does not have
Settings = Annotated[dict[StrictStr, Any], TOML]


def check_number_of_units(units: int) -> None:
    """Refuse a plan that does not fit into memory.

    Raises
    ------
    ValueError
        If there are more than a million units.
    """
    if units > _MOST_UNITS:
        raise ValueError(
            f"these are {units} units; at most {_MOST_UNITS} are allowed: split the experiment"
        )


class Section(BaseModel):
    """A section of a config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StartConfig(Section):
    """Starting points uniform in ``[lower, upper]^n``, with step size ``sigma0``."""

    lower: Finite = -4.0
    upper: Finite = 4.0
    sigma0: Annotated[Finite, Field(gt=0)] = 2.0

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.lower < self.upper:
            raise ValueError(f"lower = {self.lower} must be less than upper = {self.upper}")
        if not math.isfinite(self.upper - self.lower):
            raise ValueError(
                f"lower = {self.lower} and upper = {self.upper} are further apart than the "
                "largest number"
            )
        return self

    def points(self, dimension: int) -> restarts.UniformStart:
        """Return the starting points as a solver takes them."""
        return restarts.UniformStart(dimension, self.lower, self.upper)


class FixedStartConfig(Section):
    """The same starting point ``mean`` for every run, with step size ``sigma0``."""

    mean: Annotated[tuple[Finite, ...], Field(min_length=2)]
    sigma0: Annotated[Finite, Field(gt=0)]

    def points(self, dimension: int) -> restarts.FixedStart:
        """Return the starting points as a solver takes them."""
        return restarts.FixedStart(self.mean)


class SolverConfig(Section):
    """A solver with a label and settings."""

    name: StrictStr
    label: Label = ""
    restarts: Annotated[RestartPolicy, BeforeValidator(_policy)] = RestartPolicy.IPOP
    population_size: Annotated[StrictInt, Field(ge=2, le=10**6)] | None = None
    settings: Annotated[Settings, AfterValidator(_no_arguments)] = {}

    @model_validator(mode="before")
    @classmethod
    def _default_label(cls, data: Any) -> Any:
        if isinstance(data, dict) and "label" not in data and isinstance(data.get("name"), str):
            return {**data, "label": data["name"].rpartition(":")[2]}
        return data


class Dask(Section):
    """Settings of the ``dask`` backend: the address of its scheduler."""

    scheduler: StrictStr


class Slurm(Section):
    """Settings of the ``slurm`` backend.

    ``parameters`` are those of submitit's ``AutoExecutor.update_parameters``.
    """

    cluster: Literal["slurm", "local"] = "slurm"
    minutes_per_job: Annotated[StrictInt, Field(ge=1, le=_YEAR // 60)] = 240
    parameters: Settings = {}


class Run(Section):
    """Execution of units; only ``portable`` changes results, in their last digits.

    Attributes
    ----------
    workers
        Number of units that are run at a time.
    backend
        Where they are run: in local processes, by dask workers, or in SLURM jobs.
    unit_timeout
        Time limit of a unit, in seconds; a unit that takes longer fails. None: no limit.
    portable
        Whether workers use kernels that all x86-64 processors with AVX2 have, so that different
        machines give the same bytes.
    memory_gib
        Memory limit of a worker for its units, in GiB; a unit that needs more fails. None: no
        limit.
    """

    workers: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None
    backend: Literal["loky", "dask", "slurm"] = "loky"
    # timers of the operating system accept neither less than a microsecond nor infinity
    unit_timeout: Annotated[Finite, Field(ge=0.1, le=_YEAR)] | None = None
    # Python, NumPy and COCO need some of it themselves; an address has 47 bits
    memory_gib: Annotated[Finite, Field(ge=0.25, le=2**17)] | None = None
    portable: StrictBool = False
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
    """Base of all experiments: name, seed, starting points, solvers."""

    name: Label
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    start: StartConfig | FixedStartConfig = StartConfig()
    solvers: Annotated[tuple[SolverConfig, ...], tables("solvers"), BeforeValidator(_at_least_one)]
    run: Run = Run()

    @property
    def workers(self) -> int:
        """Number of worker processes; default: the number of cores this process may use."""
        return cores() if self.run.workers is None else self.run.workers

    def document(self) -> dict[str, Any]:
        """Return everything that the results depend on, including defaults, as TOML values."""
        return self.model_dump(exclude={"run"})

    @property
    def digest(self) -> str:
        """A hash of ``document()``."""
        return sha256(canonical(self.document()).encode()).hexdigest()[:16]
