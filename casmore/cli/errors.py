"""The errors of the command line."""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 130, 143


class UsageError(Exception):
    """The command can't be run as given; the message says what is allowed."""


class CommandFailedError(Exception):
    """The command was valid but failed; the message says why and what to do."""


@contextmanager
def expected(
    *, usage: tuple[type[Exception], ...] = (), failure: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Convert exceptions with messages for the user to errors of the command line."""
    try:
        yield
    except usage as error:
        raise UsageError(str(error)) from error
    except failure as error:
        raise CommandFailedError(str(error)) from error


def os_error_text(error: OSError) -> str:
    """Return the message of an operating system error, without its number."""
    if error.strerror is None:  # raised by Python code, with a message of its own
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a suggestion for the end of an error message; empty if no known name is similar."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
