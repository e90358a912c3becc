"""Local processes in loky's executor, which joblib uses as well; the default backend."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool

from casmore.experiments.backends.backend import Batch, WorkerDiedError
from casmore.experiments.kernels import worker_environment
from casmore.experiments.limits import prepare_worker
from casmore.experiments.worker import UnitOutcome, Workplace, run_batch

_TICK_SECONDS = 0.5
_QUEUED_PER_WORKER = 3


def _prepare(parent: int, path: list[str], memory_gib: float | None) -> None:
    """Set up a worker; what this module imports is loaded before the memory is limited."""
    prepare_worker(parent, path, memory_gib)


class LokyBackend:
    """A pool of processes.

    joblib's ``Parallel`` runs the tasks of a single worker in the calling process, where a crash of
    the solver would end the run. Therefore this backend uses loky, joblib's executor, directly.

    Parameters
    ----------
    memory_gib
        Memory limit of each worker; None: no limit.
    """

    def __init__(self, memory_gib: float | None = None) -> None:
        self._memory_gib = memory_gib

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Run batches; a killed worker ends the pool, with the batches of the other workers.

        Raises
        ------
        WorkerDiedError
            If a worker was killed.
        """
        queue = iter(batches)
        executor = ProcessPoolExecutor(
            max_workers=workers,
            initializer=_prepare,
            initargs=(os.getpid(), sys.path, self._memory_gib),
            env=worker_environment(place.portable),
        )
        try:
            running: set[Future[list[UnitOutcome]]] = set()
            while True:
                for batch in islice(queue, workers * _QUEUED_PER_WORKER - len(running)):
                    running.add(executor.submit(run_batch, batch, place))
                if not running:
                    break
                done, running = wait(running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
                tick()
        except BrokenProcessPool as error:
            raise WorkerDiedError(str(error)) from error
        finally:
            # also on Ctrl-C, and when the generator is closed: do not wait for running units
            executor.shutdown(wait=True, kill_workers=True)
