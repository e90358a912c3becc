"""From a run's COCO data to its report: numbers, figures, and cocopp's comparison."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from casmore.reports.errors import ReportError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["ReportError", "build"]


def build(
    run: Path,
    *,
    out: Path | None = None,
    data: Path | None = None,
    full: bool = False,
    others: Sequence[str] = (),
    archive: str | None = None,
    console: "Console | None" = None,
) -> Path:
    """Make the report of a run and return its first page.

    Our own part comes first and takes seconds: the comparison in the terminal, the place among the
    algorithms of COCO's archive, ``summary.csv``, ``units.csv``, the run's page, the ECDF figures.
    Then cocopp's report is made, unless that of the same data is there.

    Parameters
    ----------
    run
        The run's folder.
    out
        The report's folder; default: ``RUN/reports``. Nothing else is written.
    data
        The folder with the merged COCO data of each solver; default: ``RUN/data``.
    full
        Everything cocopp has, in print quality; takes about ten times as long.
    others
        What cocopp compares the solvers with: COCO data (a folder or an archive's file), or names
        of an archive's entries.
    archive
        The archive's URL; default: COCO's own.
    console
        Where to print; default: standard output.

    Returns
    -------
    Path
        ``index.html`` in the report's folder.

    Raises
    ------
    ReportError
        If there is no data, it can't be read, or cocopp fails; the message says what to do.
    ModuleNotFoundError
        If a package that reports need is not installed.
    """
    # only now: these need packages that the rest of casmore does without
    from rich.console import Console

    from casmore.plotting import style
    from casmore.reports import (
        comparison_data,
        ecdf,
        index_page,
        league,
        league_page,
        run_data,
        run_page,
        summary,
        unit_table,
    )
    from casmore.reports.cocopp import archive as coco_archive
    from casmore.reports.cocopp import report as cocopp_report
    from casmore.reports.runtimes import dimensions

    console = console or Console()
    local, names = comparison_data.find(others)
    fetched = coco_archive.fetch(names, archive)
    runtimes, rows = run_data.load(run, data), unit_table.load(run)
    budgets, efforts = run_data.budgets(run, runtimes), unit_table.efforts(rows)
    reports = out or run / "reports"

    summary.write_csv(reports / "summary.csv", runtimes, budgets, efforts)
    lines = summary.compare(runtimes, budgets, efforts)
    console.print(summary.table(lines))

    figures = [style.save(ecdf.by_dimension(runtimes, budgets), reports / "ecdf")[0]]
    for n in dimensions(runtimes):
        figure = ecdf.by_group(runtimes, n, budgets[n])
        figures.append(style.save(figure, reports / f"ecdf_groups_{n:02d}D")[0])

    # printed as it is: a path must not be broken into lines, coloured, or searched for markup
    say = partial(console.print, soft_wrap=True, markup=False, highlight=False)
    title = str(run_data.config(run).get("name") or run.resolve().name)
    standings = league.standings(runtimes)
    if standings:
        league_page.print_places(console, standings)
        league_page.write(reports, title, standings, back="index.html")
    unit_table.write_csv(reports / "units.csv", rows)
    run_page.write(reports / "run.html", title, run, rows)

    folders = [*run_data.solver_folders(run, data), *local, *fetched]
    cocopp_report.make(folders, reports / "cocopp", full=full, say=say)
    failed = sum(row.failed for row in rows)
    index_page.write(reports / "index.html", title, lines, standings, figures, failed=failed)
    say(f"report: {(reports / 'index.html').resolve()}")
    return reports / "index.html"
