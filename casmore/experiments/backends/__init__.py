"""Backends, which run batches of units in processes or on machines."""

from casmore.experiments import limits
from casmore.experiments.backends.backend import Backend, BackendError, Batch, WorkerDiedError
from casmore.experiments.config.base import Run
from casmore.experiments.kernels import NotPortableError, check_portable

__all__ = ["Backend", "BackendError", "Batch", "WorkerDiedError", "make"]


_WORKERS_PER_CORE = 16  # of this machine: each is a process of some 100 MiB


def make(run: Run, workers: int = 1) -> Backend:
    """Return the backend that a config names; backends are imported on demand.

    Parameters
    ----------
    run
        The config's section.
    workers
        Number of workers that it is to run.

    Raises
    ------
    BackendError
        If its package is not installed, this system can't limit memory as the config requires,
        the machine lacks the kernels of ``portable``, or it can't run so many processes.
    """
    if run.memory_gib is not None and not limits.can_limit_memory():
        raise BackendError(
            f"run.memory_gib = {run.memory_gib}: only Linux enforces a memory limit; "
            "leave the setting out"
        )
    if run.portable:
        try:
            check_portable()
        except NotPortableError as error:
            raise BackendError(str(error)) from error
    match run.backend:
        case "loky":
            from casmore.experiments.backends.loky import LokyBackend

            most = _WORKERS_PER_CORE * limits.cores()
            if workers > most:
                raise BackendError(
                    f"{workers} workers are too many for the {limits.cores()} cores of this "
                    f"machine; use at most {most}, or another backend"
                )
            return LokyBackend(run.memory_gib)
        case "dask":
            from casmore.experiments.backends.dask import DaskBackend

            assert run.dask is not None  # the config was checked
            return DaskBackend(run.dask.scheduler, run.memory_gib)
        case "slurm":
            from casmore.experiments.backends.slurm import SlurmBackend

            return SlurmBackend(run.slurm, run.memory_gib)
