"""The workers of a dask scheduler, on machines that share the run folder.

If a worker is lost, dask assigns its batch to another one. Units that the lost worker published are
not run again.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from casmore.experiments.backends.backend import BackendError, Batch, WorkerDiedError, engine
from casmore.experiments.backends.cell import run_in_cell
from casmore.experiments.worker import UnitOutcome, Workplace

_CONNECT_SECONDS, _TICK_SECONDS = 15, 0.5
_QUEUED_PER_WORKER = 3


class DaskBackend:
    """Runs batches as tasks of dask workers, which run the units in child processes.

    Parameters
    ----------
    scheduler
        The scheduler's address, as ``"tcp://host:8786"``.
    memory_gib
        Memory limit of each child; None: no limit.

    Raises
    ------
    BackendError
        If ``distributed`` is not installed.
    """

    def __init__(self, scheduler: str, memory_gib: float | None = None) -> None:
        self._distributed = engine("distributed", "dask")
        self._scheduler, self._memory_gib = scheduler, memory_gib

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Run batches as tasks; workers that join later are used as well.

        Raises
        ------
        BackendError
            If there is no scheduler at the address.
        WorkerDiedError
            If dask gave up a batch after losing its workers.
        """
        queue = iter(batches)
        with self._client() as client:
            futures: set[Any] = set()
            lost: BaseException | None = None
            while True:
                at_a_time = max(workers, sum(client.nthreads().values()))
                for batch in islice(queue, max(at_a_time * _QUEUED_PER_WORKER - len(futures), 0)):
                    futures.add(self._submit(client, batch, place))
                if not futures:
                    break
                done, futures = self._wait(futures)
                for future in done:
                    if future.status == "finished":
                        yield from future.result()
                    else:
                        lost = _reason(future)
                tick()
            if lost is not None:
                raise WorkerDiedError(str(lost)) from lost

    def _client(self) -> Any:
        try:
            return self._distributed.Client(self._scheduler, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise BackendError(
                f"run.dask.scheduler = {self._scheduler!r}: no dask scheduler answers there "
                f"({type(error).__name__}); start one with 'dask scheduler', workers with "
                "'dask worker ADDRESS'"
            ) from error

    def _submit(self, client: Any, batch: Batch, place: Workplace) -> Any:
        # pure=False: dask must not treat two batches as the same task and reuse its result
        return client.submit(
            run_in_cell, batch, place, sys.path, self._memory_gib, pure=False, retries=0
        )

    def _wait(self, futures: set[Any]) -> tuple[set[Any], set[Any]]:
        try:
            waited = self._distributed.wait(
                futures, timeout=_TICK_SECONDS, return_when="FIRST_COMPLETED"
            )
        except TimeoutError:
            return set(), futures
        return set(waited.done), set(waited.not_done)


def _reason(future: Any) -> BaseException:
    """Return why there is no result; if the scheduler is lost, tasks are cancelled."""
    if future.status == "error":
        error: BaseException = future.exception()
        return error
    return RuntimeError(f"dask reports a batch as {future.status}")
