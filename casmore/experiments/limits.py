"""What a worker process may use: time, memory, threads; and that it ends with its parent."""

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

# Environment variables of a worker. Two workers with two BLAS threads each are slower than one
# worker alone; a backend that Matplotlib was told to use in a notebook may not be installed; and
# what a solver or cocopp prints must not fail because a terminal knows ASCII only.
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
# Code that does not return to Python can't be interrupted: its process is ended this much later.
_GRACE_SECONDS = 2.0
_GIB = 2**30


class UnitTimeoutError(BaseException):
    """A unit took longer than it may; no ``Exception``, which a solver might catch."""


def cores() -> int:
    """Return the number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def prepare_worker(parent: int, path: list[str], memory_gib: float | None = None) -> None:
    """Set up a worker process.

    One BLAS thread, Ctrl-C left to the parent, no life after it, a limit to its memory.

    Parameters
    ----------
    parent
        The process with which this one ends.
    path
        The parent's ``sys.path``: solvers given as module:attribute are found there.
    memory_gib
        Memory that the process may use beyond what it has now; None: no limit.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path
    threadpoolctl.threadpool_limits(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if memory_gib is not None:
        limit_memory(memory_gib)


def can_limit_memory() -> bool:
    """Whether this system enforces a limit: macOS takes one and ignores it."""
    return sys.platform == "linux"


def limit_memory(gib: float) -> None:
    """Let allocations that go ``gib`` beyond the present size fail with a ``MemoryError``.

    What is limited is the address space, which Linux enforces; see `can_limit_memory`.
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
    """Raise ``UnitTimeoutError`` in what takes longer; works only in the main thread.

    Compiled code that does not return to Python is ended with its process a little later, and a
    traceback is written into ``folder``. Setting the clock has no effect.
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
    """End this process when its parent has ended, even if it was killed."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(1)
