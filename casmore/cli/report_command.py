"""``casmore report``: make the report of a run."""

import argparse
from typing import Any

from casmore.cli import locate, outputs, subcommand
from casmore.cli.errors import UsageError, expected


def add_commands(commands: Any) -> None:
    """Add ``report`` to the command line."""
    report = subcommand.add(
        commands,
        "report",
        _report,
        "make the report of a run, which may be incomplete",
        "Prints a summary, and writes it as CSV, with figures, a page to explore the results in a "
        "browser, and cocopp's pages. For a study, writes its tables.",
        (
            "casmore report quick",
            "casmore report quick --compare runs/mine/data/CMA-ES --compare BIPOP-CMA-ES_hansen",
        ),
    )
    subcommand.add_run(report)
    report.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the report's folder (default: reports/ in the run's folder)",
    )
    report.add_argument(
        "--full", action="store_true", help="all of cocopp's figures; takes about ten times as long"
    )
    report.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="DATA",
        help="COCO data to compare with: a folder, a packed entry (tgz, zip), or the name of an "
        "entry in COCO's online archive; may be given several times",
    )
    report.add_argument("--archive", metavar="URL", help="an archive other than COCO's own")


def _report(options: argparse.Namespace) -> int:
    from casmore import reports
    from casmore.experiments.store import coco_files
    from casmore.reports import comparison_data
    from casmore.studies.summarize import summarize

    run, plan = locate.open_run(options.run)
    out = outputs.folder(run, options.out, "reports")
    with expected(usage=(reports.ReportError,)):  # before any work
        _, entries = comparison_data.find(options.compare, run.root)
    if options.archive and not entries:
        raise UsageError("--archive URL is for the names of its entries: give them with --compare")
    with expected(failure=(coco_files.BrokenDataError, reports.ReportError)):
        if locate.is_study(plan):  # figures exist only for the paper's studies (make figures)
            if options.compare or options.archive or options.full:
                raise UsageError(f"{run.root} holds a study: its report is its tables, no more")
            for path in summarize(run.root, out):
                print(path)
            return 0
        with outputs.merged_data(run, plan) as data:
            reports.build(
                run.root,
                out=out,
                data=data,
                full=options.full,
                others=options.compare,
                archive=options.archive,
            )
    return 0
