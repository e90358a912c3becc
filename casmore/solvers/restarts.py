"""Restart policies for any solver.

A restart keeps the best point, the number of evaluations, and the stream of seeds. It resets
everything else: the new solver starts from a new point, with the population and step size of the
policy, and without information from previous runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge
from casmore.solvers.protocol import Seed, Solver, SolverFactory

# Reasons after which no restart can find anything better
_FINAL = {StopReason.TARGET, StopReason.UNBOUNDED}

Start = Callable[[np.random.Generator], NDArray[np.float64]]


class RestartPolicy(StrEnum):
    """What to do when a solver stops without reaching the target.

    ``"none"``: the search ends. ``"ipop"``: restart with twice the population (Auger and Hansen
    2005). ``"bipop"``: restart with twice the largest population so far, or with a small population
    and a small step size, whichever regime has spent fewer evaluations (Hansen 2009). A solver
    without a population is restarted unchanged.
    """

    NONE = "none"
    IPOP = "ipop"
    BIPOP = "bipop"


@dataclass
class _Bipop:
    """The two regimes of BIPOP and what each has spent.

    Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed", section 2.
    The first run, of the default population, belongs to neither.
    """

    default: int  # population of the first run
    large: int  # of the last run of the large regime
    last_large: int  # evaluations of that run
    in_large: bool | None = None  # the regime of the current run
    spent_large: int = 0
    spent_small: int = 0

    def next_run(self, evaluations: int, rng: np.random.Generator) -> tuple[int, float, float]:
        """Record the cost of the last run; return the settings of the next one.

        Returns
        -------
        population
            The population size.
        factor
            Factor of the initial step size.
        limit
            Largest number of evaluations of the run.
        """
        if self.in_large:
            self.spent_large += evaluations
        elif self.in_large is not None:
            self.spent_small += evaluations
        if self.in_large is not False:
            self.last_large = evaluations
        self.in_large = self.spent_large <= self.spent_small
        if self.in_large:
            self.large *= 2
            return self.large, 1.0, math.inf
        ratio = 0.5 * self.large / self.default
        population = math.floor(self.default * math.pow(ratio, rng.uniform() ** 2))
        return population, math.pow(10, -2 * rng.uniform()), 0.5 * self.last_large


@dataclass(frozen=True)
class UniformStart:
    """Starting points that are uniform in ``[lower, upper]^n``.

    Parameters
    ----------
    dimension
        The dimension n.
    lower, upper
        The interval of each coordinate; default: that of the BBOB experiment.

    Raises
    ------
    ValueError
        If the interval is empty.
    """

    dimension: int
    lower: float = -4.0
    upper: float = 4.0

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(
                f"start interval [{self.lower}, {self.upper}] is empty: lower must be < upper"
            )

    def __call__(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw a starting point, shape (n,)."""
        return rng.uniform(self.lower, self.upper, self.dimension)


@dataclass(frozen=True)
class FixedStart:
    """The same starting point for every run.

    Parameters
    ----------
    mean
        The point, n numbers.
    """

    mean: tuple[float, ...]

    def __call__(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the starting point, shape (n,)."""
        return np.array(self.mean)


class AroundFirst:
    """The given point first, then points that are uniform within two ``sigma0`` of it.

    This ratio is that of the BBOB experiment, whose runs start in [-4, 4]^n with sigma0 = 2.

    Parameters
    ----------
    x0
        The first point, shape (n,).
    sigma0
        The step size.
    """

    def __init__(self, x0: NDArray[np.float64], sigma0: float) -> None:
        self._x0, self._sigma0 = x0.copy(), sigma0
        self._first = True

    def __call__(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a starting point, shape (n,)."""
        if self._first:
            self._first = False
            return self._x0.copy()
        return self._x0 + self._sigma0 * rng.uniform(-2, 2, self._x0.shape)


class Restarting:
    """A solver that starts a new inner solver whenever the current one stops.

    Parameters
    ----------
    factory
        Builds a solver.
    start
        Draws the starting point of each run, including the first.
    sigma0
        Initial step size of each run.
    policy
        The restart policy.
    population_size
        Population size of the first run; default: the solver's own.
    seed
        Determines the starting points and the seeds of the runs.
    target
        Passed to each run; reaching it ends the search without a restart.
    settings
        Passed to each run.

    Attributes
    ----------
    solver : Solver
        The current run.
    ended : list of dict
        The reasons to stop of each previous run.
    policy, settings
        As given.
    """

    def __init__(
        self,
        factory: SolverFactory,
        start: Start,
        sigma0: float,
        *,
        policy: RestartPolicy = RestartPolicy.IPOP,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self._factory, self._start, self._sigma0 = factory, start, sigma0
        self.policy = RestartPolicy(policy)
        self._target = target
        self.settings = dict(settings or {})
        self._rng = np.random.default_rng(seed)
        self._evaluations_before = 0
        self._best_x: NDArray[np.float64] | None = None
        self._best_y = np.inf
        self._restarts_before = 0
        self.ended: list[dict[StopReason, float]] = []
        self.solver = self._fresh(population_size, sigma0)
        self._limit = math.inf  # evaluations of the current run
        size = self.solver.population_size
        self._bipop = _Bipop(default=size, large=size, last_large=0)

    def _fresh(self, population_size: int | None, sigma0: float) -> Solver:
        x0 = self._start(self._rng)
        solver = self._factory(
            x0,
            sigma0,
            population_size=population_size,
            seed=self._rng.spawn(1)[0],
            target=self._target,
            **self.settings,
        )
        self._population_size = solver.population_size  # a solver may change its own under way
        return solver

    @property
    def population_size(self) -> int:
        """Population size of the current run."""
        return self.solver.population_size

    @property
    def evaluations(self) -> int:
        """Number of points told so far, over all runs."""
        return self._evaluations_before + self.solver.evaluations

    @property
    def restarts(self) -> int:
        """Number of restarts, including those that the solver does by itself."""
        return self._restarts_before + int(getattr(self.solver, "restarts", 0))

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the current run."""
        return self.solver.mean

    @property
    def best_x(self) -> NDArray[np.float64]:
        """Best point of all runs."""
        if self._best_x is None or self.solver.best_y < self._best_y:
            return self.solver.best_x
        return self._best_x.copy()

    @property
    def best_y(self) -> float:
        """Best value of all runs."""
        return min(self._best_y, self.solver.best_y)

    def ask(self, count: int | None = None) -> NDArray[np.float64]:
        """Return the next points, from a new run if the current one has stopped.

        Parameters
        ----------
        count
            Number of points, if the solver's ``ask`` accepts it; default: the solver's own.
        """
        self.see_to_restart()
        return self.solver.ask() if count is None else self.solver.ask(count)  # type: ignore[call-arg]

    def run_ended(self) -> bool:
        """Return whether the current run has ended: the next ``ask`` starts another."""
        return bool(self._run_has_ended()) and not self.stop()

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Pass the values to the current run."""
        self.solver.tell(X, y)

    def advance(
        self, evaluate: Callable[[NDArray[np.float64]], NDArray[np.float64] | None]
    ) -> None:
        """Do one step with a given function: an ask and a tell, or the run of a wrapped solver.

        Parameters
        ----------
        evaluate
            Returns the values of points, shape (k, n), or None to interrupt the run.
        """
        self.see_to_restart()
        if isinstance(self.solver, Bridge) and not self.solver.begun:
            solver = self.solver
            solver.run_through(lambda X: None if solver.evaluations >= self._limit else evaluate(X))
            return
        X = self.solver.ask()
        y = evaluate(X)
        if y is not None:
            self.tell(X, y)

    def stop(self) -> dict[StopReason, float]:
        """Return the current run's reasons to stop if they end the whole search."""
        reasons = self.solver.stop()
        if self.policy is RestartPolicy.NONE or _FINAL & set(reasons):
            return reasons
        return {}

    def see_to_restart(self) -> None:
        """Start a new run if the current one has ended."""
        if self.run_ended():
            self.restart()

    def _run_has_ended(self) -> dict[StopReason, float]:
        reasons = self.solver.stop()
        if not reasons and self.solver.evaluations >= self._limit:
            return {StopReason.BUDGET: self._limit}
        return reasons

    def restart(self) -> None:
        """Start a new run, whether the current one has ended or not."""
        self.ended.append(self._run_has_ended())
        self._best_x, self._best_y = self.best_x, self.best_y
        self._evaluations_before = self.evaluations
        self._restarts_before = self.restarts + 1
        population, sigma0 = self._population_size, self._sigma0
        if population == 0:
            self.solver = self._fresh(None, sigma0)
            return
        if self.policy is RestartPolicy.BIPOP:
            population, factor, self._limit = self._bipop.next_run(
                self.solver.evaluations, self._rng
            )
            sigma0 *= factor
        else:
            population *= 2
        self.solver = self._fresh(population, sigma0)
