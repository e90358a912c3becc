"""Data to compare with: COCO data on disk, or entries of an online archive by name.

All data are checked before any work is done. They may come from any version of COCO, so only errors
that would make cocopp fail are checked.
"""

import difflib
import os
import re
import shlex
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from casmore.reports.report_error import ReportError
from casmore.reports.run_data import config

_SUITE = re.compile(r"suite = '([^']*)'")
_COMPARABLE = {
    "bbob",
    "bbob-largescale",
    "bbob-boxed",
    "sbox-cost",
}  # cocopp takes their functions as equal
_DATA_FILE = re.compile(r"[^\s,]+\.dat\b")


def find(names: Sequence[str], run: Path) -> tuple[list[Path], list[str]]:
    """Return the data on the disk, and the names that are left for an archive.

    Parameters
    ----------
    names
        For each algorithm a folder, an archive's file, or the name of an entry of an online
        archive.
    run
        The folder of the run that is compared with them.

    Raises
    ------
    ReportError
        If a path leads nowhere, or what is there is not whole COCO data; the message says what is.
    """
    local: list[Path] = []
    entries: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if name and path.exists():
            _check(path, config(run).get("suite", {}).get("name", "bbob"))
            if path.resolve().is_relative_to((run / "data").resolve()):
                raise ReportError(f"--compare {name}: the run's own data are in its report anyway")
            if any(path.samefile(other) for other in local):
                raise ReportError(f"--compare {name}: given twice")
            local.append(path)
        elif _is_meant_as_path(name):
            raise ReportError(
                f"--compare {shlex.quote(name)}: there is no such folder or file{_near(path)}"
            )
        else:
            entries.append(name)
    return local, entries


def _is_meant_as_path(name: str) -> bool:
    """Whether a name that is no file's can't be an archive's either: those are YEAR/NAME."""
    if not name.strip() or name.startswith((".", "~", os.sep)) or name.endswith(os.sep):
        return True
    first, separator, _ = name.partition(os.sep)
    return bool(separator) and (Path(first).exists() or not first[:1].isdigit())


def _near(path: Path) -> str:
    """Suggest a name like the first one of the path that is not there."""
    missing = path
    while not missing.parent.exists():
        missing = missing.parent
    there = [entry.name for entry in missing.parent.iterdir()] if missing.parent.is_dir() else []
    near = difflib.get_close_matches(missing.name, there, n=1)
    return f"; did you mean {missing.with_name(near[0])}?" if near else ""


def _check(path: Path, suite: str) -> None:
    """Check that data are whole, and of a suite that cocopp compares with the run's."""
    if path.is_file():
        if not (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)):
            hint = f"; give its folder, {path.parent}" if path.suffix == ".info" else ""
            raise ReportError(f"--compare {path}: this file is no archive (tar, tgz, zip){hint}")
        return
    infos = sorted(path.rglob("*.info"))
    if not infos:
        raise ReportError(
            f"--compare {path}: there are no COCO data, no .info file, in this folder"
        )
    if (path / "config.json").is_file():
        labels = sorted({str(info.parent) for info in path.glob("data/*/*.info")})
        raise ReportError(
            f"--compare {path}: this is the folder of a run; give that of a solver's data in it: "
            + (", ".join(labels) or "'casmore merge' makes them")
        )
    for info in infos:
        text = info.read_text(encoding="utf-8", errors="replace")
        for found in _SUITE.findall(text):
            if found != suite and not {found, suite} <= _COMPARABLE:
                raise ReportError(
                    f"--compare {path}: these are data of the suite {found}, the run's are of "
                    f"{suite}"
                )
        for name in _DATA_FILE.findall(text):
            _check_whole(info.parent / name.replace("\\", "/"), info)


def _check_whole(data: Path, info: Path) -> None:
    """Check that a data file is there, and its last line not cut short."""
    if not data.is_file():
        raise ReportError(f"{data} is missing, which {info} names: the data are incomplete")
    lines = [line for line in data.read_bytes().splitlines() if not line.startswith(b"%")]
    if not lines or len(lines[-1].split()) < len(lines[-2].split() if lines[1:] else ()):
        what = "is empty" if not lines else "ends in the middle of a line"
        raise ReportError(f"{data} {what}: the data are incomplete")
