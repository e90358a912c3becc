"""An experiment as a TOML file, and everything that can be wrong with one.

A config is checked completely before anything starts, solvers' settings included, and all its
problems are reported at once.
"""

import json
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from casmore.experiments.complaints import complaints
from casmore.experiments.limits import cores
from casmore.experiments.ranges import parse_range
from casmore.problems import bbob
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]+")


class ConfigError(ValueError):
    """The config can't be run; ``problems`` has a line for each thing that is wrong."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([f"{source} can't be run:", *(f"  {p}" for p in problems)]))


def _known(known: Sequence[int], what: str, spelled: str) -> Any:
    def check(value: object) -> tuple[int, ...]:
        numbers = parse_range(value)
        wrong = [str(n) for n in numbers if n not in known]
        if wrong:
            raise ValueError(f"BBOB has no {what} {', '.join(wrong)}; it has {spelled}")
        return numbers

    return BeforeValidator(check)


def _instances(value: object) -> tuple[int, ...] | None:
    return None if value is None or value == "" else parse_range(value, repeats=True)


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


_FUNCTIONS = _known(bbob.FUNCTIONS, "function", "1 to 24")
_DIMENSIONS = _known(bbob.DIMENSIONS, "dimension", "2, 3, 5, 10, 20, 40")
Label = Annotated[StrictStr, BeforeValidator(_label)]


class Section(BaseModel):
    """A section of a config: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Suite(Section):
    """Which BBOB problems."""

    functions: Annotated[tuple[int, ...], _FUNCTIONS]
    dimensions: Annotated[tuple[int, ...], _DIMENSIONS]
    # after validation never None: COCO's own choice is spelled out, so that a run's record says it
    instances: Annotated[tuple[int, ...] | None, BeforeValidator(_instances)] = None
    year: Annotated[StrictInt, Field(ge=bbob.FIRST_YEAR)] | None = None

    @model_validator(mode="after")
    def _resolve_instances(self) -> Self:
        if self.instances is None or self.year is not None:
            of_year = bbob.instances_of(self.year)
            if self.instances not in (None, of_year):
                raise ValueError(
                    f"instances and year = {self.year} are both given; give one of them"
                )
            object.__setattr__(self, "instances", of_year)  # frozen: once, while being built
        elif twice := [i for i, count in Counter(self.instances).items() if count > 1]:
            raise ValueError(f"instance {twice[0]} is named twice; name each once")
        return self

    @property
    def trials(self) -> tuple[tuple[int, int], ...]:
        """Pairs of instance and repeat, in COCO's order; only 2009 repeats an instance."""
        seen: Counter[int] = Counter()
        pairs = []
        for instance in self.instances or ():
            pairs.append((instance, seen[instance]))
            seen[instance] += 1
        return tuple(pairs)


class Budget(Section):
    """When a trial ends without the final target."""

    evaluations_per_dimension: Annotated[StrictInt, Field(ge=1)]


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


class Config(Experiment):
    """An experiment on the BBOB suite, recorded by COCO."""

    suite: Suite
    budget: Budget


def load(path: Path) -> Experiment:
    """Read and check the config file ``path``.

    Raises
    ------
    ConfigError
        With all that is wrong. Nothing has been started or written.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(str(path), [f"can't read it: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), [f"not valid TOML: {error}"]) from error
    return check(data, source=str(path))


def check(
    data: dict[str, Any], *, source: str = "the config", try_solvers: bool = True
) -> Experiment:
    """Check the content of a config, of a study if it has a section ``[study]``.

    Parameters
    ----------
    data
        The content.
    source
        What to call it in complaints.
    try_solvers
        Whether the solvers are tried. To look at a run, they need not even be installed.

    Raises
    ------
    ConfigError
        With all that is wrong.
    """
    from casmore.experiments.study import StudyConfig  # which builds on this module

    kind: type[Experiment] = StudyConfig if "study" in data else Config
    problems: list[str] = []
    config = None
    try:
        config = kind.model_validate(data)
    except ValidationError as error:
        problems += complaints(error, kind)
    if try_solvers:
        problems += _solver_problems(data if config is None else config.document())
    if problems or config is None:
        raise ConfigError(source, problems)
    return config


def _solver_problems(data: dict[str, Any]) -> list[str]:
    """Try each solver that can be read at all, even where the rest of the config is wrong."""
    entries = data.get("solvers")
    labels: dict[str, str] = {}
    problems = []
    for i, entry in enumerate(entries if isinstance(entries, list) else []):
        try:
            solver = SolverConfig.model_validate(entry)
        except ValidationError:
            continue  # already complained of
        # without regard to case: labels become folders, also where those ignore it
        other = labels.setdefault(solver.label.lower(), f"solvers[{i}]")
        if other != f"solvers[{i}]":
            problems.append(
                f"solvers[{i}].label = {solver.label!r}: {other} has the same label; "
                "give each solver its own"
            )
        problems += (f"solvers[{i}]{complaint}" for complaint in _trial(solver))
    return problems


def _trial(solver: SolverConfig) -> list[str]:
    """Let the solver do one iteration on a small problem; return what it complains of."""
    try:
        factory = registry.factory(solver.name)
    except (registry.UnknownSolverError, registry.MissingDependencyError) as error:
        return [f".name: {error}"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial = Restarting(
                factory,
                UniformStart(3),
                1.0,
                policy=solver.restarts,
                population_size=solver.population_size,
                seed=1,
                settings=solver.settings,
            )
            X = trial.ask()
            trial.tell(X, np.sum(X**2, axis=1))
    except Exception as error:  # whatever a constructor raises is this config's problem
        given = {
            k: v for k, v in solver.model_dump().items() if k in ("population_size", "settings")
        }
        return [
            f": solver {solver.name!r} does not work with {given}: {type(error).__name__}: {error}"
        ]
    return []
