"""Shared code of the subcommands: adding a command, and types of arguments."""

import argparse
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from casmore.cli import locate

_WIDTH = 78


def add(
    commands: Any,
    name: str,
    carry_out: Callable[[argparse.Namespace], int],
    summary: str,
    details: str = "",
    examples: tuple[str, ...] = (),
) -> Any:
    """Add a command, and return its parser.

    Parameters
    ----------
    commands
        The object that `argparse.ArgumentParser.add_subparsers` returns.
    name
        Name of the command.
    carry_out
        Runs the command; returns the exit code.
    summary
        One line for the help of ``casmore``, in lower case.
    details
        Further sentences for the help of the command.
    examples
        Complete commands.

    Returns
    -------
    argparse.ArgumentParser
        The parser; its arguments may have an attribute ``completer`` for argcomplete.
    """
    sentence = f"{summary[:1].upper()}{summary[1:]}."
    parser = commands.add_parser(
        name,
        help=summary,
        description="\n\n".join(filter(None, [sentence, textwrap.fill(details, _WIDTH)])),
        epilog="\n  ".join(["examples:", *examples]) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # so that new options do not break scripts
    )
    parser.set_defaults(command=carry_out, parser=parser)
    return parser


def add_run(parser: Any) -> None:
    """Add the name of a run as an argument of a command."""
    run = parser.add_argument("run", metavar="RUN", help=locate.RUN_HELP)
    run.completer = locate.run_names


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def folder(text: str) -> Path:
    """Read the path of a folder, which need not exist."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a folder; '.' is this one")
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a file; name a folder, which may be new")
    return path
