"""Notes to the user on standard error."""

import sys
from contextlib import suppress
from typing import TextIO


def note(text: str, stream: TextIO | None = None) -> None:
    """Print a note; a run continues if nobody reads it.

    Parameters
    ----------
    text
        What to tell.
    stream
        Where to; default: standard error as it is at this moment, since rich replaces it beside a
        progress bar.
    """
    with suppress(OSError):
        print(f"casmore: note: {text}", file=stream or sys.stderr, flush=True)
