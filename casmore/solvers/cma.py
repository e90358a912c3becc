"""Adapter for pycma's CMA-ES: its own random generator, no files, no global state."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import cma
import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.arguments import valid_samples, valid_start, valid_target
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.stopping import StopReason, reached
from casmore.solvers.protocol import Seed

# pycma's termination criteria and the corresponding reasons; all others mean a lack of progress
_REASONS = {
    "ftarget": StopReason.TARGET,
    "maxfevals": StopReason.BUDGET,
    "maxiter": StopReason.BUDGET,
    "timeout": StopReason.BUDGET,
    "conditioncov": StopReason.CONDITION,
    "tolconditioncov": StopReason.CONDITION,
    "tolx": StopReason.STEP_TOO_SMALL,
    "noeffectaxis": StopReason.STEP_TOO_SMALL,
    "noeffectcoord": StopReason.STEP_TOO_SMALL,
    "tolfacupx": StopReason.STEP_TOO_LARGE,
    "tolupsigma": StopReason.STEP_TOO_LARGE,
}
# options whose values are strings
_TEXTS = ("signals_filename", "verb_filenameprefix")


class CMA:
    """The adapter around ``cma.CMAEvolutionStrategy``."""

    def __init__(
        self,
        x0: NDArray[np.float64],
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        **options: Any,
    ) -> None:
        self._rng = np.random.default_rng(seed)
        settings = strategy_options(self._randn, options)
        if population_size is not None:
            settings["popsize"] = population_size
        mean = valid_start(x0, sigma0)
        self._es = cma.CMAEvolutionStrategy(mean.copy(), sigma0, settings)
        self._target = valid_target(target)
        self._evaluations = 0
        self._best_x, self._best_y = mean, math.inf
        self._asked = False
        self._waiting: list[tuple[NDArray[np.float64], float]] = []

    def _randn(self, *shape: int) -> NDArray[np.float64]:
        return self._rng.standard_normal(shape)

    @property
    def population_size(self) -> int:
        """Number of points an ``ask`` returns (lambda)."""
        return int(self._es.popsize)

    @property
    def evaluations(self) -> int:
        """Number of points told so far."""
        return self._evaluations

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the search distribution."""
        return np.array(self._es.mean)

    @property
    def distribution(self) -> SearchDistribution:
        """The search distribution, for traces."""
        # pycma's own decomposition may be some iterations old
        variances, directions = np.linalg.eigh(self._es.sm.covariance_matrix)
        axes = directions * (self._es.sigma * np.sqrt(variances))
        return SearchDistribution(self.mean, (self._es.sigma_vec * axes.T).T)

    @property
    def best_x(self) -> NDArray[np.float64]:
        """Copy of the best point told so far."""
        return self._best_x.copy()

    @property
    def best_y(self) -> float:
        """Best value told so far."""
        return self._best_y

    def ask(self) -> NDArray[np.float64]:
        """Sample the next population."""
        self._asked = True
        return np.array(self._es.ask())

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Update the distribution from the values of any points; NaN counts as infinity.

        pycma ranks whole populations: fewer points are kept until the next call.
        """
        X, y = valid_samples(X, y, len(self._best_x))
        for x, value in zip(X, y, strict=True):
            if value < self._best_y:
                self._best_x, self._best_y = x.copy(), float(value)
            self._waiting.append((x, float(value)))
        self._evaluations += len(y)
        if len(self._waiting) >= self.population_size:
            points, values = zip(*self._waiting, strict=True)
            self._waiting = []
            if not self._asked:
                self._es.ask()  # pycma allows one tell per ask
            self._asked = False
            self._es.tell(list(points), list(values))

    def stop(self) -> dict[StopReason, float]:
        """Return pycma's reasons as `StopReason`, and whether the target is reached."""
        return {**reasons_of(self._es), **reached(self._best_y, self._target)}


def strategy_options(
    randn: Callable[..., NDArray[np.float64]], options: dict[str, Any]
) -> dict[str, Any]:
    """Return pycma's options for a silent run without files that draws from ``randn``.

    Raises
    ------
    ValueError
        If an option is NaN, or a string that pycma would use without evaluating it; it would take
        ``CMA_active="false"`` as true.
    """
    for name, value in options.items():
        if isinstance(value, float) and math.isnan(value):
            raise ValueError(f"{name} = {value!r} must be a number")
        if isinstance(value, str) and not _is_evaluated(name, value):
            raise ValueError(
                f"{name} = {value!r} must be what pycma evaluates: True, False, a number, or an "
                "expression of N and popsize"
            )
    return {
        "verbose": -9,
        "verb_log": 0,
        "verb_disp": 0,
        "maxiter": np.inf,  # the caller enforces the budget
        "seed": np.nan,  # nan: leave numpy's global generator alone
        "randn": randn,
        **options,
    }


def _is_evaluated(name: str, value: str) -> bool:
    if name in _TEXTS or (name, value) == ("CMA_elitist", "initial"):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they repeat the error
        try:
            found = cma.CMAOptions({name: value}).eval(name, loc={"N": 2, "popsize": 6})
        except Exception:  # no such option: pycma reports it
            return True
    return not isinstance(found, str)


def reasons_of(strategy: cma.CMAEvolutionStrategy) -> dict[StopReason, float]:
    """Return pycma's reasons to stop as `StopReason`."""
    return {
        _REASONS.get(name, StopReason.NO_PROGRESS): _number(value)
        for name, value in strategy.stop().items()
        if not (name == "ftarget" and value == -math.inf)  # pycma's default: no target
    }


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


make = CMA
