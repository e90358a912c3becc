"""A child process that isolates a worker from the units it runs.

A dask worker runs its tasks in threads, and a SLURM job has to report its result. COCO's observer,
however, needs a separate process, a time limit needs the main thread, and a unit that crashes or
exhausts the memory must not affect other units. Therefore the worker passes its batches to a child
process, and reports the unit that was running if the child dies.
"""

import os
import pickle
import shutil
import subprocess
import sys
import threading
from typing import Any

from casmore.experiments.backends.backend import Batch
from casmore.experiments.kernels import check_portable, worker_environment
from casmore.experiments.limits import prepare_worker
from casmore.experiments.store.locks import host
from casmore.experiments.store.run_folder import Leftover
from casmore.experiments.worker import UnitOutcome, Workplace, run_batch

_mine = threading.local()  # one child for each thread of a worker, kept from batch to batch


def run_in_cell(
    batch: Batch, place: Workplace, path: list[str], memory_gib: float | None
) -> list[UnitOutcome]:
    """Run a batch in the calling thread's child process.

    Parameters
    ----------
    batch, place
        See ``run_batch``.
    path
        The ``sys.path`` of the session.
    memory_gib
        Memory limit of the child; None: no limit.

    Returns
    -------
    list
        An outcome for each unit. If the child died, only the outcome of the unit that was running,
        marked as such; the rest of the batch has to be run again.
    """
    cell = getattr(_mine, "cell", None)
    if cell is None or not cell.serves(path, memory_gib, place.portable):
        if place.portable:  # this machine may be another one than the session's
            check_portable()
        cell = _mine.cell = Cell(path, memory_gib, place.portable)
    outcomes = cell.run(batch, place)
    if outcomes is not None:
        return outcomes
    _mine.cell = None
    return [
        UnitOutcome(left.unit, 0.0, error=f"process {cell.pid} on {host()} died", worker_died=True)
        for left in _left_by(cell.pid, place)
        if left.unit in {work.unit for work in batch}
    ]


class Cell:
    """A child process that runs batches, one after another."""

    def __init__(self, path: list[str], memory_gib: float | None, portable: bool) -> None:
        self._for = path, memory_gib, portable
        here = os.pathsep.join(filter(None, path))
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **worker_environment(portable), "PYTHONPATH": here},
        )
        self._send((os.getpid(), path, memory_gib))

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._child.pid

    def serves(self, path: list[str], memory_gib: float | None, portable: bool) -> bool:
        """Whether the child is running with this environment and these limits."""
        return self._for == (path, memory_gib, portable) and self._child.poll() is None

    def run(self, batch: Batch, place: Workplace) -> list[UnitOutcome] | None:
        """Return the outcomes, or None if the child has died."""
        assert self._child.stdout is not None
        try:
            self._send((batch, place))
            outcomes: list[UnitOutcome] = pickle.load(self._child.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._child.kill()
            self._child.wait()
            return None
        return outcomes

    def _send(self, message: Any) -> None:
        assert self._child.stdin is not None
        pickle.dump(message, self._child.stdin)
        self._child.stdin.flush()


def _left_by(pid: int, place: Workplace) -> list[Leftover]:
    """Return and remove the private folders of a dead process of this machine."""
    found = [left for left in place.folder.leftovers() if (left.host, left.pid) == (host(), pid)]
    for left in found:
        shutil.rmtree(left.path, ignore_errors=True)
    return found


def main() -> None:
    """Run in the child: read batches and write outcomes until standard input is closed."""
    # output of a solver must not mix with the outcomes
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    prepare_worker(*pickle.load(sys.stdin.buffer))
    while True:
        try:
            batch, place = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(run_batch(batch, place), answers)
        answers.flush()


if __name__ == "__main__":
    main()
