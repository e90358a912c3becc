"""What a worker process may take: time, memory, threads; and that it ends with its parent."""

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import threadpoolctl  # type: ignore[import-untyped]

# Two workers with two BLAS threads each are slower than one worker alone.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
_ORPHAN_CHECK_SECONDS = 0.5
# Code that does not come back to Python can't be interrupted; its process is ended this much later.
_GRACE_SECONDS = 2.0
_GIB = 2**30


class UnitTimeoutError(BaseException):
    """A unit took longer than it may. No ``Exception``, so that no solver catches it in passing."""


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
        The process whose end is this one's as well.
    path
        Where the parent finds modules: solvers given as module:attribute are found there, too.
    memory_gib
        What the process may take beyond what it has now; None: what there is.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path
    threadpoolctl.threadpool_limits(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if memory_gib is not None:
        limit_memory(memory_gib)


def limit_memory(gib: float) -> None:
    """Let allocations fail, with a ``MemoryError``, that go ``gib`` beyond what there is now.

    It is the address space that is limited: all that an operating system lets one limit.
    """
    import resource  # not on Windows

    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + int(gib * _GIB)
    resource.setrlimit(
        resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
    )


@contextmanager
def time_limit(seconds: float | None, folder: Path) -> Iterator[None]:
    """Raise ``UnitTimeoutError`` in what takes longer; works in a process's main thread alone.

    Where Python does not get a word in, the process is ended a little later, and where it was then
    is written into ``folder``. The clock is one that nobody can set.
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
    """Where a process that hung has written what it was doing."""
    return folder / "hanging.txt"


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, even one that was killed."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(1)
