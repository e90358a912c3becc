"""Solvers of ``scipy.optimize`` through the bridge, with SciPy's defaults but without budgets.

The local methods start at ``x0`` and have no initial step size: ``sigma0`` and the seed are not
used. Differential evolution samples a box and uses neither ``x0`` nor ``sigma0``.
"""

import copy
import math
from collections.abc import Iterable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge, Objective
from casmore.solvers.option_types import (
    BOOLEAN,
    COUNT,
    MATRIX,
    POSITIVE,
    TOLERANCE,
    OptionType,
    check_options,
    either,
    one_of,
)
from casmore.solvers.protocol import Seed

Array = NDArray[np.float64]

# The caller enforces the budget and drops the solver when it is spent. This is the largest 32-bit
# integer, which SciPy's compiled solvers use for their counters.
_NO_LIMIT = 2**31 - 1


def _is_mutation(value: Any) -> bool:
    numbers = value if isinstance(value, list | tuple) and len(value) == 2 else [value]
    return all(TOLERANCE.holds(number) and number < 2 for number in numbers)


def _is_interval(value: Any) -> bool:
    if not (isinstance(value, list | tuple) and len(value) == 2):
        return False
    return all(isinstance(v, Real) and not isinstance(v, bool) for v in value) and (
        value[0] < value[1]
    )


_BOUNDS = OptionType("a pair of numbers, the lower one first", _is_interval)

# SciPy's limits on iterations and evaluations, by method
_LIMITS: dict[str, dict[str, int]] = {
    "Nelder-Mead": {"maxiter": _NO_LIMIT, "maxfev": _NO_LIMIT},
    "Powell": {"maxiter": _NO_LIMIT, "maxfev": _NO_LIMIT},
    "L-BFGS-B": {"maxiter": _NO_LIMIT, "maxfun": _NO_LIMIT},
    "SLSQP": {"maxiter": _NO_LIMIT},
}
_VERSION = tuple(int(part) for part in scipy.__version__.split(".")[:2])
_OPTIONS: dict[str, dict[str, OptionType]] = {
    "Nelder-Mead": {
        "adaptive": BOOLEAN,
        "fatol": TOLERANCE,
        "initial_simplex": MATRIX,
        "xatol": TOLERANCE,
    },
    "Powell": {"direc": MATRIX, "ftol": TOLERANCE, "xtol": TOLERANCE},
    "L-BFGS-B": {
        "eps": POSITIVE,
        "finite_diff_rel_step": POSITIVE,
        "ftol": TOLERANCE,
        "gtol": TOLERANCE,
        "maxcor": COUNT,
        "maxls": COUNT,
    },
    "SLSQP": {"eps": POSITIVE, "finite_diff_rel_step": POSITIVE, "ftol": TOLERANCE},
}
# Methods with finite differences, which evaluate all n points of a gradient in one batch. This
# needs SciPy 1.16 or later, which accepts a map function; earlier versions evaluate one by one.
_BATCHED = ("L-BFGS-B", "SLSQP") if _VERSION >= (1, 16) else ()
_STRATEGIES = (
    *("best1bin", "best1exp", "rand1bin", "rand1exp", "rand2bin", "rand2exp", "randtobest1bin"),
    *("randtobest1exp", "currenttobest1bin", "currenttobest1exp", "best2exp", "best2bin"),
)
_EVOLUTION_OPTIONS = {
    "atol": TOLERANCE,
    "init": either(one_of("latinhypercube", "sobol", "halton", "random"), MATRIX),
    "maxiter": COUNT,
    "mutation": OptionType("a number in [0, 2), or a pair of them", _is_mutation),
    "polish": BOOLEAN,
    "popsize": COUNT,
    "recombination": OptionType("a number in [0, 1]", lambda p: TOLERANCE.holds(p) and p <= 1),
    "strategy": one_of(*_STRATEGIES),
    "tol": TOLERANCE,
    "updating": one_of("immediate", "deferred"),
}
# SciPy's name for the argument with the random generator
_RNG = "rng" if _VERSION >= (1, 15) else "seed"


def _local(
    method: str,
    x0: ArrayLike,
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    bounds: tuple[float, float] | None = None,
    **options: Any,
) -> Bridge:
    """Build the bridge to a method of ``scipy.optimize.minimize``.

    Parameters
    ----------
    method
        The method's name.
    x0
        The starting point, shape (n,).
    sigma0, seed
        Not used: the method is deterministic, and chooses its own step sizes.
    population_size
        Must be None, since these methods have no population.
    target
        Stop once a value is at most this.
    bounds
        The same lower and upper bound for all coordinates; default: none.
    options
        Options of the method, with SciPy's names.

    Raises
    ------
    TypeError
        If there is no such option.
    ValueError
        If a population size is given.
    """
    if population_size is not None:
        raise ValueError(f"{method} has no population; leave population_size out")
    check_options(options, _OPTIONS[method], method)
    if bounds is not None:
        check_options({"bounds": bounds}, {"bounds": _BOUNDS}, method)
    start = np.array(x0, dtype=float)
    run = partial(_minimize, method, start, bounds, {**_LIMITS[method], **options})
    return Bridge(run, start, sigma0, target=target)


def _minimize(
    method: str,
    x0: Array,
    bounds: tuple[float, float] | None,
    options: dict[str, Any],
    objective: Objective,
) -> dict[StopReason, float]:
    def differences(_: Any, points: Iterable[Array]) -> Iterable[float]:
        values: Iterable[float] = objective(np.array(list(points)))
        return values

    if method in _BATCHED:
        options = {**options, "workers": differences}
    box = None if bounds is None else [tuple(bounds)] * len(x0)
    start = x0 if bounds is None else np.clip(x0, *bounds)
    result = optimize.minimize(objective, start, method=method, bounds=box, options=options)
    # whether SciPy converged or failed, it makes no more progress
    return {StopReason.NO_PROGRESS: float(result.status)}


def make_differential_evolution(
    x0: ArrayLike,
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    lower: float = -5.0,
    upper: float = 5.0,
    vectorized: bool = False,
    **options: Any,
) -> Bridge:
    """Build the bridge to ``scipy.optimize.differential_evolution``.

    Parameters
    ----------
    x0, sigma0
        Only the dimension is used: the first population fills the box.
    population_size
        Rounded up to a multiple of n, which is all SciPy offers; default: 15 n.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    lower, upper
        The box, the same for all coordinates; default: BBOB's domain.
    vectorized
        Whether to ask for whole generations. A generation is then updated at once, as with SciPy's
        ``updating="deferred"``; by default each new member is used immediately.
    options
        Options of ``differential_evolution``, with SciPy's names.

    Raises
    ------
    TypeError
        If there is no such option.
    ValueError
        If the box is empty.
    """
    check_options(options, _EVOLUTION_OPTIONS, "differential evolution")
    check_options({"vectorized": vectorized}, {"vectorized": BOOLEAN}, "differential evolution")
    if not -math.inf < lower < upper < math.inf:
        raise ValueError(f"the box [{lower}, {upper}] must be finite, lower less than upper")
    n = np.size(x0)
    if population_size is not None:
        options["popsize"] = math.ceil(population_size / n)
    options = {"popsize": 15, "maxiter": _NO_LIMIT, **options}
    if vectorized:
        options = {**options, "vectorized": True, "updating": "deferred"}
    run = partial(_evolve, [(lower, upper)] * n, options, np.random.default_rng(seed))
    return Bridge(run, x0, sigma0, target=target, population_size=max(5, options["popsize"] * n))


def _evolve(
    box: list[tuple[float, float]],
    options: dict[str, Any],
    rng: np.random.Generator,
    objective: Objective,
) -> dict[StopReason, float]:
    def of_columns(x: Array) -> Any:
        return objective(x.T if x.ndim == 2 else x)  # in SciPy each column is a point

    result = optimize.differential_evolution(
        of_columns,
        box,
        # a copy: a repeated run uses the same random numbers
        **{**options, _RNG: copy.deepcopy(rng)},
    )
    return {StopReason.NO_PROGRESS: float(result.nit)}


make_nelder_mead = partial(_local, "Nelder-Mead")
make_powell = partial(_local, "Powell")
make_l_bfgs_b = partial(_local, "L-BFGS-B")
make_slsqp = partial(_local, "SLSQP")
