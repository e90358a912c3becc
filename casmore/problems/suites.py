"""COCO's suites of continuous single-objective functions, as far as the harness runs them."""

import difflib
from dataclasses import dataclass
from typing import NamedTuple


class Group(NamedTuple):
    """A group of a suite's functions, which have consecutive numbers."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Suite:
    """A suite of COCO.

    Attributes
    ----------
    name
        COCO's name of it.
    functions
        The numbers of its functions.
    function_names
        Their short names, in the same order.
    dimensions
        The dimensions that it has.
    groups
        Its groups of functions, as in COCO's publications.
    years
        The first and the last year that have instances; cocoex ends the process on any other one.
    noisy
        Whether the values are noisy.
    best
        The virtual best solvers whose ERTs are in ``reports/reference_data``, the newest first.
    in_archive
        Whether ``reports/reference_data`` has the ERTs of the algorithms in COCO's data archive.
    """

    name: str
    functions: range
    function_names: tuple[str, ...]
    dimensions: tuple[int, ...]
    groups: tuple[Group, ...]
    years: tuple[int, int]
    noisy: bool = False
    best: tuple[str, ...] = ()
    in_archive: bool = False

    def index(self, function: int) -> int:
        """Return COCO's index of a function, which starts at 1."""
        return self.functions.index(function) + 1

    def group_title(self, group: Group) -> str:
        """Return the heading of a group; those of a noisy suite are kinds of noise."""
        return group.name if self.noisy else f"{group.name} functions"

    def title(self, function: int) -> str:
        """Return ``"f8 Rosenbrock"``, for example."""
        return f"f{function} {self.function_names[self.functions.index(function)]}"

    def members(self, group: str) -> range:
        """Return the functions of a group."""
        (found,) = (g for g in self.groups if g.name == group)
        return range(found.first, found.last + 1)

    def group_of(self, function: int) -> str:
        """Return the name of a function's group.

        Raises
        ------
        ValueError
            If the suite has no such function.
        """
        for name, first, last in self.groups:
            if first <= function <= last:
                return name
        raise ValueError(
            f"function {function}: {self.name} has functions {self.functions[0]} to "
            f"{self.functions[-1]}"
        )


BEST_2009, BEST_2016, BEST_2019 = "best 2009", "best 2009-16", "best 2019"

_FUNCTION_NAMES = (
    "Sphere",
    "Separable ellipsoid",
    "Separable Rastrigin",
    "Büche-Rastrigin",
    "Linear slope",
    "Attractive sector",
    "Step ellipsoid",
    "Rosenbrock",
    "Rotated Rosenbrock",
    "Ellipsoid",
    "Discus",
    "Bent cigar",
    "Sharp ridge",
    "Different powers",
    "Rastrigin",
    "Weierstrass",
    "Schaffer F7, cond. 10",
    "Schaffer F7, cond. 1000",
    "Griewank-Rosenbrock",
    "Schwefel",
    "Gallagher 101 peaks",
    "Gallagher 21 peaks",
    "Katsuura",
    "Lunacek bi-Rastrigin",
)
_GROUPS = (
    Group("separable", 1, 5),
    Group("moderate", 6, 9),
    Group("ill-conditioned", 10, 14),
    Group("multi-modal", 15, 19),
    Group("weakly structured", 20, 24),
)
# each with Gaussian, uniform and Cauchy noise
_NOISY_FUNCTIONS = (
    "Sphere, moderate",
    "Rosenbrock, moderate",
    "Sphere,",
    "Rosenbrock,",
    "Step ellipsoid,",
    "Ellipsoid,",
    "Different powers,",
    "Schaffer F7,",
    "Griewank-Rosenbrock,",
    "Gallagher,",
)
_SMALL = (2, 3, 5, 10, 20, 40)

BBOB = Suite(
    "bbob",
    range(1, 25),
    _FUNCTION_NAMES,
    _SMALL,
    _GROUPS,
    years=(2009, 9999),
    best=(BEST_2016, BEST_2009),
    in_archive=True,
)
NOISY = Suite(
    "bbob-noisy",
    range(101, 131),
    tuple(f"{f} {noise}" for f in _NOISY_FUNCTIONS for noise in ("Gaussian", "uniform", "Cauchy")),
    _SMALL,
    (
        Group("moderate noise", 101, 106),
        Group("severe noise", 107, 121),
        Group("severe noise, multi-modal", 122, 130),
    ),
    years=(2009, 2009),
    noisy=True,
    best=(BEST_2016, BEST_2009),
)
LARGESCALE = Suite(
    "bbob-largescale",
    range(1, 25),
    _FUNCTION_NAMES,
    (20, 40, 80, 160, 320, 640),
    _GROUPS,
    years=(2009, 9999),
    best=(BEST_2019,),
)
BOXED = Suite(
    "bbob-boxed",
    range(1, 25),
    _FUNCTION_NAMES,
    _SMALL,
    _GROUPS,
    years=(2023, 2023),
)
SUITES = {suite.name: suite for suite in (BBOB, NOISY, LARGESCALE, BOXED)}


def find(name: object) -> Suite:
    """Return the suite of this name.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    if isinstance(name, str) and name in SUITES:
        return SUITES[name]
    near = difflib.get_close_matches(str(name), SUITES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"there is no suite {name!r}{hint} (known: {', '.join(SUITES)})")
