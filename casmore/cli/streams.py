"""Handling of standard streams that are closed, limited to ASCII, or not read."""

import codecs
import io
import os
import sys

_ENCODING_ERRORS = "casmore.escape"


def prepare() -> None:
    """Make the standard streams safe to write to.

    A closed stream (``casmore ... >&-``) becomes the null device. Otherwise the next opened file
    would get its file descriptor, and output of a C library would end up in that file. Characters
    that a stream can't encode are written as escape sequences; file names are written unchanged.
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
    """Redirect output to the null device, after the reader has closed the pipe."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(null, stream.fileno())


def _escape(error: UnicodeError) -> tuple[bytes, int]:
    """Escape what a stream can't encode; keep file names, whose bytes are surrogates in Python."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    piece = error.object[error.start : error.end]
    encoded = b"".join(
        c.encode("ascii", "surrogateescape" if "\udc80" <= c <= "\udcff" else "backslashreplace")
        for c in piece
    )
    return encoded, error.end


codecs.register_error(_ENCODING_ERRORS, _escape)
