"""An experiment on one of COCO's suites, recorded by COCO."""

from collections import Counter
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    ValidationInfo,
    model_validator,
)

from casmore.experiments.config.base import Experiment, Section, StartConfig, check_number_of_units
from casmore.experiments.config.ranges import parse_range
from casmore.problems import bbob, suites

# COCO ends the process if its options, which include labels and folders, are too long
_LONGEST_LABEL = 40


def _of_suite(attribute: str, what: str) -> Any:
    """Return a validator of numbers that the suite must have."""

    def check(value: object, info: ValidationInfo) -> tuple[int, ...]:
        numbers = parse_range(value)
        if "name" not in info.data:  # which is reported itself
            return numbers
        suite = suites.find(info.data["name"])
        known = getattr(suite, attribute)
        wrong = [str(n) for n in numbers if n not in known]
        if wrong:
            consecutive = len(known) == known[-1] - known[0] + 1
            listed = f"{known[0]} to {known[-1]}" if consecutive else ", ".join(map(str, known))
            raise ValueError(f"{suite.name} has no {what} {', '.join(wrong)}; it has {listed}")
        return numbers

    return BeforeValidator(check)


def _name(value: object) -> str:
    return suites.find(value).name


def _year(value: int, info: ValidationInfo) -> int:
    if "name" in info.data:
        bbob.instances_of(suites.find(info.data["name"]), value)
    return value


def _instances(value: object) -> tuple[int, ...] | None:
    return None if value is None or value == "" else parse_range(value, repeats=True)


class Suite(Section):
    """The problems of an experiment: part of a suite of COCO."""

    name: Annotated[StrictStr, BeforeValidator(_name)] = suites.BBOB.name
    functions: Annotated[tuple[int, ...], _of_suite("functions", "function")]
    dimensions: Annotated[tuple[int, ...], _of_suite("dimensions", "dimension")]
    # never None after validation: the record of a run includes COCO's default instances
    instances: Annotated[tuple[int, ...] | None, BeforeValidator(_instances)] = None
    year: Annotated[StrictInt, AfterValidator(_year)] | None = None

    @model_validator(mode="after")
    def _resolve_instances(self) -> Self:
        if self.instances is None or self.year is not None:
            of_year = bbob.instances_of(suites.find(self.name), self.year)
            if self.instances not in (None, of_year):
                raise ValueError(
                    f"instances and year = {self.year} are both given; give one of them"
                )
            object.__setattr__(self, "instances", of_year)  # frozen: once, while being built
        elif twice := [i for i, count in Counter(self.instances).items() if count > 1]:
            raise ValueError(f"instance {twice[0]} is given twice; give each once")
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
    """Number of evaluations after which a trial ends without reaching the final target."""

    evaluations_per_dimension: Annotated[StrictInt, Field(ge=1, le=10**9)]


class Config(Experiment):
    """An experiment on one of COCO's suites, recorded by COCO."""

    start: StartConfig = StartConfig()
    suite: Suite
    budget: Budget

    @model_validator(mode="after")
    def _fits(self) -> Self:
        suite = self.suite
        cells = len(suite.functions) * len(suite.dimensions) * len(suite.trials)
        check_number_of_units(len(self.solvers) * cells)
        for solver in self.solvers:
            if len(solver.label) > _LONGEST_LABEL:
                raise ValueError(
                    f"the label {solver.label!r} is too long for COCO; use at most "
                    f"{_LONGEST_LABEL} characters"
                )
        return self

    def document(self) -> dict[str, Any]:
        """Return everything that the results depend on, including defaults, as TOML values."""
        document = super().document()
        if self.suite.name == suites.BBOB.name:  # not named in the records of older runs
            del document["suite"]["name"]
        return document
