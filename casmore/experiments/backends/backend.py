"""The contract between the loop over a plan and what runs its batches."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from casmore.experiments.work_unit import Work
from casmore.experiments.worker import UnitOutcome, Workplace

Batch = tuple[Work, ...]


class WorkerDiedError(RuntimeError):
    """A worker process was ended from outside, or crashed."""


class BackendError(RuntimeError):
    """The engine can't be had; the message says what to do."""


def engine(package: str, backend: str) -> Any:
    """Import the package that a backend is built on.

    Raises
    ------
    BackendError
        If it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise BackendError(
            f'backend = "{backend}" needs the package {error.name!r}: '
            f"pip install 'casmore[{backend}]'"
        ) from error


class Backend(Protocol):
    """Runs batches somewhere, each in a process with one BLAS thread and a unit at a time.

    Batches write into the run's folder, which all machines share; outcomes are for the display,
    and say why a unit failed.
    """

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Run batches and yield the outcomes as they come.

        When this generator is closed, or raises, nothing that it has begun is running any more,
        as far as the engine can bring that about.

        Parameters
        ----------
        batches
            What to run, in this order; taken only as workers become free.
        place
            Where and how.
        workers
            How many units to run at a time.
        tick
            Called now and then while waiting.

        Raises
        ------
        WorkerDiedError
            If a worker was lost and what it had in work with it. What is published stays.
        BackendError
            If the engine can't be had.
        """
