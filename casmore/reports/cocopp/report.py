"""cocopp's report of a run: made in a subprocess, and moved into place atomically.

The report is made in a private folder and replaces the previous one only when it is complete. A
failure or Ctrl-C leaves the previous report unchanged.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib import metadata
from itertools import count
from pathlib import Path

from casmore.experiments.limits import ENVIRONMENT
from casmore.reports.cocopp.tidy import tidy
from casmore.reports.report_error import ReportError

COMPARISON = "comparison"
INDEX = "index.html"
SINGLE_INDEX = "index1.html"
_PROCESS = "casmore.reports.cocopp.process"
_STAMP = ".made-of"  # in the report's folder: a hash of all that it is made of
_TIME = re.compile(r"_\d{6}h\d+$")  # what cocopp appends to the names of its folders
_LOST = re.compile(r"UserWarning: (.*) is not writeable\.")
_TAIL = 15  # lines of the log that an error shows


def make(
    folders: Sequence[Path],
    target: Path,
    *,
    full: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Make cocopp's report, unless that of the same data is there already.

    Parameters
    ----------
    folders
        COCO data: for each algorithm a folder or archive, named like it.
    target
        Where the report goes; what is there is replaced. The log is put beside it,
        as ``<target>.log``.
    full
        Everything cocopp has (a page for each function in each dimension, pages for each
        algorithm alone, PDF, full resolution), which takes about ten times as long.
    say
        Called with messages about the progress.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    ReportError
        If cocopp fails; the message shows the end of its log.
    """
    state, stamp = _state(folders, full=full), target / _STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        say("cocopp's report of these data is up to date")
        return target / INDEX
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as private:
        made = Path(private, "new")
        _run(folders, made, target.with_name(target.name + ".log"), full=full, say=say)
        _name_folders(made)
        tidy(made)
        (made / _STAMP).write_text(state, encoding="utf-8")
        if target.exists():
            target.rename(Path(private, "old"))
        made.rename(target)
    return target / INDEX


def _state(folders: Sequence[Path], *, full: bool) -> str:
    """Return a hash of the data, their names, the options and the versions."""
    versions = (metadata.version("cocopp"), metadata.version("casmore"))
    digest = sha256(f"{full} {versions}\n".encode())
    for folder in folders:
        digest.update(f"{folder.name}\n".encode())
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if path.is_file():
                digest.update(f"{path.relative_to(folder)} ".encode())
                digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _run(
    folders: Sequence[Path], output: Path, log: Path, *, full: bool, say: Callable[[str], None]
) -> None:
    """Run cocopp; all it prints goes to ``log``."""
    say("cocopp makes its report ...")
    command = [
        sys.executable,
        "-m",
        _PROCESS,
        "--output",
        str(output),
        "--parent",
        f"{os.getpid()}",
    ]
    command += ["--full"] if full else []
    command += [str(folder.resolve()) for folder in folders]
    began = time.monotonic()
    # cocopp unpacks reference data into its TMPDIR, and may be killed before it has removed them
    with (
        tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as scratch,
        log.open("wb") as file,
    ):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT, "TMPDIR": scratch},
            check=False,
        )
    text = log.read_text(encoding="utf-8", errors="replace")
    # cocopp only warns of figures that it can't write
    if lost := _LOST.findall(text):
        names = ", ".join(Path(path).name for path in lost)
        raise ReportError(f"cocopp could not write {names}; its log is {log}")
    # cocopp may find no data and still exit without an error
    if done.returncode or not any(output.glob(f"*/{INDEX}")):
        lines = text.rstrip().splitlines()
        raise ReportError(
            f"cocopp failed (exit code {done.returncode}); the end of its log {log}:\n"
            + "\n".join(f"  {line}" for line in lines[-_TAIL:])
        )
    say(f"cocopp's report: {time.monotonic() - began:.0f} s")


def _name_folders(made: Path) -> None:
    """Give cocopp's folders, named after the time, names that stay the same."""
    names = dict(_names(made))
    for path in (made / INDEX, made / "cocopp_commands.tex"):
        text = path.read_bytes()
        for theirs, ours in names.items():
            text = text.replace(theirs.encode(), ours.encode())
        path.write_bytes(text)
    for theirs, ours in names.items():
        (made / theirs).rename(made / ours)


def _names(made: Path) -> Iterator[tuple[str, str]]:
    (comparison,) = made.glob(f"*/{INDEX}")
    yield comparison.parent.name, COMPARISON
    taken: set[str] = set()
    for page in sorted(made.glob(f"*/{SINGLE_INDEX}")):
        theirs = page.parent.name
        name = f"single-{_TIME.sub('', theirs)}"
        # the data of two runs may have the same name
        ours = next(n for i in count(1) if (n := name if i == 1 else f"{name}-{i}") not in taken)
        taken.add(ours)
        yield theirs, ours
