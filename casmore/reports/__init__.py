"""From a run's COCO data to its report: numbers, figures, and cocopp's comparison."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from casmore.reports.errors import ReportError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["ReportError", "build"]


def build(run: Path, *, full: bool = False, console: "Console | None" = None) -> Path:
    """Make the report of a run, in ``RUN/reports``, and say where it is.

    Our own part comes first and takes seconds: the comparison in the terminal, ``summary.csv``,
    the ECDF figures. Then cocopp's report is made.

    Parameters
    ----------
    run
        The run's folder.
    full
        All that cocopp has, in print quality; takes about ten times as long.
    console
        Where to print; default: standard output.

    Returns
    -------
    Path
        The report's first page, ``RUN/reports/index.html``.

    Raises
    ------
    ReportError
        If there is no data, it can't be read, or cocopp fails; the message says what to do.
    MissingReportsExtraError
        If a package that reports need is not installed.
    """
    # only now: these need packages that the rest of casmore does without
    from rich.console import Console

    from casmore.reports import cocopp_bridge, ecdf, page, style, summary
    from casmore.reports import runtimes as data

    console = console or Console()
    runtimes = data.load(run)
    budgets, efforts = data.budgets(run, runtimes), data.efforts(run)
    reports = run / "reports"

    summary.write_csv(reports / "summary.csv", runtimes, budgets, efforts)
    lines = summary.compare(runtimes, budgets, efforts)
    console.print(summary.table(lines))

    figures = [style.save(ecdf.by_dimension(runtimes, budgets), reports / "ecdf")[0]]
    for n in data.dimensions(runtimes):
        figure = ecdf.by_group(runtimes, n, budgets[n])
        figures.append(style.save(figure, reports / f"ecdf_groups_{n:02d}D")[0])

    # as they are: a path is not to be broken, coloured, or searched for markup
    say = partial(console.print, soft_wrap=True, markup=False, highlight=False)
    say(f"cocopp is at work, log in {reports / 'cocopp.log'} ...")
    cocopp_bridge.make(data.solver_folders(run), reports / "cocopp", full=full)
    title = data.config(run).get("name") or run.resolve().name
    page.write(reports / "index.html", str(title), lines, figures)
    say(f"report: {(reports / 'index.html').resolve()}")
    return reports / "index.html"
