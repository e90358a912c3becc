"""The data in the page to explore: everything its figures are computed from, as one document."""

import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from casmore.plotting import style
from casmore.problems.regret import checkpoints
from casmore.reports import references
from casmore.reports.league import Entrant, Standing
from casmore.reports.league_figure import VIRTUAL
from casmore.reports.regret.regrets import MEAN, SAMPLES, Regrets
from casmore.reports.runtimes import (
    ERT_ROWS,
    ERT_TARGETS,
    TARGETS,
    Runtimes,
    dimensions,
    solvers,
    suite_of,
)

BEST = "best"  # the kind of curve of the best value so far
DIGITS = string.digits + string.ascii_letters  # for numbers from 0 to 51
# by solver, dimension and function: a list of trials
_Nested = dict[str, dict[int, dict[int, list[list[int | str]]]]]
# Plotly's names of Matplotlib's markers
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "v": "triangle-down",
    "^": "triangle-up",
    "P": "cross",
    "h": "hexagon",
}
_POINT_DIGITS = 6  # of a score in the league
_ERT_DIGITS = 6


def document(
    title: str,
    runtimes: Sequence[Runtimes],
    budgets: Mapping[int, float],
    standings: Sequence[Standing],
    regrets: Sequence[Regrets] = (),
) -> dict[str, Any]:
    """Return the data of the page, to be written as JSON.

    Parameters
    ----------
    title
        The run's name.
    runtimes
        Of all solvers to show.
    budgets
        In evaluations per dimension, by dimension.
    standings
        The league.
    regrets
        Of the trials in which it was recorded.

    Returns
    -------
    dict
        ``trials`` has a list for each kind of curve, solver, dimension and function (in this
        order), with an entry for each trial: its instance, its number of evaluations, and what it
        reached. For the best value, these are the evaluations to the first target, from there to
        the second one, and so on, up to the last target that was reached. For the regret, it is a
        text with a character for each of the ``checkpoints`` up to the trial's end and one for the
        end: the number of targets reached there in ``DIGITS``. ``references`` has the ERT of a
        virtual best solver, if there is any, to the targets that it reached, by dimension and
        function.
    """
    suite = suite_of(runtimes)
    functions = sorted({r.function for r in runtimes})
    return {
        "title": title,
        "targets": [round(float(exponent), 1) for exponent in np.log10(TARGETS)],
        "ert_targets": [
            {"row": row, "name": f"{target:.0e}".replace("e+0", "e").replace("e-0", "e-")}
            for row, target in zip(ERT_ROWS, ERT_TARGETS, strict=True)
        ],
        "functions": [
            {"number": f, "title": suite.title(f), "group": suite.group_of(f)} for f in functions
        ],
        "dimensions": dimensions(runtimes),
        "budgets": {n: budgets[n] for n in dimensions(runtimes)},
        "solvers": [{"name": name, **_look(i)} for i, name in enumerate(solvers(runtimes))],
        "trials": {
            BEST: _nested(runtimes),
            **{kind: _levels(regrets, kind) for kind in (SAMPLES, MEAN) if regrets},
        },
        "checkpoints": checkpoints(int(max((r.spent.max() for r in regrets), default=0))),
        "digits": DIGITS,
        "references": {name: _best(runtimes, name) for name in suite.best[-1:]},
        "virtual": {name: VIRTUAL[name] for name in reversed(suite.best)},
        "league_functions": list(suite.functions),
        "league": {standing.dimension: _league(standing) for standing in standings},
    }


def _look(index: int) -> dict[str, str]:
    """Return a solver's color, dashes and symbol, in Plotly's terms."""
    look = style.line(index)
    dashes = look["linestyle"]
    return {
        "color": look["color"],
        # Matplotlib's dashes are in line widths
        "dash": "solid" if dashes == "-" else ",".join(f"{2 * length:g}px" for length in dashes[1]),
        "symbol": _SYMBOLS[style.marker(index)],
    }


def _nested(runtimes: Sequence[Runtimes]) -> _Nested:
    nested: _Nested = {}
    for r in runtimes:
        functions = nested.setdefault(r.solver, {}).setdefault(r.dimension, {})
        functions[r.function] = [
            [instance, int(spent), *_gaps(own[np.isfinite(own)])]
            for instance, spent, own in zip(r.instances, r.spent, r.evaluations.T, strict=True)
        ]
    return nested


def _gaps(evaluations: np.typing.NDArray[np.float64]) -> list[int]:
    """Return the first and the differences: shorter numbers than the evaluations themselves."""
    return [int(gap) for gap in np.diff(evaluations, prepend=0.0)]


def _levels(regrets: Sequence[Regrets], kind: str) -> _Nested:
    nested: _Nested = {}
    for r in regrets:
        functions = nested.setdefault(r.solver, {}).setdefault(r.dimension, {})
        levels = np.count_nonzero(r.of(kind)[:, :, None] <= TARGETS, axis=2)
        # up to the first point at which the trial had ended
        points = np.searchsorted(r.evaluations, r.spent) + 1
        functions[r.function] = [
            [instance, int(spent), "".join(DIGITS[level] for level in own[:count])]
            for instance, spent, own, count in zip(
                r.instances, r.spent, levels.tolist(), points, strict=True
            )
        ]
    return nested


def _best(runtimes: Sequence[Runtimes], name: str) -> dict[int, dict[int, list[float]]]:
    best = references.best(suite_of(runtimes), name)
    found: dict[int, dict[int, list[float]]] = {}
    for key in sorted({(r.dimension, r.function) for r in runtimes} & best.keys()):
        ert = best[key]
        found.setdefault(key[0], {})[key[1]] = [
            float(f"{e:.{_ERT_DIGITS}g}") for e in ert[np.isfinite(ert)]
        ]
    return found


def _league(standing: Standing) -> dict[str, Any]:
    virtual = [e for e in standing.references if e.name in standing.suite.best]
    return {
        name: [[e.name, *_points(e)] for e in entrants]
        for name, entrants in (
            ("ours", standing.ours),
            ("archive", standing.archive),
            ("references", virtual),
        )
    }


def _points(entrant: Entrant) -> list[float | None]:
    """Return the points of each function of the suite; None: no data."""
    known = entrant.points
    return [round(known[f], _POINT_DIGITS) if f in known else None for f in entrant.suite.functions]
