"""An experiment on the BBOB suite, recorded by COCO."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StrictInt, model_validator

from casmore.experiments.config.base import Experiment, Section, StartConfig, check_number_of_units
from casmore.experiments.config.ranges import parse_range
from casmore.problems import bbob

# COCO ends the process if its options, which include labels and folders, are too long
_LONGEST_LABEL = 40


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


_FUNCTIONS = _known(bbob.FUNCTIONS, "function", "1 to 24")
_DIMENSIONS = _known(bbob.DIMENSIONS, "dimension", "2, 3, 5, 10, 20, 40")


class Suite(Section):
    """The BBOB problems of an experiment."""

    functions: Annotated[tuple[int, ...], _FUNCTIONS]
    dimensions: Annotated[tuple[int, ...], _DIMENSIONS]
    # never None after validation: the record of a run includes COCO's default instances
    instances: Annotated[tuple[int, ...] | None, BeforeValidator(_instances)] = None
    year: Annotated[StrictInt, Field(ge=bbob.FIRST_YEAR, le=9999)] | None = None

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
    """An experiment on the BBOB suite, recorded by COCO."""

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
