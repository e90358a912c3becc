"""A solver that is fed with the trials of an Optuna study.

The state of the search is in the study: with each trial that the solver asks for, the point and
the number of the solver's run are stored as system attributes. From these and the values of the
trials, any process restores the solver by telling it the trials again, which takes well under a
millisecond each. So there is nothing else to share between workers, and nothing is lost if one
ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.trial import FrozenTrial, TrialState

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.integrations.parameter_space import ParameterSpace
from casmore.solvers.restarts import AroundFirst, Restarting, RestartPolicy
from casmore.solvers.space_arguments import read_start

Array = NDArray[np.float64]
Values = tuple[int | float, ...]

ATTRIBUTE = "casmore"  # the system attribute of a trial with what the solver asked for

# Number of points drawn at most until the values are new
_DRAWS = 10
# Quantile of the source trials that the initial distribution is fitted to, and its smallest
# standard deviation, as in Nomura et al. (2021), "Warm starting CMA-ES for hyperparameter
# optimization"
_GOOD_SOURCES, _SMALLEST_SIGMA = 0.1, 0.1

# After which a trial without values is taken to be that of a worker that was killed
_LOST = timedelta(minutes=1)

DEFAULT_SIGMA = 1 / 6  # fraction of the range of each parameter (benchmarks/optuna_samplers.py)


@dataclass(frozen=True)
class SearchOptions:
    """What `CasMoreSampler` tells the search; see there."""

    x0: Mapping[str, Any] | None = None
    sigma0: float | None = None
    lean: bool = True
    restarts: RestartPolicy = RestartPolicy.IPOP
    population_size: int | None = None
    consider_pruned_trials: bool = True
    source_trials: tuple[FrozenTrial, ...] | None = None
    settings: dict[str, Any] = field(default_factory=dict)


class StudySearch:
    """A restarting CAS-MORE in the unit cube of the parameters.

    Parameters
    ----------
    parameters
        The search space.
    options
        Start and settings.
    sign
        1 to minimize, -1 to maximize.
    seed
        Determines starting points of restarts; must be the same in all workers.
    """

    def __init__(
        self, parameters: ParameterSpace, options: SearchOptions, sign: int, seed: int
    ) -> None:
        self.parameters, self.seed = parameters, seed
        self._options, self._sign = options, sign
        mean, sigma = self._initial_distribution()
        start = read_start(mean, sigma, bounds=[(0.0, 1.0)] * len(mean))
        self._space = start.space
        self._solver = Restarting(
            LeanCasMore if options.lean else CasMore,
            AroundFirst(start.u0, start.sigma),
            start.sigma,
            policy=options.restarts,
            population_size=options.population_size,
            seed=seed,
            target=None,
            settings=options.settings,
        )
        self._told: set[int] = set()  # numbers of trials
        self._ended: dict[int, Values] = {}  # by the number of the trial

    def ask(self, trials: Iterable[FrozenTrial], asking: FrozenTrial, seed: int) -> dict[str, Any]:
        """Tell the trials that have ended since the last call; return the next point.

        Parameters
        ----------
        trials
            All trials of the study.
        asking
            The one that asks.
        seed
            Seed of the point, together with the number of the trial.

        Returns
        -------
        dict
            What to store in the system attributes of the trial; see `values`.
        """
        trials = list(trials)
        self._tell_new(trials)
        self._solver.see_to_restart()
        tried = self._tried_values(trials)
        # An earlier trial whose point is not stored yet may be about to take the same optimum.
        alone = not any(self._asks_before(trial, asking) for trial in trials)
        point = self._new_point((seed, asking.number), tried, alone)
        may_restart = self._options.restarts is not RestartPolicy.NONE
        # not twice in a row, which would double the population each time
        if point is None and may_restart and self._inner.iterations > 0:
            self._solver.restart()  # the distribution is narrower than the steps
            point = self._new_point((seed, asking.number), tried, alone)
        if point is None:
            point = self._inner.ask(1)[0]
        return {
            "names": self.parameters.names,
            "run": self._solver.restarts,
            "seed": self.seed,
            "point": point.tolist(),
        }

    def _new_point(
        self, seed: tuple[int, int], tried: set[Values], may_be_optimum: bool
    ) -> Array | None:
        """Draw a point whose values are not in ``tried``; None: they all are."""
        inner = self._inner
        # The first may be the optimum of the surrogate. If it is not to be used, which depends on
        # the process, the others are those that would have been drawn without it.
        for count, usable in ((1, may_be_optimum), (_DRAWS, True)):
            inner.rng = np.random.default_rng(seed)
            for _ in range(count):
                # one at a time: a product of matrices rounds differently with another shape
                point: Array = inner.ask(1)[0]
                if usable and tuple(self._values_at(point).values()) not in tried:
                    return point
        return None

    def _asks_before(self, trial: FrozenTrial, asking: FrozenTrial) -> bool:
        """Return whether a trial began before the one that asks, and has no values yet."""
        if trial.state is not TrialState.RUNNING or trial.number >= asking.number:
            return False
        assert trial.datetime_start is not None
        assert asking.datetime_start is not None
        recent = asking.datetime_start - trial.datetime_start < _LOST
        return recent and self._values_in(trial) is None

    def _tried_values(self, trials: Iterable[FrozenTrial]) -> set[Values]:
        """Return the values in all trials that have ended or are under way."""
        under_way = set()
        for trial in trials:
            if trial.number not in self._ended and (values := self._values_in(trial)) is not None:
                if trial.state.is_finished():
                    self._ended[trial.number] = values
                else:
                    under_way.add(values)
        return under_way.union(self._ended.values())

    def _values_in(self, trial: FrozenTrial) -> Values | None:
        record = record_of(trial, self.parameters)
        if record is not None:
            return tuple(self.values(record).values())
        if not trial.params.keys() >= self.parameters.distributions.keys():
            return None
        return tuple(trial.params[name] for name in self.parameters.names)

    def values(self, record: Mapping[str, Any]) -> dict[str, int | float]:
        """Return the values of the parameters at a point that was asked for."""
        return self._values_at(np.array(record["point"]))

    def _values_at(self, point: Array) -> dict[str, int | float]:
        return self.parameters.to_values(self._space.to_user(point[np.newaxis])[0])

    @property
    def _inner(self) -> CasMore:
        inner = self._solver.solver
        assert isinstance(inner, CasMore)
        return inner

    def _initial_distribution(self) -> tuple[Array, Any]:
        """Return mean and standard deviations in the unit cube."""
        options, n = self._options, len(self.parameters.names)
        if options.source_trials is not None:
            return self._fit_sources(options.source_trials)
        sigma = DEFAULT_SIGMA if options.sigma0 is None else options.sigma0
        if options.x0 is None:
            return np.full(n, 0.5), sigma
        center = self.parameters.to_values(np.full(n, 0.5))
        mean = self.parameters.to_point({**center, **options.x0})
        if mean is None:
            raise ValueError(
                f"x0 = {dict(options.x0)} is outside of the search space "
                f"{self.parameters.distributions}"
            )
        return mean, sigma

    def _fit_sources(self, sources: Iterable[FrozenTrial]) -> tuple[Array, Array]:
        found = [
            (self._value(trial), point)
            for trial in sources
            if trial.state is TrialState.COMPLETE
            and (point := self.parameters.to_point(trial.params)) is not None
        ]
        if not found:
            raise ValueError(
                "none of the source_trials is complete and has values of "
                f"{', '.join(self.parameters.names)} within the search space"
            )
        found.sort(key=lambda pair: pair[0])
        best = np.array([point for _, point in found[: math.ceil(_GOOD_SOURCES * len(found))]])
        sigma = np.sqrt(best.var(axis=0) + _SMALLEST_SIGMA**2)
        return best.mean(axis=0), np.minimum(sigma, 0.5)

    def _tell_new(self, trials: Iterable[FrozenTrial]) -> None:
        wanted = [TrialState.COMPLETE]
        if self._options.consider_pruned_trials:
            wanted.append(TrialState.PRUNED)
        new = [t for t in trials if t.state in wanted and t.number not in self._told]
        for trial in sorted(new, key=lambda t: (t.datetime_complete or t.datetime_start, t.number)):
            self._told.add(trial.number)
            self._tell(trial)

    def _tell(self, trial: FrozenTrial) -> None:
        record = record_of(trial, self.parameters)
        if record is not None:
            while self._solver.restarts < record["run"]:  # another worker has restarted
                self._solver.restart()
            if self._solver.restarts > record["run"]:
                return
        point = self.parameters.to_point(trial.params)
        if point is None:
            return
        if record is not None and self._is_unchanged(trial, record):
            u = np.array(record["point"])
        else:  # a startup trial, one that was enqueued or added, or that another sampler asked for
            u = self._space.to_solver(point[np.newaxis])[0]
        self._inner.tell(u[np.newaxis], np.array([self._value(trial)]))

    def _is_unchanged(self, trial: FrozenTrial, record: Mapping[str, Any]) -> bool:
        """Return whether no parameter was fixed by somebody else."""
        return all(trial.params[name] == value for name, value in self.values(record).items())

    def _value(self, trial: FrozenTrial) -> float:
        """Return the value to minimize; pruned trials rank last."""
        if trial.state is TrialState.PRUNED or trial.value is None:
            return math.inf
        return self._sign * trial.value


def record_of(trial: FrozenTrial, parameters: ParameterSpace) -> Mapping[str, Any] | None:
    """Return what a search in this space stored with the trial; None: not asked for by one."""
    record: Mapping[str, Any] | None = trial.system_attrs.get(ATTRIBUTE)
    return record if record is not None and record["names"] == parameters.names else None
