"""How well the incremental fit agrees with the direct one, and how often it starts afresh.

    python benchmarks/fit_accuracy.py [--dimensions 20 40] [--functions 1 6 8 10 13 15]

Runs CAS-MORE with the incremental fit on BBOB and fits every model directly as well. Compared are
the predicted values at all samples of the queue: the largest difference, relative to the standard
deviation of the predictions. One BLAS thread.
"""

import os

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse

import cocoex
import numpy as np

from casmore.algorithms import defaults
from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.incremental_fit import IncrementalFit
from casmore.algorithms.models import Complexity
from casmore.algorithms.surrogate import DirectFit
from casmore.algorithms.targets import normalize

# Models compared: each one costs a direct fit
COMPARISONS = 400


def compare(function: int, dimension: int, iterations: int) -> None:
    suite = cocoex.Suite(
        "bbob", "instances:1", f"dimensions:{dimension} function_indices:{function}"
    )
    problem = suite.get_problem(0)
    rng = np.random.default_rng([function, dimension])
    solver = CasMore(rng.uniform(-4, 4, dimension), 2.0, seed=rng, fit_method="incremental")
    p = solver.parameters
    direct = DirectFit(dimension, p.queue_size, p.ridge)
    every = max(1, iterations // COMPARISONS)
    differences = []
    while not solver.stop() and not problem.final_target_hit and solver.iterations < iterations:
        X = solver.ask()
        before = solver.distribution
        solver.tell(X, np.array([problem(x) for x in X]))
        if solver.complexity is Complexity.FULL and solver.iterations % every == 0:
            targets = normalize(
                -solver.queue.values, p.target_normalization, p.clip, p.kurtosis_threshold
            )
            Z = before.whiten(solver.queue.points)
            expected = direct.fit(solver.queue, targets, Complexity.FULL, before)(Z)
            assert solver.model is not None
            differences.append(float(np.abs(solver.model(Z) - expected).max() / expected.std()))
    problem.free()
    del problem
    del suite
    fit = solver.fit
    assert isinstance(fit, IncrementalFit)
    print(
        f"{dimension:3d}-D f{function:<3d} {len(differences):5d} models compared: "
        f"median {np.median(differences):.1e}, largest {max(differences):.1e};  "
        f"{fit.fits} fits, {fit.renewals} renewals, {fit.fallbacks} fallbacks",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--functions", type=int, nargs="+", default=[1, 6, 8, 10, 13, 15])
    parser.add_argument("--iterations", type=int, help="default: ten turns of the queue")
    options = parser.parse_args()
    for dimension in options.dimensions:
        k = CasMore(np.zeros(dimension), 1.0).population_size
        turns = 10 * defaults.queue_size(dimension, k) // k
        for function in options.functions:
            compare(function, dimension, options.iterations or turns)


if __name__ == "__main__":
    main()
