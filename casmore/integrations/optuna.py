"""A sampler for Optuna: `CasMoreSampler`."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    import optuna
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "casmore.integrations.optuna needs the package 'optuna': pip install 'casmore[optuna]'",
        name="optuna",
    ) from error
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from casmore.algorithms.cas_more import CasMoreParameters
from casmore.algorithms.lean_cas_more import LeanCasMoreParameters
from casmore.algorithms.real_numbers import real_array
from casmore.integrations.parameter_space import ParameterSpace
from casmore.integrations.random_sampler import TrialRandomSampler
from casmore.integrations.study_search import (
    ATTRIBUTE,
    SearchOptions,
    StudySearch,
    record_of,
)
from casmore.optimize.fmin_arguments import check_flag, read_count, read_policy
from casmore.solvers.restarts import RestartPolicy

_logger = optuna.logging.get_logger(__name__)


class CasMoreSampler(BaseSampler):
    """An Optuna sampler that uses CAS-MORE.

    Parameters that are numerical (float or int, with or without steps, on a linear or logarithmic
    scale) and occur in every trial are sampled together, in coordinates in which the range of each
    has length 1. All others, that is, categorical and conditional ones, are sampled by
    ``independent_sampler``.

    Parameters
    ----------
    x0
        Initial mean: values of parameters by name. The default, also of those that are left out,
        is the middle of the range. Names of parameters that CAS-MORE does not sample are ignored,
        with a warning.
    sigma0
        Initial standard deviation as a fraction of each range, at most 0.5; default 1/6.
    n_startup_trials
        Number of complete trials before the first that CAS-MORE samples. At least one is needed to
        know the parameters.
    independent_sampler
        Samples the startup trials, and the parameters that CAS-MORE does not; by default at random.
    warn_independent_sampling
        Whether to log a warning, once for each parameter, when it is sampled independently after
        the startup trials.
    seed
        The same seed gives the same trials if they run one after the other, also if they are
        resumed by another process. Workers on one storage may have the same seed or different ones.
    lean
        Whether to use `casmore.LeanCasMore`, which needs fewer trials than `casmore.CasMore`.
    population_size
        Number of trials per update of the distribution; default: that of the algorithm.
    restarts
        What to do when the search converges: ``"ipop"``, ``"bipop"`` or ``"none"``; see
        `casmore.fmin`.
    consider_pruned_trials
        Whether pruned trials count, as worse than all complete ones, or are ignored. Failed trials
        are ignored, as by Optuna's own samplers; an objective can return infinity instead of
        failing.
    source_trials
        Trials of a similar task, from which the search is warm-started: mean and standard
        deviations are those of the best tenth (as in Nomura et al., "Warm starting CMA-ES for
        hyperparameter optimization", AAAI 2021). Not together with ``x0`` or ``sigma0``. Trials of
        the same task can be added to the study instead, by ``study.add_trials``: then they are told
        to the solver.
    **settings
        Fields of `casmore.LeanCasMoreParameters` to change, such as ``noise="auto"``; of
        `casmore.CasMoreParameters` if not ``lean``.

    Raises
    ------
    ValueError
        If an argument is out of its range. By the methods: if the study has several objectives, or
        ``x0`` or the source trials do not fit its search space.
    TypeError
        If there is no such setting.
    """

    def __init__(
        self,
        *,
        x0: Mapping[str, Any] | None = None,
        sigma0: float | None = None,
        n_startup_trials: int = 1,
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool = True,
        seed: int | None = None,
        lean: bool = True,
        population_size: int | None = None,
        restarts: RestartPolicy | str = RestartPolicy.IPOP,
        consider_pruned_trials: bool = True,
        source_trials: Sequence[FrozenTrial] | None = None,
        **settings: Any,
    ) -> None:
        check_flag("lean", lean)
        if source_trials is not None and (x0 is not None or sigma0 is not None):
            raise ValueError("source_trials determine the start: leave x0 and sigma0 out")
        self._options = SearchOptions(
            x0=None if x0 is None else dict(x0),
            sigma0=None if sigma0 is None else _read_sigma0(sigma0),
            lean=lean,
            restarts=read_policy(restarts),
            population_size=population_size,
            consider_pruned_trials=consider_pruned_trials,
            source_trials=None if source_trials is None else tuple(source_trials),
            settings=settings,
        )
        parameters = LeanCasMoreParameters if lean else CasMoreParameters
        parameters.default(1, population_size=population_size, **settings)  # checks them
        self._n_startup_trials = read_count("n_startup_trials", n_startup_trials)
        self._seed = secrets.randbits(32) if seed is None else _read_seed(seed)
        self._independent_sampler = independent_sampler or TrialRandomSampler(self._seed)
        self._warn_independent_sampling = warn_independent_sampling
        self._warned: set[str] = set()  # names of parameters
        self._search_space = IntersectionSearchSpace()
        self._study_name: str | None = None
        self._search: StudySearch | None = None
        self._lock = threading.Lock()  # study.optimize(n_jobs=2) uses threads

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the numerical parameters that occur in all complete trials."""
        with self._lock:
            if study.study_name != self._study_name:
                self._study_name, self._search = study.study_name, None
                self._search_space = IntersectionSearchSpace()
            space = self._search_space.calculate(study)
        return {
            name: distribution
            for name, distribution in space.items()
            if isinstance(distribution, FloatDistribution | IntDistribution)
            and not distribution.single()
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return values of all parameters of ``search_space``; none for startup trials."""
        _check_single_objective(study)
        trials = study.get_trials(deepcopy=False)
        if not search_space or self._is_startup(trials):
            return {}
        with self._lock:
            search = self._search_in(search_space, study, trials)
            record = search.ask(trials, trial, self._seed)
        # There is no public way to store the state of a sampler; Optuna's own samplers use this.
        study._storage.set_trial_system_attr(trial._trial_id, ATTRIBUTE, record)
        return search.values(record)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a value of the independent sampler."""
        _check_single_objective(study)
        if self._warn_independent_sampling and param_name not in self._warned:
            self._warn(study, trial, param_name)
        return self._independent_sampler.sample_independent(
            study, trial, param_name, param_distribution
        )

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Pass the event on to the independent sampler."""
        self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Pass the event on to the independent sampler."""
        self._independent_sampler.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; those of CAS-MORE differ by the trial's number."""
        self._independent_sampler.reseed_rng()

    def _warn(self, study: Study, trial: FrozenTrial, name: str) -> None:
        if self._is_startup(study.get_trials(deepcopy=False)):
            return
        self._warned.add(name)
        _logger.warning(
            f"Trial {trial.number}: parameter {name!r} is sampled by {self._independent_sampler}, "
            "not by CAS-MORE, because it is categorical or does not occur, with the same range, "
            "in all trials. warn_independent_sampling=False turns this message off."
        )

    def _is_startup(self, trials: Sequence[FrozenTrial]) -> bool:
        complete = sum(trial.state is TrialState.COMPLETE for trial in trials)
        return complete < self._n_startup_trials

    def _search_in(
        self, space: dict[str, BaseDistribution], study: Study, trials: Sequence[FrozenTrial]
    ) -> StudySearch:
        """Return the search of the last call, or a new one if the space has changed."""
        parameters = ParameterSpace(space)
        records = (record_of(trial, parameters) for trial in trials)
        seed = next((record["seed"] for record in records if record is not None), self._seed)
        search = self._search
        if (
            search is None
            or search.seed != seed
            or search.parameters.distributions != parameters.distributions
        ):
            self._check_names(parameters.names)
            sign = -1 if study.direction is StudyDirection.MAXIMIZE else 1
            search = self._search = StudySearch(parameters, self._options, sign, seed)
        return search

    def _check_names(self, known: Sequence[str]) -> None:
        """Warn of names in ``x0`` that are not used."""
        for name in (self._options.x0 or {}).keys() - set(known):
            _logger.warning(
                f"x0[{name!r}] is ignored: CAS-MORE samples the parameters {', '.join(known)}"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_search": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def _read_sigma0(sigma0: Any) -> float:
    value = real_array(sigma0, "sigma0")
    if value.ndim > 0 or not 0 < value <= 0.5:
        raise ValueError(
            "sigma0 is a fraction of the range of each parameter: it must be positive, "
            f"at most 0.5, not {sigma0!r}"
        )
    return float(value)


def _read_seed(seed: Any) -> int:
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"seed must be None or an integer from 0 to 2**32 - 1, not {seed!r}")
    return int(seed)


def _check_single_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise ValueError(
            "CasMoreSampler is for one objective, not for the "
            f"{len(study.directions)} of this study"
        )
