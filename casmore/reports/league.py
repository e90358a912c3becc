"""The ranking of solvers among the algorithms of COCO's data archive.

In each dimension n the score of a solver is the mean, over the 24 BBOB functions and the targets
1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5 and 1e-7, of

    1 - log10(ERT / n) / 4,   with ERT / n clipped to [1, 10^4], and 0 for a target never reached.

So 1 is to reach every target with the first n evaluations, and a factor of 10 in evaluations is
worth 0.25. A function without data scores 0.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from casmore.reports import references
from casmore.reports.runtimes import ERT_ROWS, Runtimes, dimensions, solvers

FUNCTIONS = range(1, 25)
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
    """

    name: str
    points: Points

    @property
    def score(self) -> float:
        """The mean over the 24 functions, in [0, 1]."""
        return sum(self.points.values()) / len(FUNCTIONS)

    @property
    def missing(self) -> list[int]:
        """The functions without data."""
        return [f for f in FUNCTIONS if f not in self.points]


@dataclass(frozen=True)
class Standing:
    """The league in one dimension.

    Attributes
    ----------
    dimension
        The dimension.
    ours
        The run's solvers, in their order.
    archive
        The archive's algorithms, the best first.
    references
        What the solvers are shown beside: the archive's best on each function, the virtual best
        solvers of 2009 and of 2009 to 2016, the archive's best algorithm, and CMA-ES.
    """

    dimension: int
    ours: tuple[Entrant, ...]
    archive: tuple[Entrant, ...]
    references: tuple[Entrant, ...]

    @property
    def record(self) -> Entrant:
        """The archive's best algorithm."""
        return self.archive[0]

    def rank(self, entrant: Entrant) -> int:
        """Return 1 plus the number of the archive's algorithms with a larger score."""
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
    """Return the league in each dimension of the data that the archive has."""
    return [
        Standing(
            n,
            ours=tuple(_entrant(runtimes, solver, n) for solver in _present(runtimes, n)),
            archive=_archive(n),
            references=_references(n),
        )
        for n in dimensions(runtimes)
        if n in references.archive()
    ]


def _present(runtimes: Sequence[Runtimes], n: int) -> list[str]:
    return solvers([r for r in runtimes if r.dimension == n])


def _entrant(runtimes: Sequence[Runtimes], solver: str, n: int) -> Entrant:
    own = [r for r in runtimes if (r.solver, r.dimension) == (solver, n)]
    return Entrant(solver, {r.function: points(r.ert[ERT_ROWS], n) for r in own})


@cache
def _archive(n: int) -> tuple[Entrant, ...]:
    entrants = [
        Entrant(name, {f: points(ert, n) for f, ert in own.items()})
        for name, own in references.archive()[n].items()
    ]
    return tuple(sorted(entrants, key=lambda entrant: -entrant.score))


@cache
def _references(n: int) -> tuple[Entrant, ...]:
    archive = _archive(n)
    of_each = {f: max(e.points.get(f, 0.0) for e in archive) for f in FUNCTIONS}
    found = [Entrant("best of each function", of_each)]
    for name in (references.BEST_2016, references.BEST_2009):
        best = references.best(name)
        found.append(Entrant(name, {f: points(best[n, f][ERT_ROWS], n) for f in FUNCTIONS}))
    found.append(archive[0])
    found += [e for e in archive if e.name.startswith(CMA_ES) and e is not archive[0]][:1]
    return tuple(found)


HEADINGS = ("n", "solver", "score", "rank", "record", "best 2009-16", "best 2009", "CMA-ES")


def cells(standing: Standing, entrant: Entrant) -> tuple[str, ...]:
    """Return the place of a solver as text, in the order of ``HEADINGS``."""
    beside = {reference.name: reference.score for reference in standing.references}
    cma_es = next((s for name, s in beside.items() if name.startswith(CMA_ES)), float("nan"))
    return (
        str(standing.dimension),
        entrant.name + (" *" if entrant.missing else ""),
        f"{entrant.score:.3f}",
        f"{standing.rank(entrant)} / {standing.places}",
        f"{standing.record.score:.3f}",
        f"{beside[references.BEST_2016]:.3f}",
        f"{beside[references.BEST_2009]:.3f}",
        f"{cma_es:.3f}",
    )


def notes(found: Sequence[Standing]) -> list[str]:
    """Return the notes below the places: who holds the records, which functions are missing."""
    records = ", ".join(f"{s.record.name} ({s.dimension}-D)" for s in found)
    lines = [f"Records: {records}; CMA-ES: {CMA_ES} (Hansen)."] if found else []
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
        known = [f"{100 * entrant.points[f]:.0f}" if f in entrant.points else "" for f in FUNCTIONS]
        rows.append([entrant.name, f"{entrant.score:.3f}", f"{standing.rank(entrant)}", *known])
    return rows


def table_csv(found: Sequence[Standing]) -> str:
    """Return the scores and the points of each function, of solvers and references, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dimension", "name", "score", "rank", "places", *(f"f{f}" for f in FUNCTIONS)])
    for s in found:
        for e in (*s.ours, *s.references):
            own = [f"{e.points[f]:.4f}" if f in e.points else "" for f in FUNCTIONS]
            writer.writerow([s.dimension, e.name, f"{e.score:.4f}", s.rank(e), s.places, *own])
    return text.getvalue()
