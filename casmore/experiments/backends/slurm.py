"""SLURM job arrays through submitit; without SLURM, submitit's local executor.

The jobs share the run folder with the session that submitted them, which waits for them. If a
session should not wait for the queue, run a shard in each job: ``casmore run CONFIG --shard 3/16``.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from casmore.experiments.backends.backend import BackendError, Batch, WorkerDiedError, engine
from casmore.experiments.backends.cell import run_in_cell
from casmore.experiments.config.base import Slurm
from casmore.experiments.worker import UnitOutcome, Workplace, outcome_of

_TICK_SECONDS = 2.0
# More jobs than workers, so that the last ones to end are short; at most what SLURM accepts in one
# array, by default 1000.
_JOBS_PER_WORKER, _MOST_JOBS = 4, 1000


class SlurmBackend:
    """An array of jobs, ``workers`` of them at a time.

    Parameters
    ----------
    settings
        Settings of the jobs.
    memory_gib
        Memory limit of the units of each job; None: no limit.

    Raises
    ------
    BackendError
        If ``submitit`` is not installed.
    """

    def __init__(self, settings: Slurm, memory_gib: float | None = None) -> None:
        self._submitit = engine("submitit", "slurm")
        self._settings, self._memory_gib = settings, memory_gib

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Submit all batches as one array and wait for its jobs; cancel them on exit.

        Raises
        ------
        BackendError
            If jobs can't be submitted.
        WorkerDiedError
            If a job was lost, for example because of its time limit.
        """
        waiting = list(batches)
        local = self._settings.cluster == "local"  # starts all jobs at once
        number = min(len(waiting), workers * (1 if local else _JOBS_PER_WORKER), _MOST_JOBS)
        # distributed in turn: batches are sorted, the most expensive first
        jobs = self._submit([sum(waiting[i::number], ()) for i in range(number)], place, workers)
        left = {work.unit for batch in waiting for work in batch}
        lost: Exception | None = None
        try:
            while jobs:
                # a job reports only at its end; its published units are in the folder
                for unit in left & place.folder.published().keys():
                    yield outcome_of(unit, place.folder)
                    left.remove(unit)
                done = [job for job in jobs if job.done()]
                jobs = [job for job in jobs if job not in done]
                for job in done:
                    try:
                        yield from job.result()
                    except Exception as error:  # submitit has no common class for lost jobs
                        lost = error
                tick()
                if jobs:
                    time.sleep(_TICK_SECONDS)
        finally:
            for job in jobs:
                job.cancel(check=False)
        if lost is not None:
            raise WorkerDiedError(str(lost)) from lost

    def _submit(self, shares: list[Batch], place: Workplace, workers: int) -> list[Any]:
        logs = place.root / "slurm"
        try:
            executor = self._submitit.AutoExecutor(logs, cluster=self._settings.cluster)
            executor.update_parameters(
                name="casmore",
                timeout_min=self._settings.minutes_per_job,
                cpus_per_task=1,
                slurm_array_parallelism=workers,
                **self._settings.parameters,
            )
            with executor.batch():
                return [
                    executor.submit(run_in_cell, share, place, sys.path, self._memory_gib)
                    for share in shares
                ]
        except (RuntimeError, NameError, TypeError, OSError) as error:
            raise BackendError(
                f'backend = "slurm", cluster = {self._settings.cluster!r}: can\'t submit jobs: '
                f"{error}"
            ) from error
