"""pycma's CMA-ES with its noise handling, through the bridge.

Hansen, Niederberger, Guzzella and Koumoutsakos, "A method for handling uncertainty in evolutionary
optimization with an application to feedback control of combustion", IEEE Transactions on
Evolutionary Computation 13, 2009. Some points of each population are evaluated again. If their
ranks change more than chance allows, the step size grows, and points are evaluated more often. The
loop is that of ``cma.fmin2`` with ``noise_handler``, without its restarts.
"""

import copy
from functools import partial
from typing import Any

import cma
import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_start
from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge, Objective
from casmore.solvers.cma import reasons_of, strategy_options
from casmore.solvers.option_types import COUNT
from casmore.solvers.protocol import Seed

Array = NDArray[np.float64]


def make(
    x0: ArrayLike,
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    most_evaluations: int = 30,
    **options: Any,
) -> Bridge:
    """Build the bridge to CMA-ES with noise handling.

    Parameters
    ----------
    x0
        Initial mean, shape (n,).
    sigma0
        Initial step size.
    population_size
        ``lambda``; default: pycma's.
    seed
        Seeds the run's own random generator.
    target
        Stop once a value is at most this.
    most_evaluations
        Largest number of evaluations of a point, whose median is its value. It starts at 1, and
        grows while noise is found. The default is that of pycma's example.
    options
        Options of pycma.

    Raises
    ------
    ValueError
        If an argument is out of its range, or pycma has no such option.
    """
    mean = valid_start(x0, sigma0)
    if not COUNT.holds(most_evaluations):
        raise ValueError(f"most_evaluations = {most_evaluations!r} must be {COUNT.wanted}")
    if population_size is not None:
        options["popsize"] = population_size
    # built once here, to validate the options
    trial = cma.CMAEvolutionStrategy(mean, sigma0, strategy_options(np.zeros, options))
    rng = np.random.default_rng(seed)
    run = partial(_run, mean, sigma0, int(most_evaluations), options, rng)
    return Bridge(run, mean, sigma0, target=target, population_size=int(trial.popsize))


class _NoiseHandler(cma.NoiseHandler):  # type: ignore[misc]
    """pycma's noise handler, drawing from the run's own generator."""

    def __init__(self, n: int, most_evaluations: int, rng: np.random.Generator) -> None:
        super().__init__(n, [1, 1, most_evaluations])
        self._rng = rng

    def indices(self, fit: list[float]) -> Any:
        """Return which points to evaluate again: two plus a twentieth of the population.

        pycma rounds the fraction at random, by NumPy's global generator. An integer is not rounded.
        """
        fraction, whole = np.modf(2 + len(fit) / 20)
        self.lam_reeval = int(whole) + int(fraction > self._rng.random())
        state = np.random.get_state()  # noqa: NPY002
        try:
            return super().indices(fit)
        finally:
            np.random.set_state(state)  # noqa: NPY002


def _run(
    x0: Array,
    sigma0: float,
    most_evaluations: int,
    options: dict[str, Any],
    rng: np.random.Generator,
    objective: Objective,
) -> dict[StopReason, float]:
    rng, rounding = copy.deepcopy(rng).spawn(2)  # a repeated run uses the same random numbers

    def randn(*shape: int) -> Array:
        return rng.standard_normal(shape)

    # as in cma.fmin2, since noise handling increases the step size
    options = {"tolfacupx": np.inf, **options}
    strategy = cma.CMAEvolutionStrategy(x0, sigma0, strategy_options(randn, options))
    noise = _NoiseHandler(len(x0), most_evaluations, rounding)
    while not strategy.stop():
        X, fit = strategy.ask_and_eval(objective, evaluations=noise.evaluations)
        strategy.tell(X, fit)
        strategy.sigma *= noise(X, fit, objective, strategy.ask)
        strategy.countevals += noise.evaluations_just_done
    return reasons_of(strategy)
