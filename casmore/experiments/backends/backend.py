"""The contract between the runner, which loops over a plan, and what runs its batches."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from casmore.experiments.work_unit import Work
from casmore.experiments.worker import UnitOutcome, Workplace

Batch = tuple[Work, ...]


class WorkerDiedError(RuntimeError):
    """A worker process was ended from outside, or crashed."""


class BackendError(RuntimeError):
    """The backend is not available; the message says what to do."""


def engine(package: str, backend: str) -> Any:
    """Import the package on which a backend is built.

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
    """Runs batches somewhere, each in a process with one BLAS thread, one unit after another.

    Batches write into the run's folder, which all machines share; outcomes are for the display,
    and say why a unit failed.
    """

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Run batches and yield the outcomes as they come.

        When this generator is closed, or raises, it has stopped all that it had started, as far
        as the backend can.

        Parameters
        ----------
        batches
            What to run, in this order; a batch is taken when a worker will soon be free for it.
        place
            Where and how.
        workers
            How many units to run at a time.
        tick
            Called about once a second while waiting.

        Raises
        ------
        WorkerDiedError
            If a worker was lost, and with it its current batches. Published units are kept.
        BackendError
            If the backend is not available.
        """
