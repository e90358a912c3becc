"""What subcommands have in common: how one is added, and types of their arguments."""

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
        Where to add it: what `argparse.ArgumentParser.add_subparsers` returns.
    name
        What the user types.
    carry_out
        The command itself; returns the exit code.
    summary
        One line of the help of ``casmore``, which begins with a small letter.
    details
        More sentences for the command's own help.
    examples
        Whole commands.

    Returns
    -------
    argparse.ArgumentParser
        An argument of it may be given an attribute ``completer``, as argcomplete wants.
    """
    sentence = f"{summary[:1].upper()}{summary[1:]}."
    parser = commands.add_parser(
        name,
        help=summary,
        description="\n\n".join(filter(None, [sentence, textwrap.fill(details, _WIDTH)])),
        epilog="\n  ".join(["examples:", *examples]) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # a script must not break when an option is added
    )
    parser.set_defaults(command=carry_out)
    return parser


def add_run(parser: Any) -> None:
    """Let a command take the name of a run."""
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
