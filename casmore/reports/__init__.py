"""From a run's COCO data to its report: numbers, figures, and cocopp's comparison."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from casmore.reports.report_error import ReportError

if TYPE_CHECKING:
    from rich.console import Console

    from casmore.reports.runtimes import Runtimes

__all__ = ["ReportError", "build"]


def build(
    run: Path,
    *,
    out: Path | None = None,
    data: Path | None = None,
    full: bool = False,
    others: Sequence[str] = (),
    archive: str | None = None,
    beside: "Sequence[Runtimes]" = (),
    console: "Console | None" = None,
) -> Path:
    """Make the report of a run and return its first page.

    Our own part comes first and takes seconds: the rank among the algorithms of COCO's archive and
    the comparison, in the terminal and as pages, with CSV tables and figures. Then cocopp's report
    is made, unless it exists already for the same data.

    Parameters
    ----------
    run
        The run's folder.
    out
        The report's folder; default: ``RUN/reports``. Nothing else is written.
    data
        The folder with the merged COCO data of each solver; default: ``RUN/data``.
    full
        Whether to make all of cocopp's figures, in print quality; takes about ten times as long.
    others
        Data to compare with: COCO data (a folder or an archive file), or names of entries of an
        archive.
    archive
        The archive's URL; default: COCO's own.
    beside
        Stored trials of other solvers to compare with, in our own part.
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

    from casmore.reports import comparison_data, own_part, run_data
    from casmore.reports.cocopp import archive as coco_archive
    from casmore.reports.cocopp import report as cocopp_report
    from casmore.reports.runtimes import suite_of

    console = console or Console()
    # printed as it is: a path must not be broken into lines, colored, or searched for markup
    say = partial(console.print, soft_wrap=True, markup=False, highlight=False)
    local, names = comparison_data.find(others, run)
    runtimes = run_data.load(run, data)
    fetched = coco_archive.fetch(names, archive, suite=suite_of(runtimes))
    reports = out or run / "reports"
    content = own_part.make(run, [*runtimes, *beside], reports, console)
    folders = [*run_data.solver_folders(run, data), *local, *fetched]
    cocopp_report.make(folders, reports / "cocopp", full=full, say=say)
    page = own_part.write_index(content, reports)
    say(f"report: {page.resolve()}")
    return page
