"""Independent uniform sampling that depends only on the seed, the trial and the parameter."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from casmore.integrations.parameter_space import value_at


class TrialRandomSampler(BaseSampler):
    """Samples each parameter uniformly on its scale.

    Unlike ``optuna.samplers.RandomSampler`` it has no state: a study that is resumed by another
    process has the same values as one that is not, and workers with the same seed do not sample the
    same values.

    Parameters
    ----------
    seed
        Seed of all values.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return no parameters."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return no values."""
        return {}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a value of the parameter."""
        name = zlib.crc32(param_name.encode())  # not hash, which differs between processes
        rng = np.random.default_rng([self._seed, trial.number, name])
        if isinstance(param_distribution, CategoricalDistribution):
            return param_distribution.choices[int(rng.integers(len(param_distribution.choices)))]
        return value_at(param_distribution, rng.uniform())
