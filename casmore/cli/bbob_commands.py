"""``casmore export``, ``league`` and ``archive``: further output of a BBOB run."""

import argparse
from contextlib import ExitStack
from pathlib import Path
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
        "Instead of a run, the folder of an earlier export may be given, to add runs to it, or to "
        "join what several machines have computed.",
        examples=(
            "casmore export paper",
            "casmore export paper peers --out results/bbob",
            "casmore export results/bbob paper_40d --out results/bbob",
        ),
    )
    _add_runs(export, f"{locate.RUN_HELP}; or the folder of an export; several give one table")
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
        "pack runs as entries for COCO's data archive, checked by loading them with cocopp",
        "The trials of a solver in several runs become one entry.",
        examples=("casmore archive paper paper_40d --only CAS-MORE --author Surname",),
    )
    _add_runs(archive, locate.RUN_HELP)
    archive.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the entries' folder (default: archive/ in the first run's folder)",
    )
    archive.add_argument("--author", default="", metavar="NAME", help="part of the files' names")
    archive.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="LABEL",
        help="a solver to pack; may be given several times (default: all)",
    )


def _add_runs(command: Any, text: str) -> None:
    runs = command.add_argument("runs", nargs="+", metavar="RUN", help=text)
    runs.completer = locate.run_names


def _export(options: argparse.Namespace) -> int:
    from casmore.experiments.store import coco_files
    from casmore.reports.export import export
    from casmore.reports.export_source import is_export, of_export, of_run
    from casmore.reports.report_error import ReportError

    exported = {given: Path(given) for given in options.runs if is_export(Path(given))}
    runs = {given: _open(given) for given in options.runs if given not in exported}
    if not runs and options.out is None:
        raise UsageError("no run is given, only exports; say where to write, with --out FOLDER")
    out = options.out or outputs.folder(next(iter(runs.values()))[0], None, "export")
    if locate.is_run(out):
        raise UsageError(f"{out} is the folder of a run; give --out another folder")
    with expected(failure=(coco_files.BrokenDataError, ReportError)), ExitStack() as stack:
        sources = []
        for given in options.runs:
            if given in exported:
                sources.append(of_export(exported[given]))
            else:
                data = stack.enter_context(outputs.merged_data(*runs[given]))
                sources.append(of_run(runs[given][0].root, data))
        for path in export(sources, out):
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
    from casmore.reports.archive_entry import Run, pack
    from casmore.reports.report_error import ReportError

    opened = [_open(given) for given in options.runs]
    out = outputs.folder(opened[0][0], options.out, "archive")
    with expected(failure=(coco_files.BrokenDataError, ReportError)), ExitStack() as stack:
        runs = [
            Run(run.root, stack.enter_context(outputs.merged_data(run, plan)))
            for run, plan in opened
        ]
        for path in pack(runs, out, author=options.author, only=options.only):
            print(path)
    print("DESCRIPTION.md says how to propose them for the archive.")
    return 0


def _open(given: str) -> "tuple[RunFolder, tuple[Work, ...]]":
    """Return the folder and the plan of a BBOB run."""
    run, plan = locate.open_run(given)
    if locate.is_study(plan):
        raise UsageError(f"{run.root} holds a study, which has no COCO data; try 'report'")
    return run, plan
