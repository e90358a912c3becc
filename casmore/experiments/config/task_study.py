"""A study on an episodic task as a TOML file: ``task`` instead of ``functions``.

By default, the initial mean and step size are those of the task.
"""

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, model_validator

from casmore.experiments.config.base import FixedStartConfig, Section
from casmore.experiments.config.study import VariantsConfig
from casmore.problems.episodic import tasks


class TaskStudy(Section):
    """Task, number of runs, and length of a run.

    Attributes
    ----------
    task
        A task of the paper, by the id of its environment, or ``module:attribute`` of a
        `casmore.problems.episodic.Task`.
    runs
        Number of runs of each variant, each with its own seed.
    evaluations
        Number of episodes of a run.
    episodes_at_mean
        Number of episodes that estimate the expected return of the mean after each iteration.
        Solvers do not see them, and they do not count in ``evaluations``.
    """

    task: StrictStr
    runs: Annotated[StrictInt, Field(ge=1)]
    evaluations: Annotated[StrictInt, Field(ge=1, le=10**12)]
    episodes_at_mean: Annotated[StrictInt, Field(ge=1, le=10**6)] = 1


class TaskStudyConfig(VariantsConfig):
    """A study on a task."""

    study: TaskStudy
    start: FixedStartConfig

    @model_validator(mode="before")
    @classmethod
    def _start_of_the_task(cls, data: Any) -> Any:
        study, start = data.get("study"), data.get("start", {})
        name = study.get("task") if isinstance(study, dict) else None
        if isinstance(name, str) and isinstance(start, dict) and not {"mean", "sigma0"} <= {*start}:
            task = _find(name)
            return {**data, "start": {"mean": list(task.mean), "sigma0": task.sigma0, **start}}
        return data

    @property
    def dimension(self) -> int:
        """Number of weights."""
        return len(self.start.mean)

    @property
    def runs_of_a_variant(self) -> int:
        """Number of units of each solver."""
        return self.study.runs


def _find(name: str) -> tasks.Task:
    try:
        return tasks.find(name)
    except ValueError:
        raise
    except Exception as error:  # whatever a module of the user's raises
        if isinstance(error, ModuleNotFoundError) and error.name != name.partition(":")[0]:
            raise  # the command line says what to install
        raise ValueError(f"study.task = {name!r}: {type(error).__name__}: {error}") from error


def task_problems(config: TaskStudyConfig) -> list[str]:
    """Build the task and compare its dimension; return the problems."""
    name = config.study.task
    try:
        dimension = tasks.find(name).objective(seed=0).dimension
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        return [f"study.task = {name!r}: {error}"]
    if dimension != config.dimension:
        return [f"start.mean: the task has {dimension} weights, not {config.dimension}"]
    return []
