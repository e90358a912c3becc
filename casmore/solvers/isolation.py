"""Run code in an empty folder, and capture all that it prints."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_empty_folder() -> Iterator[Path]:
    """Work in an empty folder, ``here``, of the temporary folder that is returned."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="casmore-") as name:
        folder = Path(name)
        (folder / "here").mkdir()
        os.chdir(folder / "here")
        try:
            yield folder
        finally:
            os.chdir(before)


@contextmanager
def captured_output(path: Path) -> Iterator[Path]:
    """Write what the process prints, compiled code included, to ``path``."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    streams = sys.stdout, sys.stderr
    with path.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = file
        try:
            yield path
        finally:
            sys.stdout, sys.stderr = streams
            file.flush()
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
