"""What spreads batches of units over processes and machines, by name."""

from casmore.experiments.backends.backend import Backend, BackendError, Batch, WorkerDiedError
from casmore.experiments.config.base import Run

__all__ = ["Backend", "BackendError", "Batch", "WorkerDiedError", "make"]


def make(run: Run) -> Backend:
    """Return the backend that a config names; each is imported only when it is asked for.

    Raises
    ------
    BackendError
        If its package is not installed.
    """
    match run.backend:
        case "loky":
            from casmore.experiments.backends.loky import LokyBackend

            return LokyBackend(run.memory_gib)
        case "dask":
            from casmore.experiments.backends.dask import DaskBackend

            assert run.dask is not None  # the config was checked
            return DaskBackend(run.dask.scheduler, run.memory_gib)
        case "slurm":
            from casmore.experiments.backends.slurm import SlurmBackend

            return SlurmBackend(run.slurm, run.memory_gib)
