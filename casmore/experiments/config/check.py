"""Reading and checking a config: completely, before anything starts.

Solvers' settings are tried as well, and all problems are reported at once.
"""

import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from casmore.experiments.config.base import Experiment, SolverConfig
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.messages import validation_messages
from casmore.experiments.config.study import StudyConfig
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, UniformStart


class ConfigError(ValueError):
    """The config can't be run; ``problems`` has a line for each thing that is wrong."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([f"{source} can't be run:", *(f"  {p}" for p in problems)]))


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
        What to call it in validation_messages.
    try_solvers
        Whether the solvers are tried. To look at a run, they need not even be installed.

    Raises
    ------
    ConfigError
        With all that is wrong.
    """
    kind: type[Experiment] = StudyConfig if "study" in data else Config
    problems: list[str] = []
    config = None
    try:
        config = kind.model_validate(data)
    except ValidationError as error:
        problems += validation_messages(error, kind)
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
