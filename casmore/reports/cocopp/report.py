"""cocopp's report of a run: a process for each part, one log, a place that stays the same.

The parts are made and put together in a private folder, and only then take the place of the last
report, which a failure or Ctrl-C leaves alone.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from casmore.experiments import limits
from casmore.reports.cocopp import processes
from casmore.reports.cocopp.parts import Part, assemble, parts_of
from casmore.reports.errors import ReportError

_PROCESS = "casmore.reports.cocopp.process"
_TAIL = 15  # lines of the log that an error shows


def make(
    folders: Sequence[Path],
    target: Path,
    *,
    full: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Make cocopp's report, of which parts are left as they are whose data have not changed.

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
    say
        Is told what is going on.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    ReportError
        If cocopp fails; with the end of its log.
    """
    parts = parts_of(folders, full=full)
    missing = [part for part in parts if not part.is_in(target)]
    if not missing:
        say("cocopp's report is that of these data already")
        return target / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as private,
        # the reference data that each process unpacks: not where the run is, which may be far
        tempfile.TemporaryDirectory(prefix="casmore-cocopp-") as scratch,
    ):
        outputs = {part: Path(private, str(i)) for i, part in enumerate(missing)}
        log = target.with_name(target.name + ".log")
        _run(outputs, log, Path(scratch), full=full, say=say)
        made = Path(private, "new")
        assemble(parts, outputs, target, made)
        if target.exists():
            target.rename(Path(private, "old"))
        made.rename(target)
    return target / "index.html"


def _run(
    outputs: dict[Part, Path],
    log: Path,
    scratch: Path,
    *,
    full: bool,
    say: Callable[[str], None],
) -> None:
    """Have each part made where it belongs; their logs end up in one, in the order they end."""
    tasks = {_task(part, output, full=full): part for part, output in outputs.items()}
    at_once = min(limits.cores(), len(tasks))
    say(f"cocopp is at work on {len(tasks)} parts, {at_once} at once ...")
    log.write_bytes(b"")

    def ended(outcome: processes.Outcome) -> None:
        part, text = tasks[outcome.task], outcome.task.log.read_bytes()
        with log.open("ab") as file:
            file.write(f"=== {part.title}\n".encode() + text + b"\n")
        # cocopp may find nothing to do and say it is done
        if outcome.code or not part.index(outputs[part]):
            lines = text.decode(errors="replace").rstrip().splitlines()
            raise ReportError(
                f"cocopp failed (exit code {outcome.code}), {part.title}; the end of its log "
                f"{log}:\n" + "\n".join(f"  {line}" for line in lines[-_TAIL:])
            )
        say(f"  {part.title}: {outcome.seconds:.0f} s")

    processes.run(list(tasks), ended, scratch=scratch, at_once=at_once)


def _task(part: Part, output: Path, *, full: bool) -> processes.Task:
    command = [sys.executable, "-m", _PROCESS, "--output", str(output)]
    command += ["--kind", part.kind, "--parent", str(os.getpid())]
    command += ["--full"] if full else []
    command += [str(folder.resolve()) for folder in part.data]
    return processes.Task(part.title, tuple(command), output.with_suffix(".log"))
