"""cocopp's report of a run: one subprocess, a log, and a place that stays the same.

cocopp writes into a sub-folder named after the time. The report is made in a private folder,
tidied, and only then put in the place of the last one, which a failure leaves alone.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from casmore.reports.errors import ReportError
from casmore.reports.tidy import tidy

_STAMP = ".made-of"
COMPARISON = "comparison"
_TAIL = 15  # lines of the log that an error shows


def make(folders: Sequence[Path], target: Path, *, full: bool = False) -> Path:
    """Make cocopp's report, unless what is there is of the same data already.

    Parameters
    ----------
    folders
        COCO data, a folder or archive for each algorithm, named like it.
    target
        Where the report goes; what is there is replaced. The log is put beside it,
        as ``<target>.log``.
    full
        Everything cocopp has (a page for each function in each dimension, a part for each
        algorithm alone, PDF, full resolution), which takes about ten times as long.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    ReportError
        If cocopp fails; with the end of its log.
    """
    if is_current(folders, target, full=full):
        return target / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    log = target.with_name(target.name + ".log")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as private:
        made = Path(private, "new")
        _run(folders, made, log, full=full)
        _name_parts(made)
        tidy(made)
        (made / _STAMP).write_text(_state(folders, full=full), encoding="utf-8")
        if target.exists():
            target.rename(Path(private, "old"))
        made.rename(target)
    return target / "index.html"


def is_current(folders: Sequence[Path], target: Path, *, full: bool = False) -> bool:
    """Whether ``make`` would leave the report as it is."""
    stamp = target / _STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _state(folders, full=full)


def _state(folders: Sequence[Path], *, full: bool) -> str:
    """Return a hash of all that a report is made of: data, its kind, and who makes it."""
    state = sha256(f"{full} {metadata.version('cocopp')} {metadata.version('casmore')}\n".encode())
    for folder in folders:
        state.update(f"{folder.name}\n".encode())
        files = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
        for path in files:
            if path.is_file():
                state.update(f"{path.relative_to(folder)} ".encode())
                state.update(sha256(path.read_bytes()).digest())
    return state.hexdigest()


def _run(folders: Sequence[Path], output: Path, log: Path, *, full: bool) -> None:
    command = [sys.executable, "-m", "casmore.reports.cocopp_process", "--output", str(output)]
    command += ["--full"] if full else []
    command += [str(folder.resolve()) for folder in folders]
    # a report is one busy thread; more of them would only fight with a run beside it
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with log.open("wb") as file:
        code = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        ).returncode
    # cocopp may find nothing to do and say it is done
    if code or not list(output.glob("*/index.html")):
        lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
        raise ReportError(
            f"cocopp failed (exit code {code}); the end of its log {log}:\n"
            + "\n".join(f"  {line}" for line in lines[-_TAIL:])
        )


def _name_parts(report: Path) -> None:
    """Give the time-stamped parts names that stay, in the file system and in the links."""
    for part in [path for path in report.iterdir() if path.is_dir()]:
        if (part / "index.html").exists():
            name = COMPARISON
        else:  # NAME_MMDDHHhMMSS
            name = "single-" + part.name.rpartition("_")[0]
        for file in (report / "index.html", report / "cocopp_commands.tex"):
            file.write_bytes(file.read_bytes().replace(part.name.encode(), name.encode()))
        part.rename(part.with_name(name))
