"""The figures and tables of the stored results on COCO's suites, by name.

The results on a suite are in a folder with its name, those of the league in ``league`` and
``league_ablation``.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.figure import Figure

from casmore.atomic_io import write_text
from casmore.plotting import style
from casmore.problems.suites import BBOB, SUITES
from casmore.reports import league, score_table, trial_table
from casmore.reports.bbob import ecdf_figure, ratio_table
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.bbob.scaling_figure import scaling
from casmore.reports.league_figure import strips
from casmore.reports.parts_figure import parts
from casmore.reports.regret import regret_figure, regret_summary, regret_table
from casmore.reports.regret.regrets import Regrets
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, dimensions, longest_budgets, solvers, suite_of

# of the paper, and of cocopp's tables for bbob-largescale
_SHOWN_DIMENSIONS = (5, 20, 80, 320)
# the figures of the league's results, whose suite is BBOB
_LEAGUE = {"league": ("ecdf", "ecdf_05D", "league"), "league_ablation": ("parts",)}
# from the results on BBOB, where the league has none
_LEAGUE_PEERS = ("CMA-ES", "CAS-MORE", "Lean-CAS-MORE")
_OF_DIMENSION = re.compile(r"(ecdf|ecdf_functions|ert_ratios|regret)_(\d+)D")
_Result = TypeVar("_Result")
_PAIR = re.compile(r"(.+)_vs_(.+)")


def names(results: Path) -> list[str]:
    """Return the names of all figures and tables of the results on suites that are there."""
    return [
        f"{suite}/{name}"
        for suite in SUITES
        if (results / suite / trial_table.FILE).exists()
        for name in [*_names(_runtimes(results / suite)), *_regret_names(results / suite)]
    ] + [
        f"{folder}/{name}"
        for folder, figures in _LEAGUE.items()
        if (results / folder / trial_table.FILE).exists()
        for name in figures
    ]


def is_known(name: str) -> bool:
    """Whether ``name`` is one of this catalogue: a folder of the results, a slash, a figure."""
    folder, separator, _ = name.partition("/")
    return bool(separator) and (folder in SUITES or folder in _LEAGUE)


def _names(runtimes: Sequence[Runtimes]) -> list[str]:
    has_best = bool(suite_of(runtimes).best)
    parts = [
        f"{kind}_{n:02d}D"
        for kind in ("ecdf", "ecdf_functions", "ert_ratios")
        if kind != "ert_ratios" or has_best
        for n in dimensions(runtimes)
        if n in _SHOWN_DIMENSIONS
    ]
    first, *others = solvers(runtimes)
    pairs = [f"{first}_vs_{other}" for other in others]
    return ["ecdf", *parts, "scaling", "league", "scores", "scores_by_function", *pairs]


def _regret_names(folder: Path) -> list[str]:
    if not (folder / regret_table.FILE).exists():
        return []
    shown = {r.dimension for r in _regrets(folder)}.intersection(_SHOWN_DIMENSIONS)
    return ["regret", *(f"regret_{n:02d}D" for n in sorted(shown)), "average_regret"]


def make(name: str, results: Path) -> list[Path]:
    """Make one figure (PDF and PNG) or table (Markdown and LaTeX); return its files.

    Parameters
    ----------
    name
        A suite, a slash, and one of ``ecdf_05D``, ``ecdf_functions_05D``, ``ert_ratios_05D``, each
        with any dimension of the table; ``ecdf``; ``scaling``; ``league``; ``scores``;
        ``scores_by_function``; ``A_vs_B``, the heat map of any two solvers; ``regret``,
        ``regret_05D`` or ``average_regret``, if the regret was recorded. For example
        ``bbob/scaling``. The league's are the same, and ``league_ablation/parts``.
    results
        The folder that has, for example, ``bbob/trials.csv.gz``.

    Raises
    ------
    ReportError
        If there is no such figure, or no table; the message says what to do.
    """
    suite, _, kind = name.partition("/")
    stem = results / name
    runtimes = league_trials(results) if suite == "league" else _runtimes(results / suite)
    if "regret" in kind:
        figure = _of_regret(kind, runtimes, _regrets(results / suite))
    else:
        figure = _figure(kind, runtimes)
    if isinstance(figure, Figure):
        return list(style.save(figure, stem))
    files = []
    for suffix, text in figure.items():
        files.append(stem.with_name(f"{stem.name}.{suffix}"))
        write_text(files[-1], text)
    return files


def _figure(name: str, runtimes: list[Runtimes]) -> Figure | dict[str, str]:
    """Return a figure, or the texts of a table by their suffix."""
    if match := _OF_DIMENSION.fullmatch(name):
        dimension = int(match[2])
        draw: dict[str, Callable[[list[Runtimes], int], Figure | dict[str, str]]] = {
            "ecdf": ecdf_figure.by_group,
            "ecdf_functions": ecdf_figure.by_function,
            "ert_ratios": _ratio_table,
        }
        return draw[match[1]](runtimes, dimension)
    if name == "scaling":
        return scaling(runtimes)
    if name == "ecdf":
        return ecdf_figure.by_dimension(runtimes)
    if name == "parts":
        return parts(runtimes)
    if name == "league":
        return strips(league.standings(runtimes))
    if name == "scores":
        return {"md": score_table.by_group(league.standings(runtimes))}
    if name == "scores_by_function":
        return {"md": score_table.by_function(league.standings(runtimes))}
    if match := _PAIR.fullmatch(name):
        return heat_map(runtimes, match[1], match[2])
    raise ReportError(
        f"there is no figure {suite_of(runtimes).name}/{name}; there are ecdf, ecdf_05D, "
        f"ecdf_functions_05D, ert_ratios_05D and regret_05D of each dimension, scaling, league, "
        f"scores, scores_by_function, regret, average_regret, and A_vs_B for the solvers "
        f"{', '.join(solvers(runtimes))}"
    )


def _of_regret(
    name: str, runtimes: list[Runtimes], regrets: list[Regrets]
) -> Figure | dict[str, str]:
    budgets = longest_budgets(runtimes)
    if name == "average_regret":
        return {
            "md": regret_summary.markdown(
                regret_summary.lines(regrets, budgets, suite_of(runtimes))
            )
        }
    known = {r.dimension for r in regrets}
    if name == "regret":  # in the dimensions of the paper, if there are some
        shown = {n: budgets[n] for n in sorted(known.intersection(_SHOWN_DIMENSIONS) or known)}
        return regret_figure.by_dimension(runtimes, regrets, shown)
    match = _OF_DIMENSION.fullmatch(name)
    if match is None or int(match[2]) not in known:
        raise ReportError(
            f"there is no figure {name}: the regret is known in {sorted(known)}-D; there are "
            "regret, regret_05D of each dimension, and average_regret"
        )
    return regret_figure.by_group(runtimes, regrets, int(match[2]), budgets[int(match[2])])


def _ratio_table(runtimes: list[Runtimes], dimension: int) -> dict[str, str]:
    table = ratio_table.blocks(runtimes, dimension)
    return {
        "md": ratio_table.markdown(table, dimension),
        "tex": ratio_table.latex(table, dimension),
    }


def league_trials(results: Path) -> list[Runtimes]:
    """Return the league's trials, and its peers' in the same dimensions from those on BBOB.

    Parameters
    ----------
    results
        The folder that has ``league/trials.csv.gz``, and perhaps ``bbob/trials.csv.gz``.
    """
    own = _runtimes(results / "league")
    if not (results / BBOB.name / trial_table.FILE).exists():
        return own
    peers = [name for name in _LEAGUE_PEERS if name not in solvers(own)]
    shown = dimensions(own)
    stored = _runtimes(results / BBOB.name)
    return own + [r for r in stored if r.solver in peers and r.dimension in shown]


def _runtimes(folder: Path) -> list[Runtimes]:
    return _stored(trial_table.read, folder / trial_table.FILE)


def _regrets(folder: Path) -> list[Regrets]:
    return _stored(regret_table.read, folder / regret_table.FILE)


def _stored(read: Callable[[Path], list[_Result]], path: Path) -> list[_Result]:
    """Read a table, once as long as it does not change."""
    found: list[_Result] = _read(read, path, path.stat().st_mtime_ns if path.exists() else 0)
    return found


@cache
def _read(read: Callable[[Path], Any], path: Path, changed: int) -> Any:
    return read(path)
