"""Read and check a config completely before anything starts.

Each solver is tried with its settings, and all problems are reported at once.
"""

import copy
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from casmore.experiments.config.base import Experiment, FixedStartConfig, SolverConfig, StartConfig
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.messages import validation_messages
from casmore.experiments.config.study import StudyConfig, VariantsConfig
from casmore.experiments.config.task_study import TaskStudyConfig, task_problems
from casmore.solvers import registry
from casmore.solvers.protocol import SolverFactory
from casmore.solvers.restarts import Restarting


class ConfigError(ValueError):
    """The config can't be run; ``problems`` has a line for each problem."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([f"{source} can't be run:", *(f"  {p}" for p in problems)]))


def load(path: Path) -> Experiment:
    """Read and check the config file ``path``.

    Raises
    ------
    ConfigError
        With all problems. Nothing has been started or written.
    """
    try:
        # Windows editors may add a byte-order mark
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(str(path), [f"can't read it: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), [f"not encoded in UTF-8, as TOML is: {error}"]) from error
    except RecursionError as error:
        raise ConfigError(str(path), ["not valid TOML: nested too deeply"]) from error
    except ValueError as error:
        raise ConfigError(str(path), [f"not valid TOML: {error}"]) from error
    return check(data, source=str(path))


def check(
    data: dict[str, Any], *, source: str = "the config", try_solvers: bool = True
) -> Experiment:
    """Check the content of a config, which is a study if it has a section ``[study]``.

    Parameters
    ----------
    data
        The content, as TOML values.
    source
        Its name in messages.
    try_solvers
        Whether to try the solvers. To read a run, they need not be installed.

    Raises
    ------
    ConfigError
        With all problems.
    """
    kind = _kind(data)
    problems: list[str] = []
    config = None
    try:
        config = kind.model_validate(data)
    except ValidationError as error:
        problems += validation_messages(error, kind)
    if try_solvers:
        if isinstance(config, TaskStudyConfig):
            problems += task_problems(config)
        problems += _solver_problems(data, config)
    if problems or config is None:
        raise ConfigError(source, problems)
    return config


def _kind(data: dict[str, Any]) -> type[Experiment]:
    study = data.get("study")
    if study is None:
        return Config
    return TaskStudyConfig if isinstance(study, dict) and "task" in study else StudyConfig


def _solver_problems(data: dict[str, Any], config: Experiment | None) -> list[str]:
    """Try each solver that can be parsed, even if other parts of the config are invalid."""
    labels: dict[str, str] = {}
    problems = []
    for where, solver in _solvers(data, config):
        # case-insensitive: labels become folders, also on case-insensitive file systems
        other = labels.setdefault(solver.label.lower(), where)
        if other != where:
            problems.append(
                f"{where}.label = {solver.label!r}: {other} has the same label; give each solver "
                "its own"
            )
        problems += (f"{where}{message}" for message in _trial(solver, config))
    return problems


def _solvers(data: dict[str, Any], config: Experiment | None) -> Iterator[tuple[str, SolverConfig]]:
    if config is not None:
        yield from ((f"solvers[{i}]", solver) for i, solver in enumerate(config.solvers))
        return
    entries = data.get("solvers")
    for i, entry in enumerate(entries if isinstance(entries, list | tuple) else []):
        try:
            yield f"solvers[{i}]", SolverConfig.model_validate(entry)
        except ValidationError:
            continue  # already reported


def _trial(solver: SolverConfig, config: Experiment | None) -> list[str]:
    """Run one iteration of the solver in each of the config's dimensions; return the problems."""
    try:
        factory = registry.factory(solver.name)
    except (registry.UnknownSolverError, registry.MissingDependencyError) as error:
        return [f".name: {error}"]
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        return [f".name = {solver.name!r}: importing it fails: {type(error).__name__}: {error}"]
    for n in _dimensions(config):
        try:
            _iterate(factory, solver, config.start if config else StartConfig(), n)
        except (Exception, SystemExit) as error:  # so may its constructor
            return [_refusal(solver, n, error)]
    return []


def _iterate(
    factory: SolverFactory, solver: SolverConfig, start: StartConfig | FixedStartConfig, n: int
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = Restarting(
            factory,
            start.points(n),
            start.sigma0,
            policy=solver.restarts,
            population_size=solver.population_size,
            seed=1,
            settings=copy.deepcopy(solver.settings),
        )
        X = trial.ask()
        trial.tell(X, np.sum(X**2, axis=1))
        trial.stop()


def _dimensions(config: Experiment | None) -> Sequence[int]:
    match config:
        case Config():
            return config.suite.dimensions
        case VariantsConfig():
            return (config.dimension,)
    return (3,)


def _refusal(solver: SolverConfig, n: int, error: BaseException) -> str:
    """Return a solver's error as a message about the key that it names, if it names one."""
    message = str(error)
    given = {"population_size": solver.population_size} if solver.population_size else {}
    named, must_be, wanted = message.partition(" must be ")
    for path, values in ((".settings", solver.settings), ("", given)):
        for key, value in values.items():
            if must_be and named.startswith(f"{key} = "):
                return f"{path}.{key} = {value!r}: must be {wanted}"
    settings = {**given, **({"settings": solver.settings} if solver.settings else {})}
    with_them = f" with {settings}" if settings else ""
    return (
        f": solver {solver.name!r} does not work{with_them} in {n}-D: "
        f"{type(error).__name__}: {message}"
    )
