"""Processes that evaluate points; one that fails, dies or hangs costs only its own value."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import queue
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SECONDS_BETWEEN_LOOKS = 2.0  # interval at which an idle worker checks its parent


class Outcome(NamedTuple):
    """An evaluation that has ended.

    Attributes
    ----------
    key
        The key it was submitted with.
    returned
        What the function returned; None if it failed.
    failure
        Why it failed; None if it did not.
    """

    key: int
    returned: Any
    failure: str | None = None


class Pool(Protocol):
    """A pool of evaluations in progress."""

    capacity: int

    def submit(self, key: int, x: Array) -> None:
        """Begin an evaluation; at most ``capacity`` may be in progress."""

    def wait(self, seconds: float | None) -> list[Outcome]:
        """Return evaluations that have ended, at least one unless the time limit has passed."""

    def close(self) -> None:
        """Abandon all evaluations in progress."""


class WorkerPool:
    """Child processes, each connected by a pipe.

    Parameters
    ----------
    call
        Evaluates a point; it must be picklable.
    workers
        Number of processes.
    timeout
        Seconds after which an evaluation counts as failed and its process is ended; None: never.

    Raises
    ------
    TypeError
        If ``call`` can't be pickled.
    """

    def __init__(self, call: Callable[[Array], Any], workers: int, timeout: float | None) -> None:
        _check_picklable(call)
        self.capacity = workers
        self._call, self._timeout = call, timeout
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._busy: dict[Connection, tuple[BaseProcess, int, float]] = {}

    def submit(self, key: int, x: Array) -> None:
        """Begin an evaluation in an idle process, or in a new one."""
        while self._idle:
            process, connection = self._idle.pop()
            try:
                connection.send(x)
                break
            except OSError:  # it has died while it was idle
                connection.close()
        else:
            process, connection = self._started()
            with suppress(OSError):  # it has died, which `wait` detects
                connection.send(x)
        deadline = math.inf if self._timeout is None else time.monotonic() + self._timeout
        self._busy[connection] = process, key, deadline

    def wait(self, seconds: float | None) -> list[Outcome]:
        """Return evaluations that have ended: by a value, an error, a crash or the timeout."""
        limit = math.inf if seconds is None else time.monotonic() + seconds
        while self._busy:
            until = min(limit, *(deadline for _, _, deadline in self._busy.values()))
            left = None if until == math.inf else max(0.0, until - time.monotonic())
            ended = [self._received(c) for c in wait(list(self._busy), left)]  # type: ignore[arg-type]
            ended += self._overdue()
            if ended or time.monotonic() >= limit:
                return ended
        return []

    def close(self) -> None:
        """End all processes."""
        pairs = [*self._idle, *((process, c) for c, (process, _, _) in self._busy.items())]
        for process, connection in pairs:
            process.terminate()
            connection.close()
        for process, _ in pairs:
            process.join()
        self._busy, self._idle = {}, []

    def _started(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=_serve, args=(theirs, self._call), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def _received(self, connection: Connection) -> Outcome:
        process, key, _ = self._busy.pop(connection)
        try:
            returned, failure = connection.recv()
        except (EOFError, OSError):
            process.join()
            connection.close()
            return Outcome(key, None, f"its worker died (exit code {process.exitcode})")
        self._idle.append((process, connection))
        return Outcome(key, returned, failure)

    def _overdue(self) -> list[Outcome]:
        now, ended = time.monotonic(), []
        for connection, (process, key, deadline) in list(self._busy.items()):
            if now >= deadline and not connection.poll():
                del self._busy[connection]
                process.kill()
                process.join()
                connection.close()
                ended.append(Outcome(key, None, f"it took more than {self._timeout} s"))
        return ended


def _check_picklable(call: Callable[[Array], Any]) -> None:
    try:
        pickle.dumps(call)
    except Exception as error:
        raise TypeError(
            "f can't be sent to worker processes; define it at the top of a module, or give "
            f"executor=concurrent.futures.ThreadPoolExecutor(...): {error}"
        ) from error


def _serve(connection: Connection, call: Callable[[Array], Any]) -> None:
    """Evaluate points until the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked process has the parent's handler
    parent = os.getppid()  # the caller, or a fork server, which ends with the caller
    while True:
        try:
            while not connection.poll(_SECONDS_BETWEEN_LOOKS):
                if os.getppid() != parent:
                    return
            x = connection.recv()
        except (EOFError, OSError):
            return
        try:
            message: tuple[Any, str | None] = call(x), None
        except Exception as error:
            message = None, f"{type(error).__name__}: {error}"
        try:
            connection.send(message)
        except Exception as error:  # the value returned by f can't be pickled
            connection.send((None, f"{type(error).__name__}: {error}"))


class ExecutorPool:
    """An executor given by the user: of ``concurrent.futures``, or a dask client.

    Parameters
    ----------
    call
        Evaluates a point.
    executor
        Has ``submit``; of a dask client, its own executor is used.
    in_flight
        Number of evaluations in progress at a time.
    timeout
        Seconds after which an evaluation counts as failed; it may continue in the background.

    Raises
    ------
    TypeError
        If the executor has processes, and ``call`` can't be pickled.
    """

    def __init__(
        self, call: Callable[[Array], Any], executor: Any, in_flight: int, timeout: float | None
    ) -> None:
        if isinstance(executor, ProcessPoolExecutor):
            _check_picklable(call)
        self.capacity = in_flight
        self._call, self._timeout = call, timeout
        # a dask client: its own futures are not concurrent.futures, and assume that f is pure
        own = hasattr(executor, "get_executor")
        self._executor = executor.get_executor(pure=False) if own else executor
        self._ended: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()
        self._under_way: dict[int, tuple[Future[Any], float]] = {}

    def submit(self, key: int, x: Array) -> None:
        """Submit an evaluation to the executor."""
        deadline = math.inf if self._timeout is None else time.monotonic() + self._timeout
        future = self._executor.submit(self._call, x)
        self._under_way[key] = future, deadline
        future.add_done_callback(lambda ended: self._ended.put((key, ended)))

    def wait(self, seconds: float | None) -> list[Outcome]:
        """Return evaluations that have ended."""
        limit = math.inf if seconds is None else time.monotonic() + seconds
        while self._under_way:
            until = min(limit, *(deadline for _, deadline in self._under_way.values()))
            left = None if until == math.inf else max(0.0, until - time.monotonic())
            ended: list[Outcome] = []
            try:
                key, future = self._ended.get(timeout=left)
                # not an abandoned one, whose key may be that of a later evaluation
                if key in self._under_way and self._under_way[key][0] is future:
                    ended.append(self._outcome(key))
            except queue.Empty:
                pass
            ended += self._overdue()
            if ended or time.monotonic() >= limit:
                return ended
        return []

    def close(self) -> None:
        """Cancel evaluations that have not begun; the executor stays open."""
        for future, _ in self._under_way.values():
            future.cancel()
        self._under_way = {}

    def _outcome(self, key: int) -> Outcome:
        future, _ = self._under_way.pop(key)
        try:
            return Outcome(key, future.result())
        except Exception as error:
            return Outcome(key, None, f"{type(error).__name__}: {error}")

    def _overdue(self) -> list[Outcome]:
        now, ended = time.monotonic(), []
        for key, (future, deadline) in list(self._under_way.items()):
            if now >= deadline and not future.done():
                future.cancel()
                del self._under_way[key]
                ended.append(Outcome(key, None, f"it took more than {self._timeout} s"))
        return ended
