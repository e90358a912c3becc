"""Worker processes: batches go in, outcomes come out, a killed worker is noticed."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from pathlib import Path

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from casmore.experiments.plan import Work
from casmore.experiments.unit import Outcome, prepare_worker, run_batch

_TICK_SECONDS = 0.5
_QUEUED_PER_WORKER = 3
# Two workers with two BLAS threads each are slower than one worker alone.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)


class WorkerDiedError(RuntimeError):
    """A worker process was ended from outside, or crashed; its pool is gone with it."""


def run_batches(
    batches: Iterable[tuple[Work, ...]], root: Path, *, workers: int, tick: Callable[[], None]
) -> Iterator[Outcome]:
    """Run batches in worker processes and yield the outcomes as they come.

    joblib's ``Parallel`` would take a pool of one worker into this process, where a crash of the
    solver is the end of everything; hence its executor, loky, directly.

    Parameters
    ----------
    batches
        What to run, in this order.
    root
        The run's folder.
    workers
        Number of processes.
    tick
        Called now and then while waiting.

    Raises
    ------
    WorkerDiedError
        If a worker was killed. What was being run is lost, what is published is not.
    """
    queue = iter(batches)
    executor = ProcessPoolExecutor(
        max_workers=workers,
        initializer=prepare_worker,
        initargs=(os.getpid(), sys.path),
        env=_ONE_THREAD,
    )
    try:
        running: set[Future[list[Outcome]]] = set()
        while True:
            for batch in islice(queue, workers * _QUEUED_PER_WORKER - len(running)):
                running.add(executor.submit(run_batch, batch, root))
            if not running:
                break
            done, running = wait(running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
            tick()
    except BrokenProcessPool as error:
        raise WorkerDiedError(str(error)) from error
    finally:
        # also on Ctrl-C, and when the caller loses interest: nobody waits for a unit to end
        executor.shutdown(wait=True, kill_workers=True)
