"""The entry point of the command line: parses the arguments and runs the command."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from casmore.cli import (
    bbob_commands,
    bench_command,
    minimize_command,
    report_command,
    run_command,
    run_folder_commands,
    solver_commands,
    streams,
)
from casmore.cli.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    CommandFailedError,
    UsageError,
    did_you_mean,
    os_error_text,
)

# in the order of the help text; each adds its commands to the parser
_GROUPS = (
    run_command,
    run_folder_commands,
    report_command,
    bbob_commands,
    bench_command,
    minimize_command,
    solver_commands,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code.

    Parameters
    ----------
    arguments
        The arguments after ``casmore``; default: those of this process.
    """
    streams.prepare()
    # No command opens a window, and the backend inherited from a notebook may not be installed.
    os.environ["MPLBACKEND"] = "Agg"
    try:
        code = _carry_out(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()  # detects a closed pipe or a full disk here, not at interpreter exit
    except BrokenPipeError:  # the reader has closed the pipe, as in 'casmore solvers | head'
        streams.abandon()
        return EXIT_FAILED
    except UsageError as error:
        return _fail(str(error), EXIT_USAGE)
    except CommandFailedError as error:
        return _fail(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        code = _fail(os_error_text(error), EXIT_FAILED)
        streams.abandon()  # in case standard output can't be written
        return code
    return code


def _fail(message: str, code: int) -> int:
    print(f"casmore: {message}", file=sys.stderr)
    return code


def _carry_out(given: list[str]) -> int:
    parser, names = _parser()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    if not given:
        parser.print_help()
        return EXIT_USAGE
    _check_command(given, names)
    options, unknown = parser.parse_known_args(given)
    if unknown:
        _refuse(unknown, options.parser)
    options.given = given
    _check_working_directory()
    try:
        return int(options.command(options))
    except ImportError as error:
        raise UsageError(_what_is_missing(error, options.name)) from error


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """Return the parser, and the names of the commands."""
    parser = argparse.ArgumentParser(
        prog="casmore",
        description="Run optimizers on BBOB, and compare them.",
        epilog="'casmore COMMAND --help' explains a command. "
        "To begin with: casmore run quick; casmore report quick",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands: Any = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")
    for group in _GROUPS:
        group.add_commands(commands)
    return parser, list(commands.choices)


class _Version(argparse.Action):
    """Looks up the version only on demand."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(nargs=0, **arguments)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import casmore

        print(f"casmore {casmore.__version__}")
        parser.exit()


def _check_command(given: Sequence[str], names: Sequence[str]) -> None:
    name = next((word for word in given if not word.startswith("-")), None)
    if name is None or name in names:
        return
    hint = did_you_mean(name, names)
    raise UsageError(f"there is no command {name!r}{hint} (commands: {', '.join(names)})")


def _refuse(unknown: Sequence[str], parser: argparse.ArgumentParser) -> NoReturn:
    """End with the usage of the command, and the option that the first argument resembles."""
    options = [option for action in parser._actions for option in action.option_strings]
    hint = did_you_mean(unknown[0].partition("=")[0], options)
    parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _check_working_directory() -> None:
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise UsageError("the working directory has been deleted; change to another one") from error


def _what_is_missing(error: ImportError, command: str) -> str:
    """Return what to install, or a supported platform; errors in our own code are raised."""
    if error.name == "fcntl":  # see casmore.experiments
        return str(error)
    package = (error.name or "casmore").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package == "casmore":
        raise error
    return f"'casmore {command}' needs the package {package!r}: pip install 'casmore[bbob]'"
