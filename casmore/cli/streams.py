"""Standard streams that are closed, that know ASCII only, or that nobody reads."""

import codecs
import io
import os
import sys

_ENCODING_ERRORS = "casmore.escape"


def prepare() -> None:
    """Make the standard streams safe to write to.

    A stream that was closed (``casmore ... >&-``) becomes the null device: otherwise the next file
    that is opened would get its number, and what a C library prints would end up in that file. A
    character that a stream can't encode is written as an escape sequence, a file name as it is.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number: this one
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ENCODING_ERRORS)


def abandon() -> None:
    """Write to the null device from now on: who read the output has closed the pipe."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(null, stream.fileno())


def _escape(error: UnicodeError) -> tuple[bytes, int]:
    """Encode text that a stream can't, and file names, whose bytes Python keeps as surrogates."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    piece = error.object[error.start : error.end]
    encoded = b"".join(
        c.encode("ascii", "surrogateescape" if "\udc80" <= c <= "\udcff" else "backslashreplace")
        for c in piece
    )
    return encoded, error.end


codecs.register_error(_ENCODING_ERRORS, _escape)
