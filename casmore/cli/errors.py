"""How a command ends when it can't do what it was asked to."""

from collections.abc import Iterator
from contextlib import contextmanager

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 130, 143


class UsageError(Exception):
    """The command can't be carried out as given; the message says what would be right."""


class CommandFailedError(Exception):
    """The command was right, and failed; the message says why and what to do."""


@contextmanager
def expected(
    *, usage: tuple[type[Exception], ...] = (), failure: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Turn exceptions whose message is meant for the user into errors of the command line."""
    try:
        yield
    except usage as error:
        raise UsageError(str(error)) from error
    except failure as error:
        raise CommandFailedError(str(error)) from error


def os_error_text(error: OSError) -> str:
    """Return what the operating system refused, without the number that it has there."""
    if error.strerror is None:  # raised by Python code, with a message of its own
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
