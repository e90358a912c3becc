"""``casmore run``: run an experiment, or resume it."""

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from casmore.cli import invocation, locate, outputs, subcommand
from casmore.cli.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    CommandFailedError,
    expected,
    os_error_text,
)

if TYPE_CHECKING:
    from casmore.experiments.config.base import Experiment
    from casmore.experiments.runner import Summary
    from casmore.experiments.shard import Shard

_SHOWN_FAILURES = 10


class _TerminatedError(KeyboardInterrupt):
    """Raised on SIGTERM, which batch systems send instead of Ctrl-C."""


def add_commands(commands: Any) -> None:
    """Add ``run`` to the command line."""
    run = subcommand.add(
        commands,
        "run",
        _run,
        "run an experiment, or resume it",
        "Each trial is stored in the run folder as soon as it is finished. You can stop the run at "
        "any time; the same command resumes it.",
        (
            "casmore run quick",
            "casmore run configs/paper.toml --out /data/paper --workers 16",
            "casmore run paper --out /data/paper --shard 3/16   # in a job of a cluster",
        ),
    )
    config = run.add_argument("config", metavar="CONFIG", help="a TOML file, or a name in configs/")
    config.completer = locate.config_names
    run.add_argument(
        "--out",
        type=subcommand.folder,
        metavar="FOLDER",
        help="the run's folder (default: runs/NAME, with the name in the config)",
    )
    run.add_argument(
        "--workers",
        type=subcommand.positive,
        metavar="N",
        help="trials to run at a time (default: as in the config, else one per core)",
    )
    run.add_argument(
        "--shard",
        metavar="I/N",
        help="run only the I-th of N parts; shards share the folder, in any order",
    )


def _run(options: argparse.Namespace) -> int:
    from casmore.experiments import shard
    from casmore.experiments.config import check

    with modules_from_here(), sigterm_like_ctrl_c():
        with expected(usage=(ValueError,)):
            part = shard.Shard.parse(options.shard) if options.shard is not None else None
            experiment = check.load(locate.config_path(options.config))
        root = options.out or locate.RUNS / experiment.name
        try:
            summary = carry_out(experiment, root, options.workers, part)
        except KeyboardInterrupt as error:
            return interrupted(error, options, root)
    return report_outcome(summary, options)


def carry_out(
    experiment: "Experiment", root: Path, workers: int | None, part: "Shard | None"
) -> "Summary":
    """Run an experiment in the folder ``root``; errors become messages for the user."""
    from casmore.experiments import agreement, backends, runner
    from casmore.experiments.store import coco_files, run_folder

    outputs.check_writable(run_folder.RunFolder(root))
    wrong = (
        run_folder.RunLockedError,
        agreement.ConfigChangedError,
        agreement.LoggerChangedError,
        backends.BackendError,
    )
    try:
        with expected(usage=wrong):
            return runner.run(experiment, root, workers=workers or experiment.workers, shard=part)
    except (OSError, coco_files.BrokenDataError, backends.WorkerDiedError) as error:
        reason = os_error_text(error) if isinstance(error, OSError) else str(error)
        raise CommandFailedError(f"{reason}\nFinished units are kept in {root}.") from error


@contextmanager
def modules_from_here() -> Iterator[None]:
    """Make solvers given as ``module:attribute`` importable from the working directory."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with suppress(ValueError):  # a module may have changed the path
            sys.path.remove(here)


@contextmanager
def sigterm_like_ctrl_c() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C within the context."""

    def terminate(number: int, frame: object) -> NoReturn:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupted(error: KeyboardInterrupt, options: argparse.Namespace, root: Path) -> int:
    """Print what was stored and how to resume; return the exit code."""
    done = sum(1 for _ in root.glob("units/*/*/unit.json"))
    print(
        f"\nStopped. {done} finished units are kept in {root}; to resume, give the same command:\n"
        f"  {invocation.command(*options.given)}",
        file=sys.stderr,
    )
    return exit_code(error)


def exit_code(error: KeyboardInterrupt) -> int:
    """Return the exit code after Ctrl-C or SIGTERM."""
    return EXIT_TERMINATED if isinstance(error, _TerminatedError) else EXIT_INTERRUPTED


def report_outcome(
    summary: "Summary", options: argparse.Namespace, *, next_step: bool = True
) -> int:
    """Print what is done, what failed, and what to do next; return the exit code."""
    of_shard = f" of shard {summary.shard}" if summary.shard else ""
    print(f"{summary.published} of {summary.units} units{of_shard} are done.")
    for label in summary.labels:
        print(f"  {label}: {summary.folder / 'data' / label}")
    if summary.shard:
        then = "report" if summary.is_study else "merge"
        print(f"When all shards are done:\n  {invocation.command(then, summary.folder)}")
    elif summary.published and next_step:
        print(f"Report:\n  {invocation.command('report', summary.folder)}")
    if not summary.failures:
        return 0
    sys.stdout.flush()
    print(f"{len(summary.failures)} units failed:", file=sys.stderr)
    shown = list(summary.failures.items())[:_SHOWN_FAILURES]
    for unit, error in shown:
        print(f"  {unit}: {error}", file=sys.stderr)
    if len(summary.failures) > len(shown):
        print(f"  ... and {len(summary.failures) - len(shown)} more", file=sys.stderr)
    print(
        f"Their tracebacks are in {summary.folder / 'failures'}. To run them again:\n"
        f"  {invocation.command(*options.given)}",
        file=sys.stderr,
    )
    return EXIT_FAILED
