"""Checksums of a unit's files, in the format of ``sha256sum --check``."""

import hashlib
import shlex
from pathlib import Path

from casmore.experiments.store.coco_files import BrokenDataError

_NAME = "SHA256SUMS"


def write_checksums(folder: Path) -> None:
    """Record the checksums of all files in ``folder`` and its subfolders."""
    sums = _sums(folder)
    lines = (f"{digest}  {name}\n" for name, digest in sums.items())
    (folder / _NAME).write_text("".join(lines), encoding="utf-8")


def check_checksums(folder: Path) -> None:
    """Compare the files with the recorded checksums.

    Raises
    ------
    BrokenDataError
        If a file has changed, is missing, was added, or can't be read.
    """
    path = folder / _NAME
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        written = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except FileNotFoundError:
        raise BrokenDataError(f"{path} is missing") from None
    except ValueError as error:
        raise BrokenDataError(f"{path} is not a list of checksums: {error}") from error
    found = _sums(folder)
    for name in sorted({*written, *found}):
        if name not in found:
            raise BrokenDataError(f"{folder / name} is missing")
        if name not in written:
            raise BrokenDataError(f"{folder / name} does not belong there")
        if written[name] != found[name]:
            raise BrokenDataError(f"{folder / name} has changed since it was written")


def check_before_use(unit: Path, run: Path) -> None:
    """Check the files of a published unit before they are read.

    Raises
    ------
    BrokenDataError
        If they have changed since publication; the message says what to do.
    """
    try:
        check_checksums(unit)
    except BrokenDataError as error:
        raise BrokenDataError(
            f"{error}; `casmore verify {shlex.quote(str(run))}` sets damaged units aside, and the "
            "same 'casmore run' as before runs them again"
        ) from error


def _sums(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != _NAME)
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(_content(path)).hexdigest()
        for path in sorted(files)
    }


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:  # of a failing disk
        raise BrokenDataError(f"{path} can't be read: {error.strerror}") from error
