"""Evaluations to a target with asynchronous evaluation.

    python benchmarks/steady_state.py [--dimensions 5 10] [--seeds 15]

Batches: a population is asked for, evaluated, and told. Steady state: ``ask(1)`` and ``tell`` of
one point, with 1, 4 or 16 points always under way, which come back in random order, as from workers
that take random times. Printed are medians of the evaluations to 1e-8 of 15 runs, and in brackets
the number of runs that reached it, if not all did.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.problems.analytic import FUNCTIONS
from casmore.solvers import registry

Array = NDArray[np.float64]
NAMES = {1: "sphere", 8: "Rosenbrock", 10: "ellipsoid"}
SOLVERS = ("cas-more", "lean-cas-more", "ca-more", "more", "xnes", "xnes-as")
UNDER_WAY = (0, 1, 4, 16)  # 0: batches


def evaluations(solver: Any, f: Callable[[Array], Array], under_way: int, seed: int) -> float:
    """Return the evaluations to the target; infinity if the run ends without."""
    rng = np.random.default_rng([seed, under_way])
    budget = 5000 * len(solver.mean)
    points = solver.ask(under_way)
    while not solver.stop() and solver.evaluations < budget:
        if under_way == 0:
            points = solver.ask()
            solver.tell(points, f(points))
            continue
        back = [rng.integers(under_way)]
        solver.tell(points[back], f(points[back]))
        points[back] = solver.ask(1)
    return solver.evaluations if StopReason.TARGET in solver.stop() else np.inf


def main() -> None:
    """Print a table for each dimension."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
    options = parser.parse_args()
    for n in options.dimensions:
        print(f"\n{n}-D{'':21} batches " + "".join(f"{u:>7} under way" for u in UNDER_WAY[1:]))
        for name in options.solvers:
            for number, called in NAMES.items():
                row = f"{name:14}{called:12}"
                for under_way in UNDER_WAY:
                    taken = []
                    for seed in range(options.seeds):
                        f = FUNCTIONS[number](n, instance=1 + seed)
                        x0 = np.random.default_rng(seed).uniform(-4, 4, n)
                        solver = registry.factory(name)(
                            x0, 2.0, population_size=None, seed=seed, target=1e-8
                        )
                        taken.append(evaluations(solver, f.batch, under_way, seed))
                    reached = np.isfinite(taken)
                    median = f"{np.median(np.array(taken)[reached]):.0f}" if reached.any() else "-"
                    note = "" if reached.all() else f" ({reached.sum()})"
                    row += f"{median + note:>12}" if under_way == 0 else f"{median + note:>17}"
                print(row, flush=True)


if __name__ == "__main__":
    main()
