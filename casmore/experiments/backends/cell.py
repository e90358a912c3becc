"""A process of its own for the units of a worker that must not die with them.

An engine's worker (dask's, a job of SLURM) runs its tasks in threads, or holds what the engine
needs. COCO's observer wants a process, a time limit its main thread, and a unit that crashes or
takes all memory should cost no more than itself. So the worker hands its batches to a child
process, and says of which unit the child died.
"""

import os
import pickle
import shutil
import subprocess
import sys
import threading
from typing import Any

from casmore.experiments.backends.backend import Batch
from casmore.experiments.limits import ONE_THREAD, prepare_worker
from casmore.experiments.store.locks import host
from casmore.experiments.store.run_folder import Leftover
from casmore.experiments.worker import UnitOutcome, Workplace, run_batch

_mine = threading.local()  # one child for each of a worker's threads, kept from batch to batch


def run_in_cell(
    batch: Batch, place: Workplace, path: list[str], memory_gib: float | None
) -> list[UnitOutcome]:
    """Run a batch in the calling thread's child process.

    Parameters
    ----------
    batch, place
        As of ``run_batch``.
    path
        Where the session finds modules.
    memory_gib
        What the child may take.

    Returns
    -------
    list
        An outcome for each unit. If the child died, only that of the unit it was running, which
        says so: the rest of the batch is to be handed out again.
    """
    cell = getattr(_mine, "cell", None)
    if cell is None or not cell.serves(path, memory_gib):
        cell = _mine.cell = Cell(path, memory_gib)
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

    def __init__(self, path: list[str], memory_gib: float | None) -> None:
        self._for = path, memory_gib
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        )
        self._send((os.getpid(), path, memory_gib))

    @property
    def pid(self) -> int:
        """The child's process."""
        return self._child.pid

    def serves(self, path: list[str], memory_gib: float | None) -> bool:
        """Whether the child is there, and was made for a session like this."""
        return self._for == (path, memory_gib) and self._child.poll() is None

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
    """Return, and remove, what a dead process of this machine was working on."""
    found = [left for left in place.folder.leftovers() if (left.host, left.pid) == (host(), pid)]
    for left in found:
        shutil.rmtree(left.path, ignore_errors=True)
    return found


def main() -> None:
    """Be the child: read batches, write outcomes, until nobody sends any more."""
    # what a solver prints must not come between the outcomes
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
