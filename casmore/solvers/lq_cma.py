"""pycma's lq-CMA-ES through the bridge: CMA-ES with a linear or quadratic surrogate.

Hansen, "A global surrogate assisted CMA-ES", GECCO 2019. pycma evaluates a few points of each
population, one by one, until its surrogate ranks the population reliably. The other values are
predicted by the surrogate. The loop is that of ``cma.fmin_lq_surr2`` without its restarts, which
are handled by our restart policies.
"""

import copy
from functools import partial
from typing import Any

import cma
import numpy as np
from cma.fitness_models import SurrogatePopulation
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_start
from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge, Objective
from casmore.solvers.cma import reasons_of, strategy_options
from casmore.solvers.protocol import Seed

Array = NDArray[np.float64]


def make(
    x0: ArrayLike,
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    **options: Any,
) -> Bridge:
    """Build the bridge to lq-CMA-ES.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial step size.
    population_size
        ``lambda``, of which a few are evaluated; default: pycma's.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    options
        Options of pycma.
    """
    mean = valid_start(x0, sigma0)
    if population_size is not None:
        options["popsize"] = population_size
    # built once here, to validate the options
    trial = cma.CMAEvolutionStrategy(mean, sigma0, strategy_options(np.zeros, options))
    run = partial(_run, mean, sigma0, options, np.random.default_rng(seed))
    return Bridge(run, mean, sigma0, target=target, population_size=int(trial.popsize))


def _run(
    x0: Array,
    sigma0: float,
    options: dict[str, Any],
    rng: np.random.Generator,
    objective: Objective,
) -> dict[StopReason, float]:
    rng = copy.deepcopy(rng)  # a repeated run uses the same random numbers

    def randn(*shape: int) -> Array:
        return rng.standard_normal(shape)

    strategy = cma.CMAEvolutionStrategy(x0, sigma0, strategy_options(randn, options))
    surrogate = SurrogatePopulation(objective)
    while not strategy.stop():
        X = strategy.ask()
        strategy.tell(X, surrogate(X))
        strategy.countevals = surrogate.evaluations  # of the objective only
        strategy.inject([surrogate.model.xopt])
    return reasons_of(strategy)
