"""``casmore minimize``: minimize the output of a program."""

import argparse
import math
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from casmore.cli import invocation, locate, subcommand
from casmore.cli.errors import CommandFailedError, UsageError, expected
from casmore.cli.run_command import exit_code, sigterm_like_ctrl_c

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from casmore.optimize.external_program import ExternalProgram
    from casmore.optimize.recorded_program import RecordedProgram

# Number of evaluations after which the run ends if all have failed
_MOST_FAILURES = 20
_SOLVERS = ("lean-cas-more", "cas-more")


def add_commands(commands: Any) -> None:
    """Add ``minimize`` to the command line."""
    parser = subcommand.add(
        commands,
        "minimize",
        _minimize,
        "minimize the output of a program",
        "The command is run for each point; the last line of its output is the value. An "
        "evaluation whose program fails, prints no number or takes too long ranks last. Each "
        "value is stored as soon as it is known. You can stop the run at any time; the same "
        "command resumes it.",
        (
            "casmore minimize --command './simulate {x}' --x0 0 0 --sigma0 0.5 --workers 4",
            "casmore minimize --command 'python model.py --rate {x0} --size={x1}' \\",
            "    --x0 0.1 5 --sigma0 0.05 2 --bounds 0:1 1:10 --max-evaluations 200",
        ),
    )
    # so that "-1,2" and "-1e-3" are values; argparse knows only simple negative numbers
    parser._negative_number_matcher = re.compile(r"^-([\d.]|inf)[-+\d.,:eEinf]*$")
    parser.add_argument(
        "--command",
        dest="command_line",
        metavar="TEXT",
        required=True,
        help="{x} stands for the coordinates, separated by spaces; {x0}, {x1}, ... for one each",
    )
    _add_search(parser)
    _add_limits(parser)
    parser.add_argument(
        "--workers",
        type=subcommand.positive,
        default=1,
        metavar="N",
        help="programs to run at a time (%(default)s)",
    )
    parser.add_argument(
        "--shell", action="store_true", help="let a shell run the command, as pipes need it"
    )
    parser.add_argument(
        "--out",
        type=subcommand.folder,
        default=locate.RUNS / "minimize",
        metavar="FOLDER",
        help="for evaluations.csv, failures.log and result.json (%(default)s)",
    )


def _add_search(parser: Any) -> None:
    parser.add_argument("--x0", nargs="+", required=True, metavar="X", help="the starting point")
    parser.add_argument(
        "--sigma0",
        nargs="+",
        required=True,
        metavar="S",
        help="initial standard deviation, one or one for each coordinate",
    )
    parser.add_argument(
        "--bounds",
        nargs="+",
        metavar="LOW:HIGH",
        help="one pair or one for each coordinate; an empty side has no bound, as in '0:'",
    )
    parser.add_argument(
        "--solver", choices=_SOLVERS, default=_SOLVERS[0], help="(default: %(default)s)"
    )
    parser.add_argument(
        "--noise", choices=("none", "auto"), default="none", help="auto: detect noise (%(default)s)"
    )
    parser.add_argument("--population-size", type=subcommand.positive, metavar="K")
    parser.add_argument(
        "--restarts", choices=("none", "ipop", "bipop"), default="none", help="(%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(%(default)s)")


def _add_limits(parser: Any) -> None:
    parser.add_argument(
        "--max-evaluations",
        type=subcommand.positive,
        metavar="N",
        help="over all calls that resume the run (default: 10000 per coordinate)",
    )
    parser.add_argument("--max-seconds", type=float, metavar="S", help="of this call")
    parser.add_argument("--target", type=float, metavar="F", help="stop at this value")
    parser.add_argument("--timeout", type=float, metavar="S", help="of one evaluation")


def _minimize(options: argparse.Namespace) -> int:
    from casmore.experiments.store import locks
    from casmore.optimize.external_program import ExternalProgram
    from casmore.optimize.fmin_arguments import read_seconds
    from casmore.optimize.recorded_program import RecordedProgram

    x0, search = _search(options)
    with expected(usage=(ValueError, TypeError, FileNotFoundError)):
        program = ExternalProgram(
            options.command_line,
            len(x0),
            shell=options.shell,
            timeout=read_seconds("--timeout", options.timeout),
        )
    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(sigterm_like_ctrl_c())
        try:
            stack.enter_context(locks.exclusive(folder / "lock"))
        except locks.LockedError as error:
            raise UsageError(f"{folder} is in use by {error}; give another one: --out") from error
        _check_call(_call(options, x0, search), folder)
        with expected(usage=(ValueError,)):
            recorded = RecordedProgram(program, folder, len(x0), _say)
        stack.enter_context(recorded)
        try:
            result = _run(recorded, program, x0, search, options)
        except KeyboardInterrupt as error:
            _say_how_to_resume(recorded, options)
            return exit_code(error)
        return _finish(result, recorded, folder)


def _search(options: argparse.Namespace) -> tuple[list[float], dict[str, Any]]:
    """Return x0 and further arguments of `fmin`, which have been checked there."""
    from casmore import fmin

    x0 = _numbers("--x0", options.x0)
    sigma0 = _numbers("--sigma0", options.sigma0)
    arguments: dict[str, Any] = {
        "sigma0": sigma0[0] if len(sigma0) == 1 else sigma0,
        "bounds": None if options.bounds is None else _bounds(options.bounds, len(x0)),
        "budget": options.max_evaluations,
        "max_seconds": options.max_seconds,
        "target": options.target,
        "restarts": options.restarts,
        "population_size": options.population_size,
        "seed": options.seed,
        "lean": options.solver == "lean-cas-more",
        "noise": options.noise,
    }
    with expected(usage=(ValueError, TypeError)):
        fmin(lambda x: 0.0, x0, **{**arguments, "budget": 1})  # checks them
    return x0, arguments


def _numbers(name: str, given: list[str]) -> list[float]:
    words = [word for text in given for word in re.split(r"[,\s]+", text.strip()) if word]
    try:
        return [float(word) for word in words]
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error


def _bounds(given: list[str], n: int) -> list[tuple[float | None, float | None]]:
    words = [word for text in given for word in re.split(r"[,\s]+", text.strip()) if word]
    pairs = []
    for word in words:
        sides = word.split(":")
        try:
            low, high = (float(side) if side else None for side in sides)
        except ValueError as error:
            raise UsageError(
                f"--bounds: {word!r} is not a pair LOW:HIGH such as 0:1, 0: or :1"
            ) from error
        # JSON, in which the call is stored, has no infinity
        pairs.append((None if low == -math.inf else low, None if high == math.inf else high))
    if len(pairs) not in (1, n):
        raise UsageError(f"--bounds: give one pair or {n}, not {len(pairs)}")
    return pairs if len(pairs) == n else pairs * n


def _call(options: argparse.Namespace, x0: list[float], search: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that determine the points of a run, by their options."""
    bounds = search["bounds"]
    return {
        "command": options.command_line,
        "shell": options.shell,
        "x0": x0,
        "sigma0": search["sigma0"],
        "bounds": None if bounds is None else [list(pair) for pair in bounds],
        "solver": options.solver,
        "noise": options.noise,
        "population-size": options.population_size,
        "restarts": options.restarts,
        "seed": options.seed,
    }


def _check_call(call: dict[str, Any], folder: Path) -> None:
    """Store what determines the points of a run; refuse to resume another run."""
    from casmore import atomic_io

    path = folder / "call.json"
    if not path.exists():
        atomic_io.write_json(path, call)
        return
    remedy = "remove this file to resume with these arguments, or give another folder: --out FOLDER"
    with expected(usage=(atomic_io.DamagedFileError,)):
        before = atomic_io.read_json(path, remedy=remedy)
    for name, value in call.items():
        if before.get(name) != value:
            raise UsageError(
                f"{folder} holds a run with --{name} {before.get(name)!r}, not {value!r}; remove "
                "it, or give another folder: --out FOLDER"
            )


def _run(
    recorded: "RecordedProgram",
    program: "ExternalProgram",
    x0: list[float],
    arguments: dict[str, Any],
    options: argparse.Namespace,
) -> "OptimizeResult":
    from casmore import fmin

    def hopeless(result: "OptimizeResult") -> bool:
        return recorded.failed == recorded.evaluations >= _MOST_FAILURES

    with ThreadPoolExecutor(options.workers) as executor:
        try:
            return fmin(
                recorded, x0, executor=executor, progress=True, callback=hopeless, **arguments
            )
        finally:
            program.stop()  # what runs at Ctrl-C, or at the time limit


def _say(message: str) -> None:
    print(f"casmore: {message}", file=sys.stderr)


def _say_how_to_resume(recorded: "RecordedProgram", options: argparse.Namespace) -> None:
    _say(
        f"stopped; {recorded.evaluations} evaluations are kept in {recorded.path}. To resume, give "
        f"the same command:\n  {invocation.command(*options.given)}"
    )


def _finish(result: "OptimizeResult", recorded: "RecordedProgram", folder: Path) -> int:
    from casmore import atomic_io

    if recorded.failed == recorded.evaluations > 0:
        raise CommandFailedError(
            f"all of the first {recorded.evaluations} evaluations failed, for the reasons in "
            f"{recorded.failures_path}. Remove {folder} to start again"
        )
    if recorded.unused:
        _say(f"this run did not need {recorded.unused} evaluations in {recorded.path}")
    document = {
        "x": result.x.tolist(),
        "f": result.fun if math.isfinite(result.fun) else None,
        "mean": result.mean.tolist(),
        "evaluations": recorded.evaluations,
        "failed": recorded.failed,
        "message": result.message,
    }
    atomic_io.write_json(folder / "result.json", document)
    print(f"f = {result.fun!r}")
    print(f"x = {' '.join(map(repr, result.x.tolist()))}")
    failed = f", of which {recorded.failed} failed" if recorded.failed else ""
    print(f"{recorded.evaluations} evaluations{failed}: {result.message}")
    print(recorded.path)
    return 0
