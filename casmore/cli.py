"""The command line: ``casmore run``, ``report``, ``solvers``, ``check-solver``."""

import argparse
import difflib
import os
import signal
import sys
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from casmore.solvers import registry

if TYPE_CHECKING:
    from casmore.experiments.runner import Summary
    from casmore.experiments.store.run_folder import RunFolder
    from casmore.experiments.work_unit import Work

_CONFIGS = Path("configs")
_RUNS = Path("runs")
_RUN_HELP = "a run's folder, its name in runs/, or the config of a run there"
# what a user gets wrong, and what a session ends with
_EXIT_FAILED, _EXIT_USAGE, _EXIT_INTERRUPTED, _EXIT_TERMINATED = 1, 2, 130, 143
# packages of the extra 'bbob', by the names they are imported under
_BBOB_PACKAGES = {
    *("cma", "cocoex", "cocopp", "jinja2", "joblib", "matplotlib", "platformdirs", "pydantic"),
    *("rich", "six", "threadpoolctl"),
}


class UsageError(Exception):
    """The command can't be carried out as given; the message says what would be right."""


class _Terminated(KeyboardInterrupt):
    """A batch system's way to say Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code = int(options.command(options))
        sys.stdout.flush()  # a pipe that is closed is found here, not at the interpreter's end
    except BrokenPipeError:  # who reads has seen enough, as in 'casmore solvers | head'
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left
        return _EXIT_FAILED
    except UsageError as error:
        print(f"casmore: {error}", file=sys.stderr)
        return _EXIT_USAGE
    except KeyboardInterrupt:  # before a run has begun, or in a report
        return _EXIT_INTERRUPTED
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _BBOB_PACKAGES:
            raise
        print(
            f"casmore: 'casmore {options.name}' needs the package {package!r}: "
            "pip install 'casmore[bbob]'",
            file=sys.stderr,
        )
        return _EXIT_USAGE
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="casmore", description="Run optimizers on BBOB and compare them with cocopp."
    )
    parser.add_argument(
        "--version", action="version", version=f"casmore {metadata.version('casmore')}"
    )
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run an experiment, or go on with one")
    run.add_argument("config", metavar="CONFIG", help="a TOML file, or a name in configs/")
    run.add_argument("--out", type=Path, metavar="FOLDER", help="default: runs/<name of config>")
    run.add_argument("--workers", type=_positive, metavar="N", help="default: as in the config")
    run.add_argument(
        "--shard",
        metavar="I/N",
        help="run the I-th of N parts alone; shards share the folder, in any order",
    )
    run.set_defaults(command=_run)

    status = commands.add_parser("status", help="show how far a run is; in a terminal, live")
    status.add_argument("run", metavar="RUN", help=_RUN_HELP)
    status.add_argument("--once", action="store_true", help="do not follow, also in a terminal")
    status.set_defaults(command=_status)

    verify = commands.add_parser("verify", help="find damaged units, and have them run again")
    verify.add_argument("run", metavar="RUN", help=_RUN_HELP)
    verify.set_defaults(command=_verify)

    merge = commands.add_parser("merge", help="collect what is done: COCO data of each solver")
    merge.add_argument("run", metavar="RUN", help=_RUN_HELP)
    merge.set_defaults(command=_merge)

    report = commands.add_parser("report", help="make cocopp's report and a summary of a run")
    report.add_argument("run", metavar="RUN", help=_RUN_HELP)
    report.add_argument(
        "--full", action="store_true", help="all of cocopp's figures; takes minutes"
    )
    report.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="NAME",
        help="an entry of COCO's online archive, or a folder of COCO data, to compare with; "
        "may be given several times",
    )
    report.add_argument("--archive", metavar="URL", help="another archive than COCO's own")
    report.set_defaults(command=_report)

    solvers = commands.add_parser("solvers", help="list the solvers")
    solvers.set_defaults(command=_solvers)

    check = commands.add_parser(
        "check-solver", help="test whether a solver, your own for example, keeps the contract"
    )
    check.add_argument("solver", metavar="NAME", help="a solver's name, or module:attribute")
    check.set_defaults(command=_check_solver)
    return parser


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def _run(options: argparse.Namespace) -> int:
    from casmore.experiments import agreement, backends, runner, shard
    from casmore.experiments.config import check
    from casmore.experiments.store import coco_files, run_folder

    # a solver given as module:attribute may be in the folder where the command is given
    sys.path.insert(0, os.getcwd())
    signal.signal(signal.SIGTERM, _terminate)
    try:
        part = shard.Shard.parse(options.shard) if options.shard else None
        experiment = check.load(_config_path(options.config))
    except ValueError as error:
        raise UsageError(str(error)) from error
    root = options.out or _RUNS / experiment.name
    workers = options.workers or experiment.workers
    try:
        summary = runner.run(experiment, root, workers=workers, shard=part)
    except (
        run_folder.RunLockedError,
        agreement.ConfigChangedError,
        backends.BackendError,
    ) as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt as error:
        return _interrupted(error, options, root)
    except (OSError, coco_files.BrokenDataError, backends.WorkerDiedError) as error:
        print(f"casmore: {error}\nWhat is done is kept in {root}.", file=sys.stderr)
        return _EXIT_FAILED
    return _tell(summary, options)


def _terminate(number: int, frame: object) -> NoReturn:
    raise _Terminated


def _interrupted(error: KeyboardInterrupt, options: argparse.Namespace, root: Path) -> int:
    done = sum(1 for _ in root.glob("units/*/*/unit.json"))
    print(
        f"\nStopped. {done} units are done and kept in {root}; go on with the same command:\n"
        f"  {_command(options)}",
        file=sys.stderr,
    )
    return _EXIT_TERMINATED if isinstance(error, _Terminated) else _EXIT_INTERRUPTED


def _tell(summary: "Summary", options: argparse.Namespace) -> int:
    of_shard = f" of shard {summary.shard}" if summary.shard else ""
    print(f"{summary.published} of {summary.units} units{of_shard} are done.")
    for label in summary.labels:
        print(f"  {label}: {summary.folder / 'data' / label}")
    if summary.shard:
        print(f"When all shards are done:\n  casmore merge {summary.folder}")
    elif summary.published:
        print(f"Report:\n  casmore report {summary.folder}")
    if not summary.failures:
        return 0
    print(f"{len(summary.failures)} units failed:", file=sys.stderr)
    shown = list(summary.failures.items())[:10]
    for unit, error in shown:
        print(f"  {unit}: {error}", file=sys.stderr)
    if len(summary.failures) > len(shown):
        print(f"  ... and {len(summary.failures) - len(shown)} more", file=sys.stderr)
    print(
        f"Their tracebacks are in {summary.folder / 'failures'}; try them again with\n"
        f"  {_command(options)}",
        file=sys.stderr,
    )
    return _EXIT_FAILED


def _command(options: argparse.Namespace) -> str:
    out = f" --out {options.out}" if options.out else ""
    workers = f" --workers {options.workers}" if options.workers else ""
    shard = f" --shard {options.shard}" if options.shard else ""
    return f"casmore run {options.config}{out}{workers}{shard}"


def _known_run(options: argparse.Namespace) -> "tuple[RunFolder, tuple[Work, ...]]":
    """Return the folder of a run, and its plan."""
    from casmore.experiments import plan
    from casmore.experiments.config import record
    from casmore.experiments.store import run_folder

    run = run_folder.RunFolder(_run_path(options.run))
    try:
        experiment = record.recorded_config(run)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    return run, plan.make_plan(experiment)


def _status(options: argparse.Namespace) -> int:
    from casmore.experiments import status_display

    run, plan = _known_run(options)
    status_display.show(run, plan, sys.stdout, follow=not options.once and sys.stdout.isatty())
    return 0


def _verify(options: argparse.Namespace) -> int:
    from casmore.experiments import verify
    from casmore.experiments.store import coco_files

    run, plan = _known_run(options)
    try:
        verdict = verify.verify(run, plan)
    except (OSError, coco_files.BrokenDataError) as error:
        print(f"casmore: {error}", file=sys.stderr)
        return _EXIT_FAILED
    for damage in verdict.damaged:
        print(f"{damage.unit}: {damage.reason}\n  now in {damage.quarantined}")
    for label in verdict.labels:
        print(f"{run.data / label} was not what the units give, and has been made again")
    print(f"{verdict.units} units checked, {len(verdict.damaged)} damaged.")
    if verdict.damaged:
        print("To have them run again, give the same 'casmore run' as before.")
    return _EXIT_FAILED if verdict.damaged or verdict.labels else 0


def _merge(options: argparse.Namespace) -> int:
    from casmore.experiments import merge
    from casmore.experiments.store import coco_files

    run, plan = _known_run(options)
    if _is_study(plan):
        raise UsageError(f"{run.root} holds a study: its traces need no merging; try 'report'")
    try:
        data = merge.merge(run, (work.unit for work in plan))
    except (OSError, coco_files.BrokenDataError) as error:
        print(f"casmore: {error}", file=sys.stderr)
        return _EXIT_FAILED
    done = run.published()
    print(f"{sum(work.unit in done for work in plan)} of {len(plan)} units are done.")
    for label, path in data.items():
        print(f"  {label}: {path}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from casmore import reports
    from casmore.experiments import merge
    from casmore.experiments.store import coco_files

    run, plan = _known_run(options)
    if _is_study(plan):
        return _report_study(run.root)
    try:
        # an interrupted run has published units that are not merged yet
        if not merge.merge(run, (work.unit for work in plan)):
            raise UsageError(f"{run.root} has no finished units yet, so there is nothing to report")
        reports.build(run.root, full=options.full, others=options.compare, archive=options.archive)
    except (coco_files.BrokenDataError, reports.ReportError) as error:
        print(f"casmore: {error}", file=sys.stderr)
        return _EXIT_FAILED
    return 0


def _is_study(plan: "tuple[Work, ...]") -> bool:
    from casmore.experiments.work_unit import TracedWork

    return all(isinstance(work, TracedWork) for work in plan)


def _report_study(root: Path) -> int:
    """Write a study's tables; figures are of the paper's own studies alone (make figures)."""
    from casmore import reports
    from casmore.studies import tables

    try:
        for path in tables.summarise(root, root / "reports"):
            print(path)
    except reports.ReportError as error:
        print(f"casmore: {error}", file=sys.stderr)
        return _EXIT_FAILED
    return 0


def _solvers(options: argparse.Namespace) -> int:
    for solver in registry.registered():
        hint = f" (to install: pip install 'casmore[{solver.extra}]')" if solver.missing else ""
        print(f"{solver.name:22} {solver.description}{hint}")
    return 0


def _check_solver(options: argparse.Namespace) -> int:
    from casmore.solvers.conformance import check_solver

    sys.path.insert(0, os.getcwd())  # as for `casmore run`
    try:
        factory = registry.factory(options.solver)
    except (registry.UnknownSolverError, registry.MissingDependencyError) as error:
        raise UsageError(str(error)) from error
    findings = check_solver(factory)
    for finding in findings:
        verdict = "WRONG" if finding.broken else "ok"
        print(f"{verdict:5}  {finding.check}")
        if finding.complaint is not None:
            print(f"       {'note: ' if finding.note else ''}{finding.complaint}")
    broken = sum(finding.broken for finding in findings)
    print(f"{options.solver} keeps the contract." if not broken else f"{broken} wrong.")
    return _EXIT_FAILED if broken else 0


def _config_path(given: str) -> Path:
    path, named = Path(given), _CONFIGS / f"{given}.toml"
    if path.is_file():
        return path
    if named.is_file():
        return named
    known = sorted(p.stem for p in _CONFIGS.glob("*.toml"))
    return _not_found(f"there is no config {given!r}", path.stem, known, str(_CONFIGS))


def _run_path(given: str) -> Path:
    for path in (Path(given), _RUNS / given, _RUNS / _name_in(Path(given))):
        if (path / "config.json").is_file():
            return path
    known = sorted(p.parent.name for p in _RUNS.glob("*/config.json"))
    return _not_found(f"{given!r} is not the folder of a run", Path(given).name, known, str(_RUNS))


def _name_in(path: Path) -> str:
    """Return the name in a config, which is that of its run's folder; else the file's own."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError):
        return path.stem


def _not_found(what: str, name: str, known: list[str], where: str) -> NoReturn:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    listing = f" ({where}/ has: {', '.join(known)})" if known else f" ({where}/ has none)"
    raise UsageError(what + hint + listing)
