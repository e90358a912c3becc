"""Evaluations to a precision of 1e-8, the numbers that a change of the algorithms must not worsen.

    python benchmarks/evaluations.py > results/evaluations.csv

Runs each solver on f1, f2, f8, f10 and f13 (`casmore.problems.analytic`) in 5 and 10-D, three times
each: run i on instance i, from a start that is uniform in [-4, 4]^n, with sigma0 = 2. The table
has the expected running time (ERT): the evaluations of all runs, divided by the number of
successful ones. `tests/test_evaluations.py` compares the geometric means over the functions.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from casmore.problems.analytic import FUNCTIONS
from casmore.solvers import registry

SOLVERS = ("cas-more", "more", "xnes", "lean-cas-more")
DIMENSIONS = (5, 10)
NUMBERS = (1, 2, 8, 10, 13)
RUNS = 3
TARGET = 1e-8
BUDGET = 10_000  # times the dimension


class Case(NamedTuple):
    """A solver on a function of BBOB."""

    solver: str
    dimension: int
    function: int


def run(case: Case, seed: int) -> tuple[int, bool]:
    """Return the evaluations of one run, and whether it reached the target."""
    problem = FUNCTIONS[case.function](case.dimension, instance=seed)
    rng = np.random.default_rng([seed, case.dimension, case.function])
    solver = registry.factory(case.solver)(
        rng.uniform(-4, 4, case.dimension), 2.0, population_size=None, seed=rng, target=TARGET
    )
    while not solver.stop() and solver.evaluations < BUDGET * case.dimension:
        X = solver.ask()
        solver.tell(X, problem.batch(X))
    return solver.evaluations, solver.best_y <= TARGET


def expected_running_time(case: Case) -> float:
    """Return the ERT of a case, infinity without a successful run."""
    evaluations, successes = zip(*(run(case, seed) for seed in range(1, RUNS + 1)), strict=True)
    return sum(evaluations) / sum(successes) if any(successes) else math.inf


def cases() -> Iterable[Case]:
    """Return all cases in the order of the table."""
    for solver in SOLVERS:
        for dimension in DIMENSIONS:
            for function in NUMBERS:
                yield Case(solver, dimension, function)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*Case._fields, "ert"])
    with threadpool_limits(1):  # the matrices are too small for more
        for case in cases():
            writer.writerow([*case, f"{expected_running_time(case):.0f}"])


if __name__ == "__main__":
    main()
