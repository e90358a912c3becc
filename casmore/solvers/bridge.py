"""A bridge that gives an ask-and-tell interface to solvers that call the objective.

The wrapped solver runs in a separate thread and calls an objective that waits: it passes the points
to the caller, and returns when their values are told. Only one of the two threads runs at any time,
so the run is as deterministic as the wrapped solver. If the caller can provide a function, as an
experiment does, `Bridge.run_through` needs no thread: the same run, faster.

A running thread can't be pickled. Instead, the start of the run and all values told are pickled. On
its next use the copy starts the wrapped solver again and answers from that record until it has
caught up. This is exact, evaluates nothing, and takes the computing time of the wrapped solver.
"""

import math
import threading
import weakref
from array import array
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_samples, valid_start, valid_target
from casmore.algorithms.stopping import StopReason, reached

Array = NDArray[np.float64]

_SECONDS_TO_END = 5.0
# Number of consecutive requests without a finite point after which the wrapped solver has failed
_MOST_LOST = 1000


class Objective(Protocol):
    """The callable that a wrapped solver evaluates: a point, or a batch of shape (k, n)."""

    def __call__(self, x: ArrayLike, /) -> Any:
        """Return the value of a point, or the values of a batch."""


Run = Callable[[Objective], dict[StopReason, float]]


class _ClosedError(BaseException):
    """Unwinds the wrapped solver; not an ``Exception``, so that its handlers do not catch it."""


class _Requests:
    """The objective passed to a wrapped solver: converts its calls to batches of finite points."""

    def __init__(self, hand_over: Callable[[Array], Array]) -> None:
        self._hand_over = hand_over
        self._lost = 0  # requests in a row without a finite point

    def __call__(self, x: ArrayLike, /) -> Any:
        # a copy: solvers may reuse the array that they pass
        points = np.array(x, dtype=float)
        if points.ndim == 1:
            return float(self._values_of(points[np.newaxis])[0])
        return self._values_of(points)

    def _values_of(self, points: Array) -> Array:
        if math.isfinite(points.sum()):  # the usual case; if the sum overflows, check each point
            self._lost = 0
            return self._hand_over(points)
        finite = np.isfinite(points).all(axis=1)
        values = np.full(len(points), math.inf)
        if finite.any():
            self._lost = 0
            values[finite] = self._hand_over(points[finite])
            return values
        self._lost += 1
        if self._lost > _MOST_LOST:
            raise ArithmeticError("the solver asks only for points that are not finite")
        return values


class _Exchange:
    """Exchanges points and values between the threads; refers to neither of them."""

    def __init__(self, run: Run) -> None:
        self.points: Array | None = None  # None: the wrapped solver has ended
        self.reasons: dict[StopReason, float] = {}
        self.error: BaseException | None = None
        self._values: Array = np.empty(0)
        self._closed = False
        # each lock is released by the other side: switching takes a few microseconds
        self._asked, self._told = threading.Lock(), threading.Lock()
        self._asked.acquire()
        self._told.acquire()
        self._thread = threading.Thread(
            target=self._serve, args=(run,), name="casmore-bridge", daemon=True
        )
        self._thread.start()
        self._asked.acquire()

    def answer(self, values: Array) -> None:
        """Continue the wrapped solver with these values, up to its next points or its end."""
        self._values = values
        self._told.release()
        self._asked.acquire()

    def close(self) -> None:
        """End the wrapped solver where it is."""
        if self._thread.is_alive() and not self._closed:
            self._closed = True
            self._told.release()
            # a solver that catches even this exception keeps running until the process ends
            self._thread.join(_SECONDS_TO_END)

    def _serve(self, run: Run) -> None:
        try:
            with np.errstate(all="ignore"):  # infinite values are handled by the wrapped solver
                self.reasons = run(_Requests(self._hand_over))
        except _ClosedError:
            pass
        except BaseException as error:  # raised again in the caller's thread
            self.error = error
        finally:
            self.points = None
            self._asked.release()

    def _hand_over(self, points: Array) -> Array:
        if self._closed:
            raise _ClosedError
        self.points = points
        self._asked.release()
        self._told.acquire()
        if self._closed:
            raise _ClosedError
        return self._values


class Bridge:
    """An ask-and-tell interface to a solver that calls the objective.

    ``ask`` returns the points that the solver evaluates next: one point, or a batch if it is
    vectorized. The solver continues when all of them have been told, at once or in parts. Any other
    points told count as evaluations and for the best point, but are not passed to the solver. NaN
    is passed as infinity. If the solver then evaluates points that are not finite, their value is
    infinity, and ``ask`` does not return them.

    If the solver raises an ``ArithmeticError``, ``ValueError`` or ``LinAlgError`` after its first
    values, the run ends with `StopReason.UPDATE_FAILED`. Other errors are raised.

    Parameters
    ----------
    run
        Runs the wrapped solver on an objective and returns the reasons for its end. Called again
        with the same values, it must evaluate the same points. For pickling, it must be a module
        level function or a ``functools.partial`` of one. It must not refer to the bridge.
    x0
        The initial point, shape (n,), which is the best point until a value is told.
    sigma0
        Checked only; ``run`` may use it.
    target
        Stop once a value is at most this.
    population_size
        The population size, which a restart can enlarge; 0: none.

    Notes
    -----
    The thread begins with the first ``ask`` and ends with the run, or when the bridge is dropped,
    or at the end of the process.
    """

    def __init__(
        self,
        run: Run,
        x0: ArrayLike,
        sigma0: float,
        *,
        target: float | None = None,
        population_size: int = 0,
    ) -> None:
        self._best_x, self.best_y = valid_start(x0, sigma0), math.inf
        self.population_size = population_size
        self.evaluations = 0
        self._run = run
        self._target = valid_target(target)
        self._record = array("d")  # all values passed to the wrapped solver
        self._pending: Array | None = None  # the points it waits for; None: not begun, or ended
        self._answers: Array | None = None  # the values of these points; None: none yet
        self._missing: NDArray[np.bool_] | None = None
        self._ended: dict[StopReason, float] | None = None
        self._exchange: _Exchange | None = None

    @property
    def mean(self) -> Array:
        """The best point: wrapped solvers provide no other estimate of the optimum."""
        return self.best_x

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,); the initial point at first."""
        return self._best_x.copy()

    def ask(self) -> Array:
        """Return the points that the wrapped solver waits for, except those told, shape (k, n).

        Raises
        ------
        RuntimeError
            If it has ended.
        """
        self._catch_up()
        if self._pending is None:
            raise RuntimeError(f"the solver has ended ({self._ended}) and asks for no more points")
        return self._pending.copy() if self._missing is None else self._pending[self._missing]

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values ``y``, shape (k,), of any points ``X``, shape (k, n).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = self._count(X, y)
        if len(y) == 0 or self._pending is None:
            return
        answers = self._match(self._pending, X, y)
        if answers is None:
            return
        self._catch_up()
        assert self._exchange is not None
        self._record.extend(answers)
        self._exchange.answer(answers)
        self._receive(self._exchange)

    def stop(self) -> dict[StopReason, float]:
        """Return why the wrapped solver ended, or that the target is reached; empty: continue."""
        return {**(self._ended or {}), **reached(self.best_y, self._target)}

    @property
    def begun(self) -> bool:
        """Whether the wrapped solver has received values, is running, or has ended."""
        return self._exchange is not None or self._ended is not None or len(self._record) > 0

    def run_through(self, evaluate: Callable[[Array], Array | None]) -> None:
        """Run the wrapped solver to its end in this thread.

        Parameters
        ----------
        evaluate
            Returns the values of points, shape (k, n), or None to interrupt the run, which can then
            be continued by ask and tell.

        Raises
        ------
        RuntimeError
            If the run has begun already.
        """
        if self.begun:
            raise RuntimeError("the run has begun already; continue it by ask and tell")
        failure: BaseException | None = None

        def hand_over(points: Array) -> Array:
            nonlocal failure
            try:
                values = evaluate(points)
            except BaseException as error:  # of the objective: the solver must not catch it
                failure = error
                raise _ClosedError from error
            if values is None:
                raise _ClosedError
            _, y = self._count(points, values)
            self._record.extend(y)
            if reached(self.best_y, self._target):
                raise _ClosedError
            return y

        try:
            with np.errstate(all="ignore"):
                reasons = self._run(_Requests(hand_over))
        except _ClosedError:
            if failure is not None:
                raise failure from None
        except Exception as error:
            self._end({}, error)
        else:
            self._end(reasons, None)

    def _count(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        X, y = valid_samples(X, y, len(self._best_x))
        self.evaluations += len(y)
        if len(y) > 0:
            best = int(np.argmin(y))
            if y[best] < self.best_y:
                self._best_x, self.best_y = X[best].copy(), float(y[best])
        return X, y

    def _match(self, pending: Array, X: Array, y: Array) -> Array | None:
        """Record the values of pending points; return all values once they are complete."""
        if self._missing is None and X.shape == pending.shape and (pending == X).all():
            return y
        if self._missing is None or self._answers is None:
            self._answers = np.full(len(pending), math.inf)
            self._missing = np.ones(len(pending), dtype=bool)
        for x, value in zip(X, y, strict=True):
            wanted = np.flatnonzero(self._missing & (pending == x).all(axis=1))
            if len(wanted) > 0:
                self._answers[wanted[0]] = value
                self._missing[wanted[0]] = False
        return None if self._missing.any() else self._answers

    def _catch_up(self) -> None:
        """Start the wrapped solver if necessary, and advance it to the end of the record."""
        if self._exchange is not None or self._ended is not None:
            return
        exchange = _Exchange(self._run)
        weakref.finalize(self, exchange.close)
        self._exchange = exchange
        position = 0
        while position < len(self._record) and exchange.points is not None:
            values = self._record[position : position + len(exchange.points)]
            position += len(values)
            exchange.answer(np.array(values))
        if self._pending is None:
            self._receive(exchange)
        elif exchange.points is None or not np.array_equal(exchange.points, self._pending):
            raise RuntimeError(
                "the unpickled solver did not repeat its run: it must ask for the same points "
                "when it is told the same values"
            )

    def _receive(self, exchange: _Exchange) -> None:
        """Take the next points from the channel, or the reasons for its end."""
        self._pending = exchange.points
        self._answers = self._missing = None
        if self._pending is None:
            self._end(exchange.reasons, exchange.error)

    def _end(self, reasons: dict[StopReason, float], error: BaseException | None) -> None:
        self._ended = reasons
        if error is None:
            return
        if len(self._record) == 0 or not isinstance(error, _OVER_VALUES):
            raise error
        self._ended = {StopReason.UPDATE_FAILED: float(self.evaluations)}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_exchange": None}


_OVER_VALUES = (ArithmeticError, ValueError, np.linalg.LinAlgError)
