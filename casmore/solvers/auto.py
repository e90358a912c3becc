"""A solver for those who do not want to choose: cheap searches first, then lean CAS-MORE.

It consists of parts that are useful alone:

1. *Coordinate search* (`casmore.algorithms.coordinate_search`): a test of additivity, and if f
   passes it, a global search along each coordinate.
2. *Quasi-Newton start*: otherwise SciPy's SLSQP, from the best of the test's points.
3. *Lean CAS-MORE*, from the best of the points before SLSQP. It gets neither the samples of SLSQP
   nor its optimum, since it would converge to the same one. Its population is twice its default,
   since smooth functions with one minimum are left to SLSQP.
4. *Restarts*: lean CAS-MORE with larger populations, from a random point of the region, and SLSQP,
   from the best random point that multi-level single linkage does not link to a better one
   (`casmore.algorithms.single_linkage`). After each run the one goes next that has spent less, as
   the two regimes of BIPOP do. The evaluations of the one that has found the best value count half.

The limits depend on the dimension n alone: 300 n evaluations for the coordinate search,
8 n max(n, 16) for a run of SLSQP. Lean CAS-MORE runs until it stops by itself. Two rules end a run
earlier: if its latest values vary by less than a tenth of what it is behind the best value of all
runs, it will not find a better one; and SLSQP ends after 5 (n + 1) evaluations, about five
gradients, without an improvement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import (
    CheckedSettings,
    known_settings,
    valid_samples,
    valid_target,
)
from casmore.algorithms.coordinate_search import CoordinateSearch
from casmore.algorithms.region import Region
from casmore.algorithms.single_linkage import SingleLinkage
from casmore.algorithms.stopping import StopReason, reached
from casmore.solvers import registry
from casmore.solvers.bridge import Bridge
from casmore.solvers.prospects import Prospects
from casmore.solvers.protocol import Seed, Solver
from casmore.solvers.restarts import Restarting, RestartPolicy
from casmore.solvers.scipy import make_slsqp

Array = NDArray[np.float64]

# The step of SLSQP's finite differences, in units of sigma0, and its tolerance. SciPy's defaults,
# 1.5e-8 and 1e-6, end at a precision of 1e-5 on ill-conditioned functions: the error of a forward
# difference is proportional to its step and to the curvature.
_DIFFERENCE = 1e-9
_TOLERANCE = 1e-10

# Evaluations without an improvement after which SLSQP ends, in units of n + 1
_PATIENCE = 5
# The latest evaluations by which the prospects of a run are judged: of SLSQP in units of n + 1, a
# gradient and a step; of lean CAS-MORE in units of n, and at least a number of populations
_LATEST_LOCAL = 3
_LATEST = 10
_LATEST_POPULATIONS = 5
# What the more successful regime of restarts may spend, in units of what the other has spent
_PREFERENCE = 2.0


@dataclass(frozen=True, kw_only=True)
class AutoParameters(CheckedSettings):
    """The settings of `Auto`; they switch parts off, for comparisons.

    Attributes
    ----------
    center_first
        Whether to start at the center of the bounds, where there are bounds, instead of at ``x0``.
    coordinate_search
        Whether to test additivity, and to search along the coordinates of additive functions.
    quasi_newton
        Whether to run SLSQP before lean CAS-MORE if f is not additive.
    local_restarts
        Whether SLSQP takes part in the restarts.
    single_linkage
        Whether multi-level single linkage chooses where SLSQP restarts; otherwise, at random.
    early_end
        Whether runs end early that will not find a better value.
    restarts
        The restart policy of lean CAS-MORE.
    evaluations_per_coordinate
        The coordinate search may spend this number times n evaluations.
    quasi_newton_factor
        A run of SLSQP may spend this number times n max(n, 16) evaluations.
    population_factor
        The population of the first run of lean CAS-MORE, in units of its default.
    """

    center_first: bool = True
    coordinate_search: bool = True
    quasi_newton: bool = True
    local_restarts: bool = True
    single_linkage: bool = True
    early_end: bool = True
    restarts: RestartPolicy = RestartPolicy.IPOP
    evaluations_per_coordinate: int = 300
    quasi_newton_factor: float = 8.0
    population_factor: float = 2.0

    def __post_init__(self) -> None:
        self._check_types()
        for name in ("evaluations_per_coordinate", "quasi_newton_factor", "population_factor"):
            self._require(name, 0 < getattr(self, name) < math.inf, "positive and finite")


class Auto:
    """The composed solver, a minimizer with an ask-and-tell interface.

    It runs a test of additivity with a search along the coordinates, SLSQP, and lean CAS-MORE with
    restarts; the top of ``casmore/solvers/auto.py`` and docs/auto.md describe it. It never stops
    before the target is reached, unless the restart policy is ``"none"``: the caller sets the
    budget.

    Parameters
    ----------
    x0
        The starting point, shape (n,).
    sigma0
        Initial standard deviation of lean CAS-MORE. Where there are no bounds, the region of the
        first searches and of the restarts is ``x0 +- 2 sigma0``.
    population_size
        Of the first run of lean CAS-MORE; default: ``population_factor`` times its own.
    seed
        Seed of the run's own random generator.
    target
        Stop once a value is at most this.
    lower, upper
        The region, one number for all coordinates or one for each, shape (n,). The coordinate
        search does not leave it; the other parts may.
    search
        Name of the solver that runs in place of lean CAS-MORE, for comparisons.
    **settings
        Fields of `AutoParameters`.

    Attributes
    ----------
    parameters : AutoParameters
        The settings.
    part : Solver
        The part that runs.
    best_y : float
        The smallest value told so far; infinity at first.
    evaluations : int
        Number of points told so far.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    TypeError
        If there is no such setting, or a number is not real.
    """

    def __init__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        search: str = "lean-cas-more",
        **settings: Any,
    ) -> None:
        known_settings(settings, [field.name for field in fields(AutoParameters)], "auto")
        self.parameters = AutoParameters(**settings)
        self._region = Region.around(x0, sigma0, lower, upper)
        self._sigma0, self._target = float(sigma0), valid_target(target)
        self._rng = np.random.default_rng(seed)
        start = np.array(x0, dtype=float)
        if self.parameters.center_first:
            bounded = np.isfinite(self._region.bounds).all(axis=0)
            start[bounded] = self._region.center[bounded]
        self.evaluations = 0
        self._start, self._best_x, self.best_y = start, start.copy(), math.inf
        self._factory = registry.factory(search)
        self._population_size = self._first_population_size(population_size)
        self._population: Restarting | None = None  # the runs of lean CAS-MORE
        self._linkage = SingleLinkage(self._region, self._rng)
        self._spent_locally = self._local_restarts = 0
        self.part: Solver
        self._best_is_local = False  # the best point is one of SLSQP or of its starting points
        self._limit = math.inf  # evaluations of the part, if it is not lean CAS-MORE
        self._prospects = Prospects(0)  # of the run; the coordinate search needs none
        if self.parameters.coordinate_search:
            self.part = CoordinateSearch(
                start,
                sigma0,
                seed=self._rng.spawn(1)[0],
                target=target,
                lower=lower,
                upper=upper,
                evaluations_per_coordinate=self.parameters.evaluations_per_coordinate,
            )
        elif self.parameters.quasi_newton:
            self.part = self._quasi_newton(start)
        else:
            self.part = self._begin_population()

    @property
    def population_size(self) -> int:
        """Population size of the part that runs; 0 if it has none."""
        return self.part.population_size

    @property
    def mean(self) -> Array:
        """Mean of the part that runs, shape (n,)."""
        return self.part.mean

    @property
    def best_x(self) -> Array:
        """Copy of the best point told so far, shape (n,); the initial point at first."""
        return self._best_x.copy()

    @property
    def solver(self) -> Solver:
        """The last run of lean CAS-MORE; before the first one, such a run from the best point."""
        if self._population is not None:
            return self._population.solver
        return self._factory(
            self.best_x, self._sigma0, population_size=self._population_size, seed=0, target=None
        )

    @property
    def restarts(self) -> int:
        """Number of restarts of lean CAS-MORE and of SLSQP."""
        own = 0 if self._population is None else self._population.restarts
        return own + self._local_restarts

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of lean CAS-MORE that differ from its defaults: none."""
        return {}

    @property
    def policy(self) -> RestartPolicy:
        """The restart policy."""
        return self.parameters.restarts

    def ask(self) -> Array:
        """Return the next points of the part that runs, shape (k, n)."""
        return self.part.ask()

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Take the values ``y``, shape (k,), of any points ``X``, shape (k, n).

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = valid_samples(X, y, len(self._best_x))
        if len(y) == 0:
            return
        self.evaluations += len(y)
        is_local = isinstance(self.part, Bridge | SingleLinkage)
        self._spent_locally += len(y) if is_local else 0
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self._best_x, self.best_y = X[best].copy(), float(y[best])
            self._best_is_local = is_local
        self._prospects.tell(y)
        self.part.tell(X, y)
        if not self.stop() and self._has_ended():
            self._change()

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop: the best value, or without restarts the last part's end."""
        if self.part is self._population:
            return self.part.stop() | reached(self.best_y, self._target)
        return reached(self.best_y, self._target)

    def _has_ended(self) -> bool:
        """Return whether the run has ended, by itself or by one of the rules of this solver."""
        if isinstance(self.part, SingleLinkage):
            return self.part.is_complete
        if isinstance(self.part, Restarting):
            restarts = self.policy is not RestartPolicy.NONE
            return self.part.run_ended() or (restarts and self._is_hopeless())
        spent = self.part.evaluations >= self._limit
        return spent or bool(self.part.stop()) or self._is_hopeless()

    def _is_hopeless(self) -> bool:
        """Return whether the run will not find a better value."""
        if not self.parameters.early_end or isinstance(self.part, CoordinateSearch):
            return False
        patience = _PATIENCE * (len(self._best_x) + 1)
        is_idle = isinstance(self.part, Bridge) and self._prospects.idle >= patience
        return is_idle or self._prospects.is_hopeless(self.best_y)

    def _change(self) -> None:
        """Choose the part that follows the one that has ended."""
        if isinstance(self.part, CoordinateSearch):
            self._start = self.best_x
            if self.parameters.quasi_newton and StopReason.NOT_ADDITIVE in self.part.stop():
                self.part = self._quasi_newton(self._start, self.best_y)
                return
        elif self.part is self._linkage:
            self.part = self._quasi_newton(*self._linkage.start())
            return
        if self._population is None:
            self.part = self._begin_population()
        elif self.parameters.local_restarts and self._local_is_next(self._population.evaluations):
            self._local_restarts += 1
            if self.parameters.single_linkage:
                self.part = self._linkage
            else:
                self.part = self._quasi_newton(self._region.uniform(self._rng))
        else:
            self._population.restart()
            self._watch_population()
            self.part = self._population

    def _local_is_next(self, spent: int) -> bool:
        """Return whether SLSQP is next, if lean CAS-MORE has spent this number of evaluations."""
        preference = _PREFERENCE if self._best_is_local else 1 / _PREFERENCE
        return self._spent_locally < preference * spent

    def _first_population_size(self, given: int | None) -> int | None:
        """Return the population of the first run; None if the solver has none."""
        own = self._factory(  # which checks a given one
            self._start, self._sigma0, population_size=given, seed=0, target=None
        ).population_size
        if given is not None:
            return given
        return max(1, round(self.parameters.population_factor * own)) if own > 0 else None

    def _watch_population(self) -> None:
        self._prospects = Prospects(_LATEST * len(self._best_x), _LATEST_POPULATIONS)

    def _begin_population(self) -> Restarting:
        self._watch_population()
        self._population = Restarting(
            self._factory,
            _FirstThenUniform(self._start, self._region),
            self._sigma0,
            policy=self.parameters.restarts,
            population_size=self._population_size,
            seed=self._rng.spawn(1)[0],
            target=self._target,
        )
        return self._population

    def _quasi_newton(self, x: Array, value: float = math.inf) -> Bridge:
        """Return a run of SLSQP from ``x``, whose value is told if it is known."""
        self._limit = self.parameters.quasi_newton_factor * len(x) * max(len(x), 16)
        self._prospects = Prospects(_LATEST_LOCAL * (len(x) + 1))
        solver = make_slsqp(
            x,
            self._sigma0,
            target=self._target,
            eps=_DIFFERENCE * self._sigma0,
            ftol=_TOLERANCE,
        )
        if math.isfinite(value):
            solver.tell(solver.ask(), [value])
        return solver


class _FirstThenUniform:
    """The given point first, then points that are uniform in the region."""

    def __init__(self, first: Array, region: Region) -> None:
        self._first: Array | None = first
        self._region = region

    def __call__(self, rng: np.random.Generator) -> Array:
        if self._first is None:
            return self._region.uniform(rng)
        first, self._first = self._first, None
        return first.copy()
