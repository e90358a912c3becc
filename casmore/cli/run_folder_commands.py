"""``casmore status``, ``verify`` and ``merge``: commands on a run folder."""

import argparse
import sys
from typing import Any

from casmore.cli import locate, outputs, subcommand
from casmore.cli.errors import EXIT_FAILED, UsageError, expected


def add_commands(commands: Any) -> None:
    """Add the commands to the command line."""
    status = subcommand.add(
        commands,
        "status",
        _status,
        "show the progress of a run",
        "In a terminal the display is updated while the run lasts. Ctrl-C ends only the display.",
    )
    subcommand.add_run(status)
    status.add_argument("--once", action="store_true", help="show it once, even in a terminal")

    verify = subcommand.add(
        commands,
        "verify",
        _verify,
        "find damaged units, and move them to quarantine",
        "The next 'casmore run' runs them again.",
    )
    subcommand.add_run(verify)

    merge = subcommand.add(
        commands,
        "merge",
        _merge,
        "collect the finished units into a folder of COCO data for each solver",
        "'casmore run' and 'casmore report' do this automatically, except for shards.",
    )
    subcommand.add_run(merge)


def _status(options: argparse.Namespace) -> int:
    from casmore.experiments import status_display

    run, plan = locate.open_run(options.run)
    status_display.show(run, plan, sys.stdout, follow=not options.once and sys.stdout.isatty())
    return 0


def _verify(options: argparse.Namespace) -> int:
    from casmore.experiments import verify
    from casmore.experiments.store import coco_files

    run, plan = locate.open_run(options.run)
    with expected(failure=(coco_files.BrokenDataError,)):
        verdict = verify.verify(run, plan)
    for problem in verdict.records:
        print(problem)
    for damage in verdict.damaged:
        print(f"{damage.unit}: {damage.reason}")
        if damage.quarantined:
            print(f"  now in {damage.quarantined}")
    repaired = "can't be repaired: it is read-only" if verdict.read_only else "has been made again"
    for label in verdict.labels:
        print(f"{run.data / label} was not what the units give, and {repaired}")
    for label in verdict.outdated:
        action = "brought up to date"
        if verdict.read_only:
            action = "older than its units, or without any"
        elif not (run.data / label).exists():
            action = "set aside, since it has no units any more"
        print(f"{run.data / label}: {action}")
    print(f"{verdict.units} units checked, {len(verdict.damaged)} damaged.")
    if verdict.damaged and verdict.read_only:
        print(f"{run.root} is read-only; 'casmore verify' sets them aside where it can write.")
    elif verdict.damaged:
        print("To have them run again, give the same 'casmore run' as before.")
    return 0 if verdict.is_sound else EXIT_FAILED


def _merge(options: argparse.Namespace) -> int:
    from casmore.experiments import merge
    from casmore.experiments.store import coco_files

    run, plan = locate.open_run(options.run)
    if locate.is_study(plan):
        raise UsageError(f"{run.root} holds a study: its traces need no merging; try 'report'")
    outputs.check_writable(run)
    with expected(failure=(coco_files.BrokenDataError,)):
        data = merge.merge(run, (work.unit for work in plan))
    done = run.published()
    print(f"{sum(work.unit in done for work in plan)} of {len(plan)} units are done.")
    for label, path in data.items():
        print(f"  {label}: {path}")
    return 0
