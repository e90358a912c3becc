"""The tables of the scores, for each dimension and solver, by function group or by function."""

from collections.abc import Sequence
from statistics import fmean

from casmore.problems.suites import Group
from casmore.reports.league import Entrant, Standing

CAPTION = (
    "Scores: the mean, over the functions and the targets 1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5 and "
    "1e-7, of 1 - log10(ERT / n) / 4, with ERT / n clipped to [1, 10^4]; a factor of 10 in "
    "evaluations changes it by 0.25. A virtual best solver reaches each target with the smallest "
    "ERT of all algorithms of its years. Bold: the solver with the highest score in its row."
)
ALL = "all"
_NONE = -1.0  # smaller than all scores


def by_group(standings: Sequence[Standing]) -> str:
    """Return a Markdown table with a row for each dimension and function group, and all functions.

    The solvers come first, then the virtual best solvers of the suite. A cell is empty where a
    solver has no trials on one of the functions.
    """
    suite = standings[0].suite
    everything = Group(ALL, suite.functions[0], suite.functions[-1])
    return _markdown(standings, "functions", [*suite.groups, everything])


def by_function(standings: Sequence[Standing]) -> str:
    """Return a Markdown table as `by_group` does, with a row for each dimension and function."""
    suite = standings[0].suite
    return _markdown(standings, "function", [Group(suite.title(f), f, f) for f in suite.functions])


def _markdown(standings: Sequence[Standing], heading: str, groups: Sequence[Group]) -> str:
    suite = standings[0].suite
    solvers = standings[0].solvers
    columns = [*solvers, *suite.best]
    text = [CAPTION, "", f"| n | {heading} | {' | '.join(columns)} |"]
    text.append("| --- | --- |" + " ---: |" * len(columns))
    for standing in standings:
        entrants = {e.name: e for e in (*standing.references, *standing.ours)}
        for group, first, last in groups:
            functions = range(first, last + 1)
            scores = {name: _score(e, functions) for name, e in entrants.items()}
            highest = max(scores.get(name, _NONE) for name in solvers)
            cells = [_cell(scores.get(name, _NONE), highest, name in solvers) for name in columns]
            text.append(f"| {standing.dimension} | {group} | {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


def _score(entrant: Entrant, functions: range) -> float:
    if not all(f in entrant.points for f in functions):
        return _NONE
    return fmean(entrant.points[f] for f in functions)


def _cell(score: float, highest: float, is_solver: bool) -> str:
    if score == _NONE:
        return ""
    return f"**{score:.3f}**" if is_solver and score == highest else f"{score:.3f}"
