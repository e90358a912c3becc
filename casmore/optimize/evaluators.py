"""Choice of the evaluator from the arguments of `fmin`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.real_numbers import shortened
from casmore.optimize.evaluation import (
    BatchEvaluator,
    Call,
    Evaluator,
    MapEvaluator,
    SerialEvaluator,
)
from casmore.optimize.fmin_arguments import read_count
from casmore.optimize.pool_evaluation import OutcomeReader, PoolEvaluator
from casmore.optimize.worker_pool import ExecutorPool, Pool, WorkerPool

Array = NDArray[np.float64]


@dataclass
class Evaluation:
    """How f is evaluated.

    Attributes
    ----------
    call
        Calls f in this process.
    evaluate
        Evaluates the points of an iteration.
    read
        Converts the outcomes of workers and counts failures.
    asynchronous
        The pool for asynchronous evaluation; None: iteration by iteration.
    """

    call: Call
    evaluate: Evaluator
    read: OutcomeReader
    asynchronous: Pool | None = None

    def value_at(self, x: Array) -> float:
        """Return the value at a point, shape (n,), apart from the search: for the trace.

        Nothing else may be under way, as it may be if evaluations have been abandoned.
        """
        [(_, value)] = self.evaluate(x[np.newaxis], lambda: None)
        return value

    @property
    def abandons(self) -> bool:
        """Whether evaluations are abandoned, and left in the pool, when time is up."""
        return isinstance(self.evaluate, PoolEvaluator)

    def take_failures(self) -> int:
        """Return the number of failures since the last call."""
        failures, self.read.failures = self.read.failures, 0
        return failures


def open_evaluation(
    stack: ExitStack,
    call: Call,
    *,
    vectorized: bool,
    workers: int | Callable[..., Any] | None,
    executor: Any,
    in_flight: int | None,
    timeout: float | None,
) -> Evaluation:
    """Choose the evaluator; pools are closed with ``stack``.

    Raises
    ------
    TypeError, ValueError
        If arguments are invalid or contradict each other.
    """
    read = OutcomeReader()
    if vectorized:
        for name, given in (
            ("workers", workers),
            ("executor", executor),
            ("in_flight", in_flight),
            ("timeout", timeout),
        ):
            if given is not None:
                raise ValueError(f"vectorized=True evaluates a batch in this process: no {name}")
        return Evaluation(call, BatchEvaluator(call), read)
    if workers is not None and executor is not None:
        raise ValueError("give workers or executor, not both")
    if callable(workers):
        if in_flight is not None or timeout is not None:
            raise ValueError("in_flight and timeout need a number of workers or an executor")
        return Evaluation(call, MapEvaluator(call, workers), read)
    pool = _pool(call, workers, executor, in_flight, timeout)
    if pool is None:
        if in_flight is not None or timeout is not None:
            raise ValueError("in_flight and timeout need workers or an executor")
        return Evaluation(call, SerialEvaluator(call), read)
    stack.callback(pool.close)
    asynchronous = None if in_flight is None else pool
    return Evaluation(call, PoolEvaluator(pool, read), read, asynchronous)


def _pool(
    call: Call, workers: Any, executor: Any, in_flight: int | None, timeout: float | None
) -> Pool | None:
    if executor is not None:
        if not hasattr(executor, "submit"):
            raise TypeError(
                "executor must have a method submit, as those of concurrent.futures and dask's "
                f"Client have, not be {shortened(executor)}"
            )
        if in_flight is None:
            size = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        else:
            size = read_count("in_flight", in_flight)
        return ExecutorPool(call, executor, size, timeout)
    if workers is None:
        return None
    count = os.cpu_count() or 1 if workers == -1 else read_count("workers", workers)
    if count == 1 and in_flight is None and timeout is None and workers != -1:
        return None  # as in SciPy: this process
    size = count if in_flight is None else min(count, read_count("in_flight", in_flight))
    return WorkerPool(call, size, timeout)
