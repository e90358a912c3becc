"""Limits of a worker process: time, memory, threads; and its end with the parent."""

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import threadpoolctl

# Environment variables of a worker. Two workers with two BLAS threads each are slower than a single
# worker. A Matplotlib backend inherited from a notebook may not be installed. Output of a solver or
# of cocopp must not fail in a terminal that supports only ASCII.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": "utf-8:backslashreplace",
}
_ORPHAN_CHECK_SECONDS = 0.5
# Code that does not return to Python can't be interrupted: its process is killed this much later.
_GRACE_SECONDS = 2.0
_GIB = 2**30


class UnitTimeoutError(BaseException):
    """A unit exceeded its time limit; not an ``Exception``, which a solver might catch."""


def cores() -> int:
    """Return the number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def prepare_worker(parent: int, path: list[str], memory_gib: float | None = None) -> None:
    """Set up a worker process.

    It uses one BLAS thread, ignores Ctrl-C, ends with its parent, and has a memory limit.

    Parameters
    ----------
    parent
        The parent process.
    path
        The parent's ``sys.path``, in which solvers given as module:attribute are found.
    memory_gib
        Memory that the process may allocate beyond its current size; None: no limit.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path
    threadpoolctl.threadpool_limits(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if memory_gib is not None:
        limit_memory(memory_gib)


def can_limit_memory() -> bool:
    """Whether this system enforces a memory limit; macOS accepts one but ignores it."""
    return sys.platform == "linux"


def limit_memory(gib: float) -> None:
    """Make allocations of more than ``gib`` beyond the current size raise ``MemoryError``.

    This limits the address space, which Linux enforces; see `can_limit_memory`.
    """
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + int(gib * _GIB)
    resource.setrlimit(
        resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
    )


@contextmanager
def time_limit(seconds: float | None, folder: Path) -> Iterator[None]:
    """Raise ``UnitTimeoutError`` after this time; works only in the main thread.

    If compiled code does not return to Python, the process is killed a little later, and a
    traceback is written into ``folder``. Changes of the system clock have no effect.
    """
    if seconds is None:
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        raise UnitTimeoutError(f"took longer than unit_timeout = {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    with hanging_trace(folder).open("w", encoding="utf-8") as trace:
        faulthandler.dump_traceback_later(seconds + _GRACE_SECONDS, exit=True, file=trace)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)


def hanging_trace(folder: Path) -> Path:
    """Return the file for the traceback of a process that hung."""
    return folder / "hanging.txt"


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(1)
