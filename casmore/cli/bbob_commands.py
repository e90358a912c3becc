"""``casmore export``, ``league`` and ``archive``: further output of a BBOB run."""

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from casmore.cli import locate, outputs, subcommand
from casmore.cli.errors import UsageError, expected

if TYPE_CHECKING:
    from casmore.experiments.store.run_folder import RunFolder
    from casmore.experiments.work_unit import Work


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    export = subcommand.add(
        commands,
        "export",
        _export,
        "write a run's trials as one compressed table, with its config and versions",
        examples=("casmore export paper", "casmore export paper peers --out results/bbob"),
    )
    runs = export.add_argument(
        "runs", nargs="+", metavar="RUN", help=f"{locate.RUN_HELP}; several give one table"
    )
    runs.completer = locate.run_names
    export.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the table's folder (default: export/ in the first run's folder)",
    )

    league = subcommand.add(
        commands,
        "league",
        _league,
        "place a run's solvers among the algorithms of COCO's data archive",
    )
    subcommand.add_run(league)
    league.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="write the picture and the table of all functions there (default: print the places)",
    )

    archive = subcommand.add(
        commands,
        "archive",
        _archive,
        "pack a run as entries for COCO's data archive, checked by loading them with cocopp",
        examples=("casmore archive paper --only CAS-MORE --author Surname",),
    )
    subcommand.add_run(archive)
    archive.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the entries' folder (default: archive/ in the run's)",
    )
    archive.add_argument("--author", default="", metavar="NAME", help="part of the files' names")
    archive.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="LABEL",
        help="a solver to pack; may be given several times (default: all)",
    )


def _export(options: argparse.Namespace) -> int:
    from casmore.experiments.store import coco_files
    from casmore.reports.export import export
    from casmore.reports.report_error import ReportError

    runs = [_open(given) for given in options.runs]
    out = outputs.folder(runs[0][0], options.out, "export")
    with expected(failure=(coco_files.BrokenDataError, ReportError)), ExitStack() as stack:
        data = [stack.enter_context(outputs.merged_data(*run)) for run in runs]
        for path in export([run.root for run, _ in runs], out, data=data):
            print(path)
    return 0


def _league(options: argparse.Namespace) -> int:
    from rich.console import Console

    from casmore.experiments.store import coco_files
    from casmore.reports import league, league_page, run_data
    from casmore.reports.report_error import ReportError

    run, plan = _open(options.run)
    with (
        expected(failure=(coco_files.BrokenDataError, ReportError)),
        outputs.merged_data(run, plan) as data,
    ):
        standings = league.standings(run_data.load(run.root, data))
    league_page.print_places(Console(), standings)
    if options.out:
        league_page.write(options.out, run.root.resolve().name, standings)
        print(options.out / "league.html")
    return 0


def _archive(options: argparse.Namespace) -> int:
    from casmore.experiments.store import coco_files
    from casmore.reports.archive_entry import pack
    from casmore.reports.report_error import ReportError

    run, plan = _open(options.run)
    out = outputs.folder(run, options.out, "archive")
    with (
        expected(failure=(coco_files.BrokenDataError, ReportError)),
        outputs.merged_data(run, plan) as data,
    ):
        for path in pack(run.root, out, data=data, author=options.author, only=options.only):
            print(path)
    print("DESCRIPTION.md says how to propose them for the archive.")
    return 0


def _open(given: str) -> "tuple[RunFolder, tuple[Work, ...]]":
    """Return the folder and the plan of a BBOB run."""
    run, plan = locate.open_run(given)
    if locate.is_study(plan):
        raise UsageError(f"{run.root} holds a study, which has no COCO data; try 'report'")
    return run, plan
