"""CSV tables, compressed with gzip: the same rows give the same bytes."""

import csv
import gzip
import io
from collections.abc import Iterable
from pathlib import Path

from casmore.atomic_io import write_bytes


def write(path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write the rows, the header first."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    # without a time in the header
    write_bytes(path, gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))


def read(path: Path) -> list[list[str]]:
    """Return the rows, the header first.

    Raises
    ------
    OSError, EOFError, UnicodeDecodeError
        If the file can't be read.
    """
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
