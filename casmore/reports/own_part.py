"""Our own part of a report: printed summary, tables, figures and pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console

from casmore.plotting import style
from casmore.reports import (
    ecdf,
    index_page,
    league,
    league_page,
    run_data,
    run_page,
    summary,
    unit_table,
)
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.explore import page as explore_page
from casmore.reports.regret import regret_figure, regret_summary, regrets
from casmore.reports.regret.regrets import Regrets
from casmore.reports.runtimes import Runtimes, comparable, dimensions, solvers, suite_of

_MOST_PAIRS = 6  # heat maps, of the first solver and others


@dataclass(frozen=True)
class Content:
    """What the first page shows.

    Attributes
    ----------
    title
        The run's name.
    lines
        The comparison.
    standings
        The places among the archive's algorithms.
    figures
        Heading, and the PNG files below it; a PDF file is beside each.
    failed
        Number of failed units.
    """

    title: str
    lines: tuple[summary.Line, ...]
    standings: tuple[league.Standing, ...]
    figures: tuple[tuple[str, tuple[Path, ...]], ...]
    failed: int


def make(run: Path, runtimes: Sequence[Runtimes], reports: Path, console: Console) -> Content:
    """Print the places and the comparison; write all files but the first page.

    Parameters
    ----------
    run
        The run's folder.
    runtimes
        Of the run's solvers, and of those to show beside them.
    reports
        The report's folder.
    console
        Where to print.
    """
    title = str(run_data.config(run).get("name") or run.resolve().name)
    rows = unit_table.load(run)
    budgets, efforts = run_data.budgets(run, runtimes), unit_table.efforts(rows)
    standings = league.standings(runtimes)
    league_page.print_places(console, standings)
    league_page.write(reports, title, standings, back="index.html")
    lines = summary.compare(runtimes, budgets, efforts)
    console.print(summary.table(lines, console.width))
    summary.write_csv(reports / "summary.csv", runtimes, budgets, efforts)
    unit_table.write_csv(reports / "units.csv", rows)
    run_page.write(reports / "run.html", title, run, rows)
    # units may have been published since the data were merged
    recorded = [r for r in regrets.of_units(rows) if r.dimension in budgets]
    explore_page.write(reports, title, runtimes, budgets, standings, recorded)
    regret_lines = regret_summary.lines(recorded, budgets, suite_of(runtimes))
    regret_summary.write_csv(reports / "regret.csv", regret_lines)

    figures: dict[str, list[Path]] = {}
    for heading, name, figure in _figures(runtimes, recorded, budgets):
        figures.setdefault(heading, []).append(style.save(figure, reports / name)[0])
    return Content(
        title,
        tuple(lines),
        tuple(standings),
        tuple((heading, tuple(paths)) for heading, paths in figures.items()),
        failed=sum(row.failed for row in rows),
    )


def write_index(content: Content, reports: Path) -> Path:
    """Write the first page, beside which everything it links to already is; return it."""
    page = reports / "index.html"
    index_page.write(
        page,
        content.title,
        content.lines,
        content.standings,
        content.figures,
        failed=content.failed,
    )
    return page


def _figures(
    runtimes: Sequence[Runtimes], recorded: Sequence[Regrets], budgets: dict[int, float]
) -> Iterator[tuple[str, str, Figure]]:
    """Yield the heading, the name and the figure of each figure of the first page."""
    first, *others = solvers(runtimes)
    for other in others[:_MOST_PAIRS]:
        heading = f"Where {first} wins and loses"
        yield heading, f"versus_{other}", heat_map(runtimes, first, other)
    heading = "ECDFs of runtimes, to the budget"
    yield heading, "ecdf", ecdf.by_dimension(runtimes, budgets)
    for n in dimensions(runtimes):
        if any(comparable(runtimes, n).values()):  # not in every run that is under way
            yield heading, f"ecdf_groups_{n:02d}D", ecdf.by_group(runtimes, n, budgets[n])
    known = {n: budgets[n] for n in sorted({r.dimension for r in recorded})}
    if known:
        heading = "Regret of samples, to the budget"
        yield heading, "regret", regret_figure.by_dimension(runtimes, recorded, known)
