"""Time per evaluation of each solver, side by side in one run.

    python benchmarks/time_per_evaluation.py [--dimensions 2 3 5 10] [--population 0 1 8]
        [--solvers cas-more cas-more:fit_method=direct cma] [--repeats 15]

On BBOB's f10 (rotated ellipsoid), without an observer; the function's own time is measured apart
and taken off. Measured is processor time, which other work on the machine changes least. It starts
once CAS-MORE's model is full and its queue has been turned over, and ends before the final target,
where a solver may have less to do. The solvers take turns, so that a machine that changes its speed
changes it for all; medians over the repeats, and ratios to the last solver named; growth with the
dimension fitted as a power of n. One BLAS thread. The populations are multiples of the default one
of CMA-ES, or, with 0, each solver's own.
"""

import os

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import statistics
import time
from collections import defaultdict

import cocoex
import numpy as np

from casmore.algorithms import defaults
from casmore.solvers import registry
from casmore.solvers.protocol import Solver

FUNCTION = 10
EVALUATIONS_TIMED = 30  # per dimension


class Stopwatch:
    """Drives one solver and adds up the time that is its own."""

    def __init__(self, name: str, dimension: int, population: int | None, seed: int) -> None:
        self._suite = cocoex.Suite(
            "bbob", "instances:1", f"dimensions:{dimension} function_indices:{FUNCTION}"
        )
        self._problem = self._suite.get_problem(0)
        rng = np.random.default_rng([seed, dimension])
        name, _, given = name.partition(":")
        settings = dict(pair.split("=", 1) for pair in given.split(",") if pair)
        self.solver: Solver = registry.factory(name)(
            rng.uniform(-4, 4, dimension),
            2.0,
            population_size=population,
            seed=rng,
            target=None,
            **settings,
        )

    def run(self, evaluations: int) -> float:
        """Return microseconds per evaluation of the solver's own time."""
        solver, problem, spent = self.solver, self._problem, 0.0
        until = solver.evaluations + evaluations
        start = solver.evaluations
        while solver.evaluations < until:
            clock = time.thread_time()
            X = solver.ask()
            spent += time.thread_time() - clock
            y = np.array([problem(x) for x in X])
            clock = time.thread_time()
            solver.tell(X, y)
            solver.stop()
            spent += time.thread_time() - clock
        return 1e6 * spent / (solver.evaluations - start)

    def close(self) -> None:
        """Free the problem before its suite."""
        self._problem.free()
        del self._problem
        del self._suite


def measure(
    names: list[str], dimension: int, population: int | None, repeats: int
) -> dict[str, list[float]]:
    shared = population or defaults.population_size(dimension)
    warm_up = 2 * defaults.queue_size(dimension, shared)
    times: dict[str, list[float]] = defaultdict(list)
    for seed in range(repeats):
        for name in names:
            watch = Stopwatch(name, dimension, population, seed)
            watch.run(warm_up)
            times[name].append(watch.run(max(EVALUATIONS_TIMED * dimension, 10 * shared)))
            watch.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 3, 5, 10, 20, 40])
    parser.add_argument(
        "--solvers", nargs="+", default=["cas-more", "cas-more:fit_method=direct", "cma"]
    )
    parser.add_argument(
        "--population",
        type=int,
        nargs="+",
        default=[1],
        help="multiples of the default size; 0: own",
    )
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    names: list[str] = options.solvers
    width = max(map(len, names))
    print("microseconds per evaluation, median [min, max]; ratio to", names[-1])
    for factor in options.population:
        medians: dict[str, list[float]] = defaultdict(list)
        for dimension in options.dimensions:
            population = factor * defaults.population_size(dimension) or None
            times = measure(names, dimension, population, options.repeats)
            base = statistics.median(times[names[-1]])
            for name in names:
                median = statistics.median(times[name])
                medians[name].append(median)
                spread = f"[{min(times[name]):.1f}, {max(times[name]):.1f}]"
                print(
                    f"{dimension:3d}-D  K = {population or 'own':>4}  {name:{width}s} "
                    f"{median:8.1f} {spread}  {median / base:6.2f}"
                )
        if len(options.dimensions) > 1:
            for name in names:
                power = np.polyfit(np.log(options.dimensions), np.log(medians[name]), 1)[0]
                print(f"time per evaluation of {name:{width}s} grows as n^{power:.2f}")


if __name__ == "__main__":
    main()
