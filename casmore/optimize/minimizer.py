"""`fmin`: minimize a function with CAS-MORE."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeResult

from casmore.algorithms.arguments import valid_target
from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.optimize import asynchronous, fmin_arguments
from casmore.optimize.checkpoint import Checkpoint, deciding_arguments
from casmore.optimize.evaluation import Call
from casmore.optimize.evaluation_log import EvaluationLog
from casmore.optimize.evaluators import Evaluation, open_evaluation
from casmore.optimize.known_points import add_known_points
from casmore.optimize.progress_line import ProgressLine
from casmore.optimize.run_result import attach_result, build_result
from casmore.optimize.search_run import Log, SearchRun
from casmore.solvers.protocol import Seed
from casmore.solvers.restarts import AroundFirst, Restarting, RestartPolicy
from casmore.solvers.space_arguments import SearchStart, read_start, reusable_bounds
from casmore.trace import Trace

Array = NDArray[np.float64]
Callback = Callable[[OptimizeResult], bool | None]


def fmin(
    f: Callable[..., Any],
    x0: ArrayLike | OptimizeResult | None = None,
    sigma0: ArrayLike | None = None,
    *,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    fixed: Mapping[int, float] | None = None,
    budget: float | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    restarts: RestartPolicy | str = RestartPolicy.NONE,
    population_size: int | None = None,
    seed: Seed = None,
    callback: Callback | None = None,
    vectorized: bool = False,
    workers: int | Callable[..., Any] | None = None,
    executor: Any = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    cov0: ArrayLike | None = None,
    x_known: Any = None,
    y_known: ArrayLike | None = None,
    checkpoint: str | Path | None = None,
    history: str | Path | None = None,
    progress: bool = False,
    trace: bool | Trace = False,
    lean: bool = False,
    **settings: Any,
) -> OptimizeResult:
    """Minimize ``f`` with CAS-MORE.

    Parameters
    ----------
    f
        Takes a point, shape (n,), and returns its value. NaN and infinity rank last.
    x0
        The starting point, shape (n,), which is the initial mean; or the result of a previous run,
        whose ``mean`` and, unless ``sigma0`` is given, ``cov`` are used. With ``x_known`` it may be
        omitted: the search then starts at the best known point.
    sigma0
        Initial standard deviation, one for all coordinates or one for each, shape (n,): about a
        third of the distance within which you expect the minimum. Required, unless ``cov0`` or the
        result of a previous run is given.
    args
        Further arguments of ``f``.
    bounds
        ``scipy.optimize.Bounds``, or a pair (lower, upper) for each coordinate, with None or an
        infinity where there is no bound. Points outside are never evaluated.
    fixed
        Values of coordinates that are not searched, by index. A coordinate whose bounds are equal
        is fixed as well.
    budget
        Largest number of evaluations; default 10000 n. The search ends earlier if it converges.
    max_seconds
        Stop after this wall time. Evaluations in workers are abandoned then; one that runs in this
        process is not interrupted, and a batch or a map-like callable completes its iteration.
    target
        Stop once a value is at most this.
    restarts
        What to do when the search converges without reaching the target. ``"none"`` ends the run.
        The others restart it from a point uniform in ``x0 +- 2 sigma0`` until the budget is spent,
        ``"ipop"`` with twice the population, ``"bipop"`` either with that or with a small
        population and a small step size, whichever has spent less of the budget.
    population_size
        Samples per iteration, K; default ``4 + floor(3 log n)``, two thirds of that if ``lean``.
        Larger populations search more globally and tolerate more noise.
    seed
        The same seed gives the same run, except with ``in_flight``.
    callback
        Called after each iteration with the result so far; returning True or raising
        ``StopIteration`` ends the run.
    vectorized
        Whether ``f`` takes a batch, shape (k, n), and returns k values.
    workers
        Evaluates the points of an iteration in parallel: a number of processes (-1: as many as
        there are processors), or a map-like callable such as ``pool.map``. With processes, an
        evaluation that raises, dies or exceeds ``timeout`` counts as NaN, with a warning. Unless
        they are forked (on Linux before Python 3.14), a script needs ``if __name__ == "__main__":``
        around the call.
    executor
        An executor of ``concurrent.futures``, or a dask client, to use instead of ``workers``.
        Failed evaluations count as NaN as well.
    in_flight
        Number of evaluations that ``executor`` or the ``workers`` processes always have in
        progress. Each value is told as it arrives, so that no worker waits for the slowest point
        of an iteration.
    timeout
        Seconds after which an evaluation in ``executor`` or in a process of ``workers`` counts as
        failed.
    cov0
        Initial covariance, shape (n, n), instead of ``sigma0``.
    x_known, y_known
        Previous evaluations, shapes (k, n) and (k,), which the first models use. They do not count
        in ``budget`` and ``nfev``. Points outside the bounds, or with other values of fixed
        coordinates, are ignored. If ``x_known`` is a file name, both are read from the columns
        ``x0``, ``x1``, ... and ``f`` of this CSV file; ``history`` writes such files.
    checkpoint
        A file for the state of the run, written after each iteration. The same call resumes from
        it, with the same result as an uninterrupted run if evaluations are not asynchronous. With
        a larger ``budget`` or ``max_seconds``, a run that has ended continues.
    history
        A CSV file for all evaluations, with the columns ``evaluation`` (from 1), ``seconds`` since
        the start of the call, ``f``, ``x0``, ``x1``, ... An existing file is not overwritten; a
        run that resumes from a checkpoint continues it.
    progress
        Whether to write a line about the run's progress to standard error.
    trace
        Whether to record each iteration, for `casmore.plot`; the result has the attribute
        ``trace``. For the curve of f at the mean, ``f`` is evaluated there once per iteration;
        these evaluations do not count in ``budget`` and ``nfev``.
        ``casmore.Trace(f_at_mean=False)`` records without them. You may pass your own trace and
        read it during the run.
    lean
        Whether to use `LeanCasMore`, which needs fewer evaluations (about half on ill-conditioned
        functions, two thirds on Rosenbrock's; no fewer on multi-modal ones) and more computation
        for each. Recommended if an evaluation of ``f`` takes a tenth of a millisecond or more.
    **settings
        Fields of `CasMoreParameters` to change; with ``lean`` of `LeanCasMoreParameters`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x``, ``fun``: the best point evaluated and its value. ``mean``, ``cov``: the final
        search distribution. ``mean_value``, ``mean_error``: the surrogate's estimate of ``f`` at
        ``mean`` and its standard error; NaN before there are enough samples. If ``f`` is noisy,
        ``fun`` is a lucky value, and ``mean`` is the better answer. ``nfev``, ``nit``,
        ``restarts``: numbers of evaluations, iterations and restarts; ``failures``: evaluations
        that failed in workers. ``stop``: the reasons to stop with their values; ``message``: their
        description. ``success``: whether the target was reached or, without a target, whether the
        search, or one of its runs before a restart, converged.

    Raises
    ------
    ValueError
        If an argument is out of its range, arguments contradict each other, ``checkpoint`` is
        damaged or belongs to a call with other arguments, or ``f`` does not return one number per
        point.
    TypeError
        If an argument has the wrong type, there is no such setting, or ``f`` returns something
        that is not a real number.
    FileExistsError
        If the file ``history`` exists, and the run does not resume from a checkpoint.

    Notes
    -----
    If ``f`` raises, or the run is interrupted, the exception carries the result so far in its
    attribute ``result``, and the best value in a note.

    Examples
    --------
    >>> import casmore
    >>> result = casmore.fmin(lambda x: ((x - 1) ** 2).sum(), [0, 0, 0], 0.5, target=1e-9, seed=1)
    >>> bool(result.fun <= 1e-9), result.message
    (True, 'target reached')
    """
    fmin_arguments.check_callable("f", f)
    fmin_arguments.check_callable("callback", callback, optional=True)
    for name, flag in (("vectorized", vectorized), ("lean", lean), ("progress", progress)):
        fmin_arguments.check_flag(name, flag)
    if not isinstance(trace, Trace):
        fmin_arguments.check_flag("trace", trace)
    if isinstance(x0, OptimizeResult):
        if "mean" not in x0 or "cov" not in x0:
            raise TypeError(
                "x0 is the result of another optimizer, without mean and cov; give its x"
            )
        cov0 = x0.cov if sigma0 is None and cov0 is None else cov0
        x0 = x0.mean
    target, bounds = valid_target(target), reusable_bounds(bounds)
    n = fmin_arguments.dimension(x0, x_known)
    X_known, y_known = fmin_arguments.read_known(x_known, y_known, n)
    if x0 is None:
        x0 = fmin_arguments.best_known(X_known, y_known, bounds)
    start = read_start(x0, sigma0, bounds=bounds, fixed=fmin_arguments.read_fixed(fixed), cov0=cov0)
    run = SearchRun(
        Restarting(
            LeanCasMore if lean else CasMore,
            AroundFirst(start.u0, start.sigma),
            start.sigma,
            policy=fmin_arguments.read_policy(restarts),
            population_size=population_size,
            seed=fmin_arguments.read_seed(seed),
            target=target,
            settings=settings,
        ),
        start.space,
        start.space.to_user(start.u0[np.newaxis])[0],
        budget=fmin_arguments.read_budget(budget, n),
        max_seconds=fmin_arguments.read_seconds("max_seconds", max_seconds),
        target=target,
        trace=trace if isinstance(trace, Trace) else Trace() if trace else None,
    )
    add_known_points(run, X_known, y_known)
    return execute(
        run,
        Call(f, args),
        method="lean-cas-more" if lean else "cas-more",
        start=start,
        seed=seed,
        vectorized=vectorized,
        workers=workers,
        executor=executor,
        in_flight=in_flight,
        timeout=timeout,
        callback=callback,
        checkpoint=checkpoint,
        history=history,
        progress=progress,
    )


def execute(
    run: SearchRun,
    call: Call,
    *,
    method: str,
    start: SearchStart,
    seed: Any,
    vectorized: bool,
    workers: int | Callable[..., Any] | None,
    timeout: float | None,
    callback: Callback | None,
    checkpoint: str | Path | None,
    history: str | Path | None,
    progress: bool,
    executor: Any = None,
    in_flight: int | None = None,
) -> OptimizeResult:
    """Run a prepared search to its end; the arguments are those of `fmin`.

    Parameters
    ----------
    run
        The search; a checkpoint replaces it.
    call
        Calls the objective.
    method
        Name of the solver.
    start, seed
        The search space with its starting point, and the seed. A checkpoint of a call that differs
        in one of these three is refused.
    """
    for name, file in (("checkpoint", checkpoint), ("history", history)):
        fmin_arguments.check_file(name, file)
    with ExitStack() as stack:
        evaluation = open_evaluation(
            stack,
            call,
            vectorized=vectorized,
            workers=workers,
            executor=executor,
            in_flight=in_flight,
            timeout=fmin_arguments.read_seconds("timeout", timeout),
        )
        saved = (
            None
            if checkpoint is None
            else Checkpoint(checkpoint, deciding_arguments(run, method, start, seed))
        )
        loaded = None if saved is None else saved.load()
        if loaded is not None:
            run = loaded.continued_by(run)
        elif run.trace is not None and len(run.trace) > 0:
            raise ValueError("trace holds another run; give a new casmore.Trace()")
        log: Log = _no_log
        if history is not None:
            kept = None if loaded is None else run.evaluations
            n = len(run.best_x)
            log = stack.enter_context(EvaluationLog(history, n, kept, run.last_x))
        observers = _Observers(callback, ProgressLine() if progress else None, saved)
        return _search(run, evaluation, log, observers)


def _no_log(X: Array, y: Array) -> None:
    pass


class _Observers:
    """Called after each iteration: callback, progress line, checkpoint."""

    def __init__(
        self, callback: Callback | None, line: ProgressLine | None, saved: Checkpoint | None
    ) -> None:
        self._callback, self._line, self._saved = callback, line, saved

    def begin(self, run: SearchRun) -> None:
        if self._saved is not None:
            self._saved.save(run)

    def __call__(self, run: SearchRun) -> None:
        if self._callback is not None and _wants_to_stop(self._callback, run):
            run.callback_stopped = True
        if self._line is not None:
            self._line(run)
        if self._saved is not None:
            self._saved.save(run)

    def end(self, run: SearchRun) -> None:
        if self._line is not None:
            self._line(run, final=True)


def _wants_to_stop(callback: Callback, run: SearchRun) -> bool:
    try:
        return bool(callback(build_result(run, {}, with_trace=False)))
    except StopIteration:
        return True


def _search(
    run: SearchRun, evaluation: Evaluation, log: Log, observers: _Observers
) -> OptimizeResult:
    """Run to the end; an exception carries the result."""

    try:
        observers.begin(run)
        if run.trace is not None and len(run.trace) == 0:
            run.record(None, evaluation.value_at)
        # the asynchronous loop sets the value at the mean later
        value_at = evaluation.value_at if evaluation.asynchronous is None else _not_yet
        for y in _iterations(run, evaluation, log):
            run.failures += evaluation.take_failures()
            run.record(y, _not_yet if run.out_of_time and evaluation.abandons else value_at)
            observers(run)
        observers.end(run)
    except BaseException as error:
        own = _of_the_user(error)
        attach_result(own, run)
        if own is error:
            raise
        raise own from None
    return build_result(run, run.stop())


def _not_yet(x: Array) -> float:
    return math.nan


def _of_the_user(error: BaseException) -> BaseException:
    """Return what ``f`` raised: a generator turns ``StopIteration`` into ``RuntimeError``."""
    cause = error.__cause__
    if isinstance(error, RuntimeError) and isinstance(cause, StopIteration):
        return cause
    return error


def _iterations(run: SearchRun, evaluation: Evaluation, log: Log) -> Iterator[Array]:
    if evaluation.asynchronous is not None:
        yield from asynchronous.iterations(run, evaluation.asynchronous, evaluation.read, log)
        return
    while not run.stop():
        yield run.iterate(evaluation.evaluate, log)
