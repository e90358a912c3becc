"""The figures and tables of the stored BBOB results, by name."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

from casmore.atomic_io import write_text
from casmore.plotting import style
from casmore.reports import league, trial_table
from casmore.reports.bbob import ecdf_figure, ratio_table
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.bbob.scaling_figure import scaling
from casmore.reports.league_figure import strips
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import Runtimes, dimensions, solvers

FOLDER = "bbob"
_PAPER_DIMENSIONS = (5, 20)
_OF_DIMENSION = re.compile(r"(ecdf|ecdf_functions|ert_ratios)_(\d+)D")
_PAIR = re.compile(r"(.+)_vs_(.+)")


def names(results: Path) -> list[str]:
    """Return the names of all figures and tables of ``results/bbob``; none without its table."""
    if not (results / FOLDER / trial_table.FILE).exists():
        return []
    runtimes = _runtimes(results)
    parts = [
        f"{kind}_{n:02d}D"
        for kind in ("ecdf", "ecdf_functions", "ert_ratios")
        for n in dimensions(runtimes)
        if n in _PAPER_DIMENSIONS
    ]
    first, *others = solvers(runtimes)
    pairs = [f"{first}_vs_{other}" for other in others]
    return [f"{FOLDER}/{name}" for name in (*parts, "scaling", "league", *pairs)]


def make(name: str, results: Path) -> list[Path]:
    """Make one figure (PDF and PNG) or table (Markdown and LaTeX); return its files.

    Parameters
    ----------
    name
        ``bbob/`` and one of ``ecdf_05D``, ``ecdf_functions_05D``, ``ert_ratios_05D``, each with
        any dimension of the table; ``scaling``; ``league``; or ``A_vs_B``, the heat map of any two
        solvers.
    results
        The folder that has ``bbob/trials.csv.gz``.

    Raises
    ------
    ReportError
        If there is no such figure, or no table; the message says what to do.
    """
    runtimes = _runtimes(results)
    stem = results / name
    figure = _figure(name.removeprefix(f"{FOLDER}/"), runtimes)
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
    if name == "league":
        return strips(league.standings(runtimes))
    if match := _PAIR.fullmatch(name):
        return heat_map(runtimes, match[1], match[2])
    raise ReportError(
        f"there is no figure {FOLDER}/{name}; there are ecdf_05D, ecdf_functions_05D and "
        f"ert_ratios_05D of each dimension, scaling, league, and A_vs_B for the solvers "
        f"{', '.join(solvers(runtimes))}"
    )


def _ratio_table(runtimes: list[Runtimes], dimension: int) -> dict[str, str]:
    table = ratio_table.blocks(runtimes, dimension)
    return {
        "md": ratio_table.markdown(table, dimension),
        "tex": ratio_table.latex(table, dimension),
    }


@cache
def _read(path: Path, changed: int) -> list[Runtimes]:
    return trial_table.read(path)


def _runtimes(results: Path) -> list[Runtimes]:
    path = results / FOLDER / trial_table.FILE
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0)
