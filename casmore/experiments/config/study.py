"""A study as a TOML file: variants of solvers on analytic functions, with traces.

An experiment with a section ``[study]`` in place of ``[suite]`` and ``[budget]``. Its solvers may
be listed or generated: ``[[grids]]`` combines the values of some settings (a grid search),
``[[variations]]`` multiplies one default at a time (a sensitivity study).
"""

import itertools
import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, model_validator

from casmore.algorithms.cas_more import CasMoreParameters
from casmore.experiments.config.base import (
    TOML,
    Experiment,
    Finite,
    Label,
    Section,
    Settings,
    SolverConfig,
    StartConfig,
    check_number_of_units,
    tables,
)
from casmore.experiments.config.ranges import parse_range
from casmore.problems.analytic import FUNCTIONS
from casmore.solvers.restarts import RestartPolicy

_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.+-]")


def _functions(value: object) -> tuple[int, ...]:
    numbers = parse_range(value)
    if wrong := [str(n) for n in numbers if n not in FUNCTIONS]:
        known = ", ".join(map(str, FUNCTIONS))
        raise ValueError(f"there is no analytic function {', '.join(wrong)}; there are {known}")
    return numbers


class Study(Section):
    """Functions, number of runs, and stopping criteria.

    Attributes
    ----------
    functions
        Numbers of BBOB functions available in `casmore.problems.analytic`.
    dimension
        Dimension of the functions.
    instance
        Their instance, numbered as in COCO.
    runs
        Number of runs of each variant on each function, each with its own seed.
    evaluations
        Budget of a run.
    target
        Value at the mean at which a run ends; the optimal value is 0.
    """

    functions: Annotated[tuple[int, ...], BeforeValidator(_functions)]
    dimension: Annotated[StrictInt, Field(ge=2, le=99)]
    instance: Annotated[StrictInt, Field(ge=1, le=999)] = 1
    runs: Annotated[StrictInt, Field(ge=1)]
    evaluations: Annotated[StrictInt, Field(ge=1, le=10**12)]
    target: Annotated[Finite, Field(gt=0)] = 1e-8


class Grid(Section):
    """All combinations of the values of some settings."""

    name: StrictStr
    label: Label
    values: Annotated[dict[StrictStr, Annotated[list[Any], Field(min_length=1)]], TOML]
    settings: Settings = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_number_of_units(math.prod(len(values) for values in self.values.values()))
        return self

    def solvers(self) -> Iterator[SolverConfig]:
        """Return a solver for each combination."""
        for values in itertools.product(*self.values.values()):
            chosen = dict(zip(self.values, values, strict=True))
            label = "_".join([self.label, *(f"{k}-{v}" for k, v in chosen.items())])
            yield _solver(self.name, _NOT_IN_LABELS.sub(".", label), {**self.settings, **chosen})


class Variation(Section):
    """CAS-MORE with one default at a time multiplied by each of the factors."""

    label: Label
    defaults: Annotated[tuple[StrictStr, ...], Field(min_length=1)]
    factors: Annotated[tuple[Annotated[Finite, Field(gt=0, le=1e6)], ...], Field(min_length=1)]

    def solvers(self, dimension: int) -> Iterator[SolverConfig]:
        """Return a solver with the defaults, and one for each changed default.

        Raises
        ------
        ValueError
            If there is no such setting, or it is not a number.
        """
        settings = CasMoreParameters.default(dimension)
        yield _solver("cas-more", self.label, {})
        for name, factor in itertools.product(self.defaults, self.factors):
            default = getattr(settings, name, None)
            if isinstance(default, bool) or not isinstance(default, int | float):
                raise ValueError(f"CAS-MORE has no setting {name!r} that is a number")
            value = math.ceil(default * factor) if isinstance(default, int) else default * factor
            label = f"{self.label}_{name}_x{factor:g}"
            if name == "population_size":  # a separate argument: the queue grows with it
                yield _solver("cas-more", label, {}, population_size=int(value))
            else:
                yield _solver("cas-more", label, {name: value})


class VariantsConfig(Experiment):
    """Base of all studies; the document lists the solvers of grids and variations."""

    solvers: Annotated[tuple[SolverConfig, ...], tables("solvers")] = ()
    grids: Annotated[tuple[Grid, ...], tables("grids")] = ()
    variations: Annotated[tuple[Variation, ...], tables("variations")] = ()

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension of the objective."""

    @property
    @abstractmethod
    def runs_of_a_variant(self) -> int:
        """Number of units of each solver."""

    @model_validator(mode="after")
    def _expand(self) -> Self:
        made = [
            *self.solvers,
            *(solver for grid in self.grids for solver in grid.solvers()),
            *(s for variation in self.variations for s in variation.solvers(self.dimension)),
        ]
        if not made:
            raise ValueError("give at least one of [[solvers]], [[grids]], [[variations]]")
        check_number_of_units(len(made) * self.runs_of_a_variant)
        object.__setattr__(self, "solvers", tuple(made))  # frozen: once, while being built
        return self

    def document(self) -> dict[str, Any]:
        """Return everything that the results depend on, including defaults, as TOML values."""
        return self.model_dump(exclude={"run", "grids", "variations"})


class StudyConfig(VariantsConfig):
    """A study on analytic functions."""

    study: Study
    start: StartConfig = StartConfig()

    @property
    def dimension(self) -> int:
        """Dimension of the functions."""
        return self.study.dimension

    @property
    def runs_of_a_variant(self) -> int:
        """Number of units of each solver."""
        return len(self.study.functions) * self.study.runs


def _solver(
    name: str, label: str, settings: dict[str, Any], population_size: int | None = None
) -> SolverConfig:
    return SolverConfig(
        name=name,
        label=label,
        restarts=RestartPolicy.NONE,
        population_size=population_size,
        settings=settings,
    )
