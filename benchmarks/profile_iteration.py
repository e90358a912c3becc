"""Profile of an iteration of CAS-MORE or its lean variant.

    python benchmarks/profile_iteration.py [--dimensions 2 10 40] [--population 1] [--lean]

On a rotated ellipsoid, once the model is full and the queue has been turned over. Each part is
timed by a wrapper around its function, which itself costs about 0.3 microseconds a call. Processor
time, means over the iterations: not every part is called in every iteration. One BLAS thread.
"""

import os

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from casmore.algorithms import (
    cas_more,
    defaults,
    gaussian_search,
    incremental_fit,
    models,
    surrogate,
    surrogate_search,
    weighted_fit,
)
from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.evolution_path import EvolutionPath
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.samples import SampleQueue

# (owner, name) of the parts, disjoint and in the order of an iteration
PARTS: list[tuple[Any, str]] = [
    (SearchDistribution, "sample"),
    (gaussian_search, "valid_samples"),
    (SampleQueue, "add"),
    (surrogate_search, "finite_rewards"),
    (surrogate_search, "normalize"),
    (incremental_fit._Inverse, "follow"),
    (incremental_fit._Inverse, "solve"),
    (incremental_fit._Frame, "seen_from"),
    (surrogate.DirectFit, "_coordinates"),
    (weighted_fit, "fit_coordinates"),
    (surrogate, "build_features"),
    (weighted_fit, "build_features"),
    (surrogate, "ridge_regression"),
    (weighted_fit.WeightedFit, "_regress"),
    (surrogate.Layout, "assemble"),
    (models.QuadraticModel, "substitute"),
    (Eigenbasis, "of"),
    (cas_more, "mean_step"),
    (cas_more, "covariance_scales"),
    (EvolutionPath, "update"),
    (SearchDistribution, "updated"),
    (CasMore, "_reasons_to_stop"),
]
ITERATIONS = 150


def timed(
    function: Callable[..., Any], name: str, spent: dict[str, list[float]]
) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.thread_time()
        result = function(*args, **kwargs)
        spent[name].append(time.thread_time() - start)
        return result

    return wrapper


def profile(n: int, factor: int, algorithm: type[CasMore]) -> None:
    rng = np.random.default_rng(n)
    rotation = np.linalg.qr(rng.standard_normal((n, n)))[0]
    weights = np.logspace(0, 6, n)
    solver = algorithm(
        rng.uniform(-4, 4, n), 2.0, seed=rng, population_size=factor * defaults.population_size(n)
    )

    def iterate(count: int) -> float:
        """Return the mean time of an iteration, the objective's time taken off."""
        times = []
        for _ in range(count):
            start = time.thread_time()
            X = solver.ask()
            middle = time.thread_time()
            y = (X @ rotation) ** 2 @ weights
            told = time.thread_time()
            solver.tell(X, y)
            times.append(time.thread_time() - told + middle - start)
        return statistics.fmean(times)

    iterate(2 * solver.parameters.queue_size // solver.population_size)
    spent: dict[str, list[float]] = defaultdict(list)
    originals = [(owner, name, getattr(owner, name)) for owner, name in PARTS]
    for owner, name, function in originals:
        setattr(owner, name, timed(function, name, spent))
    try:
        whole = iterate(ITERATIONS)
    finally:
        for owner, name, function in originals:
            setattr(owner, name, function)
    shares = {name: sum(times) / ITERATIONS for name, times in spent.items()}
    shares["the rest"] = whole - sum(shares.values())
    k = solver.population_size
    print(f"\n{n}-D, K = {k}: {1e6 * whole:.0f} us an iteration,", end=" ")
    print(f"{1e6 * whole / k:.1f} us an evaluation")
    for name, seconds in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"  {name.strip('_'):22s} {1e6 * seconds:8.1f} us {seconds / whole:5.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 10, 40])
    parser.add_argument("--population", type=int, default=1, help="multiple of the default size")
    parser.add_argument("--lean", action="store_true", help="the lean variant")
    options = parser.parse_args()
    for n in options.dimensions:
        profile(n, options.population, LeanCasMore if options.lean else CasMore)


if __name__ == "__main__":
    main()
