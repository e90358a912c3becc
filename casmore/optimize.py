"""What a person calls: `fmin`, and the bridge to ``scipy.optimize.minimize``."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeResult

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.stopping import StopReason
from casmore.solvers.protocol import Seed
from casmore.solvers.restarts import Restarting, RestartPolicy
from casmore.trace import Trace

Array = NDArray[np.float64]
Callback = Callable[[OptimizeResult], bool | None]

# Evaluations per dimension when no budget is given: that of the paper's benchmarks
_DEFAULT_BUDGET = 10_000
# Reasons that mean: this is as good as this run gets
_CONVERGED = {StopReason.TARGET, StopReason.NO_PROGRESS, StopReason.STEP_TOO_SMALL}


def fmin(
    f: Callable[[Array], Any],
    x0: ArrayLike,
    sigma0: float,
    *,
    budget: int | None = None,
    target: float | None = None,
    restarts: RestartPolicy | str = RestartPolicy.NONE,
    population_size: int | None = None,
    seed: Seed = None,
    callback: Callback | None = None,
    vectorized: bool = False,
    trace: bool | Trace = False,
    lean: bool = False,
    **settings: Any,
) -> OptimizeResult:
    """Minimise ``f`` with CAS-MORE.

    Parameters
    ----------
    f
        Takes a point, shape (n,), and returns its value. NaN and infinity rank as the worst.
    x0
        Where to start, shape (n,).
    sigma0
        Initial standard deviation in every direction: about a third of the distance within which
        the minimum is expected. Scale the coordinates so that one number suits them all.
    budget
        Largest number of evaluations; default 10000 n.
    target
        Stop once a value is at most this.
    restarts
        ``"none"``, or, when the search has converged without the target, until the budget is
        spent, from a point uniform in ``x0 +- 2 sigma0``: ``"ipop"`` starts again with twice the
        population, ``"bipop"`` with that or with a small population and a small step size,
        whichever has had less of the budget.
    population_size
        Samples an iteration, K; default ``4 + floor(3 log n)``, two thirds of that if ``lean``.
        Larger ones search more globally and stand more noise.
    seed
        The same seed gives the same run.
    callback
        Called after each iteration with the result so far; returning True or raising
        ``StopIteration`` ends the run.
    vectorized
        ``f`` takes a batch, shape (k, n), and returns k values.
    trace
        Whether to record each iteration, for `casmore.plot`; the result has it as ``trace``. For
        the curve of f at the mean, ``f`` is evaluated there once an iteration, beyond ``budget``
        and ``nfev``; ``casmore.Trace(f_at_mean=False)`` records without it. A trace of one's own
        can be looked at while the run goes on.
    lean
        Whether to use `LeanCasMore`, which needs fewer evaluations (about half on ill-conditioned
        functions, two thirds on Rosenbrock's; no fewer on multi-modal ones) and more computation
        for each: for an ``f`` that takes a millisecond or more.
    settings
        Fields of `CasMoreParameters` to change; with ``lean`` of `LeanCasMoreParameters`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x``, ``fun``: the best point evaluated and its value. ``mean``, ``cov``: the final
        search distribution; with a noisy ``f`` the mean is the better answer. ``nfev``, ``nit``,
        ``restarts``: numbers of evaluations, iterations and restarts. ``stop``: the reasons with
        their values, ``message`` the same in words. ``success``: target reached or, where none
        was given, converged.

    Raises
    ------
    ValueError
        If an argument is out of its range, or ``f`` returns no number.
    TypeError
        If there is no such setting.

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
    x0 = np.array(x0, dtype=float)
    n = x0.size
    budget = _DEFAULT_BUDGET * n if budget is None else budget
    if budget < 1:
        raise ValueError(f"budget must be at least 1 evaluation, not {budget!r}")
    solver = Restarting(
        LeanCasMore if lean else CasMore,
        _AroundFirst(x0, sigma0),
        sigma0,
        policy=RestartPolicy(restarts),
        population_size=population_size,
        seed=seed,
        target=target,
        settings=settings,
    )
    iterations = 0
    stop: dict[StopReason, float] = {}
    record = trace if isinstance(trace, Trace) else Trace() if trace else None
    try:
        if record is not None:
            _record(record, f, vectorized, solver, None)
        while not stop:
            X = solver.ask()[: budget - solver.evaluations]
            y = _evaluate_and_tell(f, X, vectorized, solver)
            iterations += 1
            if record is not None:
                _record(record, f, vectorized, solver, y)
            stop = solver.stop()
            if solver.evaluations >= budget:
                stop[StopReason.BUDGET] = float(budget)
            if callback is not None and _wants_to_stop(callback, solver, iterations):
                stop[StopReason.CALLBACK] = float(iterations)
    except BaseException as error:
        _attach_result(error, _result(solver, iterations, {}, target, record))
        raise
    return _result(solver, iterations, stop, target, record)


def minimize_method(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    sigma0: float = 1.0,
    maxfev: int | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> OptimizeResult:
    """Let ``scipy.optimize.minimize(f, x0, method=casmore.minimize_method)`` run CAS-MORE.

    Its ``options`` are `fmin`'s arguments, ``sigma0`` (default 1) among them; ``maxfev`` is the
    budget, and ``callback`` is called as `fmin` does. Derivatives that are given are not used.

    Raises
    ------
    ValueError
        If there are bounds or constraints, which CAS-MORE does not know.
    """
    for name in ("bounds", "constraints"):
        given = options.pop(name, None)
        if given is not None and given != ():
            raise ValueError(f"CAS-MORE minimises without {name}; got {given!r}")
    for name in ("jac", "hess", "hessp", "tol"):
        options.pop(name, None)
    return fmin(lambda x: fun(x, *args), x0, sigma0, budget=maxfev, callback=callback, **options)


class _AroundFirst:
    """The given point first, then points uniform within two ``sigma0`` of it.

    The ratio of the BBOB experiment, whose runs start in [-4, 4]^n with sigma0 = 2.
    """

    def __init__(self, x0: Array, sigma0: float) -> None:
        self._x0, self._sigma0 = x0, sigma0
        self._first = True

    def __call__(self, rng: np.random.Generator) -> Array:
        if self._first:
            self._first = False
            return self._x0
        return self._x0 + self._sigma0 * rng.uniform(-2, 2, self._x0.shape)


def _evaluate_and_tell(
    f: Callable[[Array], Any], X: Array, vectorized: bool, solver: Restarting
) -> Array:
    """Return the values that the solver was told."""
    if vectorized:
        y = np.asarray(f(X), dtype=float)
        if y.shape != (len(X),):
            raise ValueError(
                f"f must return {len(X)} values for {len(X)} points (vectorized=True), "
                f"not an array of shape {y.shape}"
            )
        solver.tell(X, y)
        return y
    values: list[float] = []
    try:
        for x in X:
            values.append(_evaluate(f, x))  # noqa: PERF401 - they count, even if the next raises
    finally:
        solver.tell(X[: len(values)], np.array(values))
    return np.array(values)


def _evaluate(f: Callable[[Array], Any], x: Array) -> float:
    value = np.asarray(f(x.copy()), dtype=float)
    if value.size != 1:
        raise ValueError(
            f"f must return one number for one point, not an array of shape {value.shape}"
        )
    return float(value.item())


def _record(
    trace: Trace, f: Callable[[Array], Any], vectorized: bool, solver: Restarting, y: Array | None
) -> None:
    f_mean = math.nan
    if trace.f_at_mean:
        mean = solver.mean
        f_mean = _evaluate(lambda x: f(x[np.newaxis]) if vectorized else f(x), mean)
    trace.record(
        solver.solver,
        y,
        f_mean=f_mean,
        evaluations=solver.evaluations,
        best_y=solver.best_y,
        restart=solver.restarts,
    )


def _wants_to_stop(callback: Callback, solver: Restarting, iterations: int) -> bool:
    try:
        return bool(callback(_result(solver, iterations, {}, None)))
    except StopIteration:
        return True


def _result(
    solver: Restarting,
    iterations: int,
    stop: dict[StopReason, float],
    target: float | None,
    trace: Trace | None = None,
) -> OptimizeResult:
    current = solver.solver
    assert isinstance(current, CasMore)
    reached = set(stop)
    success = StopReason.TARGET in reached if target is not None else bool(reached & _CONVERGED)
    recorded = {} if trace is None else {"trace": trace}
    return OptimizeResult(
        **recorded,
        x=np.array(solver.best_x),
        fun=solver.best_y,
        nfev=solver.evaluations,
        nit=iterations,
        restarts=solver.restarts,
        success=success,
        message="; ".join(str(reason) for reason in stop) or "running",
        stop=stop,
        mean=current.mean.copy(),
        cov=current.distribution.covariance,
    )


def _attach_result(error: BaseException, result: OptimizeResult) -> None:
    if math.isfinite(result.fun):
        error.add_note(
            f"casmore.fmin: best value so far {result.fun!r} after {result.nfev} evaluations, "
            f"at x = {result.x.tolist()}; this exception's attribute 'result' has it all"
        )
    error.result = result  # type: ignore[attr-defined]
