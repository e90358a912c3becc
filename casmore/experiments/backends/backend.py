"""The contract between the runner, which loops over a plan, and the backend, which runs batches."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from casmore.experiments.work_unit import Work
from casmore.experiments.worker import UnitOutcome, Workplace

Batch = tuple[Work, ...]


class WorkerDiedError(RuntimeError):
    """A worker process was killed or crashed."""


class BackendError(RuntimeError):
    """The backend is not available; the message says what to do."""


def engine(package: str, backend: str) -> Any:
    """Import the package that a backend uses.

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
    """Runs batches, each in a process with one BLAS thread, one unit after another.

    Batches write into the run folder, which all machines share. Outcomes are for the display and
    give the reasons for failures.
    """

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Run batches and yield the outcomes as they arrive.

        When this generator is closed, or raises, it stops everything that it started, as far as the
        backend can.

        Parameters
        ----------
        batches
            The batches, in order; each is consumed shortly before a worker becomes free.
        place
            Run context of the units.
        workers
            Number of units to run at a time.
        tick
            Called about once a second while waiting.

        Raises
        ------
        WorkerDiedError
            If a worker was lost, with its current batches. Published units are kept.
        BackendError
            If the backend is not available.
        """
