"""The ranking of solvers among the algorithms of COCO's data archive.

In each dimension n the score of a solver is the mean, over the suite's functions and the targets
1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5 and 1e-7, of

    1 - log10(ERT / n) / 4,   with ERT / n clipped to [1, 10^4], and 0 for a target never reached.

So 1 is to reach every target with the first n evaluations, and a factor of 10 in evaluations is
worth 0.25. A function without data scores 0.

The archive's algorithms are known on the suite bbob. On other suites solvers are only compared with
virtual best solvers, if there are any.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from casmore.problems.suites import BBOB, Suite
from casmore.reports import references
from casmore.reports.runtimes import ERT_ROWS, Runtimes, dimensions, solvers, suite_of

CMA_ES = "2009 BIPOP-CMA-ES"
_WORST = 1e4  # ERT / n from which on a target is worth nothing
Points = Mapping[int, float]  # by function


@dataclass(frozen=True)
class Entrant:
    """A solver, an algorithm of the archive, or a virtual best one, in one dimension.

    Attributes
    ----------
    name
        What it is called.
    points
        The mean over the targets, by function; a function without data is missing.
    suite
        The suite.
    """

    name: str
    points: Points
    suite: Suite = BBOB

    @property
    def score(self) -> float:
        """The mean over the suite's functions, in [0, 1]."""
        return sum(self.points.values()) / len(self.suite.functions)

    @property
    def missing(self) -> list[int]:
        """The functions without data."""
        return [f for f in self.suite.functions if f not in self.points]


@dataclass(frozen=True)
class Standing:
    """The league in one dimension.

    Attributes
    ----------
    suite
        The suite.
    dimension
        The dimension.
    solvers
        The solvers of the data, in their order; not all need to have been run in this dimension.
    ours
        Those of them that have, in the same order.
    archive
        The archive's algorithms, the best first; empty if they are not known.
    references
        What the solvers are shown beside: the archive's best on each function, the virtual best
        solvers, the archive's best algorithm, and CMA-ES.
    """

    suite: Suite
    dimension: int
    solvers: tuple[str, ...]
    ours: tuple[Entrant, ...]
    archive: tuple[Entrant, ...]
    references: tuple[Entrant, ...]

    def rank(self, entrant: Entrant) -> int | None:
        """Return 1 plus the number of the archive's algorithms with a larger score."""
        if not self.archive:
            return None
        return 1 + sum(other.score > entrant.score for other in self.archive)

    @property
    def places(self) -> int:
        """The number of places: the archive's algorithms and the solver."""
        return len(self.archive) + 1


def points(ert: NDArray[np.float64], dimension: int) -> float:
    """Return the mean over targets of 1 - log10(ERT / n) / 4; defined at the top of this file.

    Parameters
    ----------
    ert
        ERT to the seven targets, in evaluations; infinite if not reached.
    dimension
        n.
    """
    return float(np.mean(1 - np.log10(np.clip(ert / dimension, 1.0, _WORST)) / 4))


def standings(runtimes: Sequence[Runtimes]) -> list[Standing]:
    """Return the league in each dimension of the data, ascending.

    Parameters
    ----------
    runtimes
        The trials of solvers on one suite.

    Raises
    ------
    ValueError
        If there are no trials, or trials on several suites.
    """
    suite, names = suite_of(runtimes), tuple(solvers(runtimes))
    return [
        Standing(
            suite,
            n,
            solvers=names,
            ours=tuple(_entrant(runtimes, solver, n) for solver in _present(runtimes, n)),
            archive=_archive(n) if suite.in_archive else (),
            references=_references(suite, n),
        )
        for n in dimensions(runtimes)
    ]


def _present(runtimes: Sequence[Runtimes], n: int) -> list[str]:
    return solvers([r for r in runtimes if r.dimension == n])


def _entrant(runtimes: Sequence[Runtimes], solver: str, n: int) -> Entrant:
    own = [r for r in runtimes if (r.solver, r.dimension) == (solver, n)]
    by_function = {r.function: points(r.ert[ERT_ROWS], n) for r in own}
    return Entrant(solver, by_function, suite_of(runtimes))


@cache
def _archive(n: int) -> tuple[Entrant, ...]:
    entrants = [
        Entrant(name, {f: points(ert, n) for f, ert in own.items()})
        for name, own in references.archive()[n].items()
    ]
    return tuple(sorted(entrants, key=lambda entrant: -entrant.score))


@cache
def _references(suite: Suite, n: int) -> tuple[Entrant, ...]:
    archive = _archive(n) if suite.in_archive else ()
    found = []
    if archive:
        of_each = {f: max(e.points.get(f, 0.0) for e in archive) for f in suite.functions}
        found.append(Entrant("best of each function", of_each, suite))
    for name in suite.best:
        best = references.best(suite, name)
        by_function = {f: points(best[n, f][ERT_ROWS], n) for f in suite.functions}
        found.append(Entrant(name, by_function, suite))
    found += archive[:1]
    found += [e for e in archive[1:] if e.name.startswith(CMA_ES)][:1]
    return tuple(found)


def title(found: Sequence[Standing]) -> str:
    """Return the title of the places."""
    suite = found[0].suite
    if suite.in_archive:
        return "Among the algorithms of COCO's data archive"
    return f"Scores on {suite.name}"


def headings(found: Sequence[Standing]) -> tuple[str, ...]:
    """Return the headings of ``cells``."""
    suite = found[0].suite
    if suite.in_archive:
        return ("n", "solver", "score", "rank", "record", *suite.best, "CMA-ES")
    return ("n", "solver", "score", *suite.best)


def cells(standing: Standing, entrant: Entrant) -> tuple[str, ...]:
    """Return the place of a solver as text, in the order of ``headings``."""
    beside = {reference.name: reference.score for reference in standing.references}
    own = (
        str(standing.dimension),
        entrant.name + (" *" if entrant.missing else ""),
        f"{entrant.score:.3f}",
    )
    best = (f"{beside[name]:.3f}" for name in standing.suite.best)
    if not standing.archive:
        return (*own, *best)
    rank = f"{standing.rank(entrant)} / {standing.places}"
    cma_es = next((s for name, s in beside.items() if name.startswith(CMA_ES)), float("nan"))
    return (*own, rank, f"{standing.archive[0].score:.3f}", *best, f"{cma_es:.3f}")


def notes(found: Sequence[Standing]) -> list[str]:
    """Return the notes below the places: who holds the records, which functions are missing."""
    records = ", ".join(f"{s.archive[0].name} ({s.dimension}-D)" for s in found if s.archive)
    lines = [f"Records: {records}; CMA-ES: {CMA_ES} (Hansen)."] if records else []
    lines += [
        f"* {entrant.name} in {standing.dimension}-D has data of "
        f"{', '.join(f'f{f}' for f in sorted(entrant.points))} only; the others score 0."
        for standing in found
        for entrant in standing.ours
        if entrant.missing
    ]
    return lines


def function_rows(standing: Standing) -> list[list[str]]:
    """Return a row for each solver and reference: name, score, rank, and 100 points a function."""
    rows = []
    for entrant in (*standing.ours, *standing.references):
        known = [
            f"{100 * entrant.points[f]:.0f}" if f in entrant.points else ""
            for f in standing.suite.functions
        ]
        rank = [f"{standing.rank(entrant)}"] if standing.archive else []
        rows.append([entrant.name, f"{entrant.score:.3f}", *rank, *known])
    return rows


def function_headings(found: Sequence[Standing]) -> list[str]:
    """Return the headings of ``function_rows``."""
    suite = found[0].suite
    rank = ["rank"] if suite.in_archive else []
    return ["", "score", *rank, *(f"f{f}" for f in suite.functions)]


def table_csv(found: Sequence[Standing]) -> str:
    """Return the scores and the points of each function, of solvers and references, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    functions = found[0].suite.functions
    writer.writerow(["dimension", "name", "score", "rank", "places", *(f"f{f}" for f in functions)])
    for s in found:
        places = s.places if s.archive else None
        for e in (*s.ours, *s.references):
            own = [f"{e.points[f]:.4f}" if f in e.points else "" for f in functions]
            writer.writerow([s.dimension, e.name, f"{e.score:.4f}", s.rank(e), places, *own])
    return text.getvalue()
