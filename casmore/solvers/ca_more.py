"""CA-MORE as a solver: CAS-MORE with settings that depend on the dimension."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms import defaults
from casmore.algorithms.cas_more import CasMore
from casmore.solvers.protocol import Seed

# CA-MORE has nothing that raises the entropy. What its covariance updates take from it is the
# schedule, and a tenth of CAS-MORE's trust region keeps that slow enough (study "rosenbrock").
_CA_MORE_FRACTION = 0.1


def make(
    x0: NDArray[np.float64],
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    **settings: Any,
) -> CasMore:
    """Return CA-MORE: CAS-MORE's trust regions, a fixed entropy schedule."""
    return CasMore(
        x0,
        sigma0,
        population_size=population_size,
        seed=seed,
        target=target,
        **{
            "step_size_adaptation": False,
            "epsilon_covariance": _CA_MORE_FRACTION * defaults.epsilon_covariance(np.size(x0)),
            **settings,
        },
    )
