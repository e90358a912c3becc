"""Integers by rounding: how many runs find the optimum, and their median number of evaluations.

    python benchmarks/integers.py [--runs 8]

The functions are rotated quadratics with condition number 100, whose first coordinates are rounded;
their optima are integers from -10 to 10. Runs of lean CAS-MORE have 2000 evaluations. "floor" never
lets the standard deviation of an integer fall below 0.3.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from casmore import LeanCasMore
from casmore.solvers.restarts import AroundFirst, Restarting, RestartPolicy

Array = NDArray[np.float64]

CASES = ((3, 2), (5, 3), (6, 6))  # dimension, and how many coordinates are integers
BUDGET, TARGET, SIGMA, FLOOR = 2000, 1e-6, 2.0, 0.3


def quadratic(n: int, integers: int, rng: np.random.Generator) -> Callable[[Array], float]:
    """Return a function of n coordinates of which the first are rounded."""
    optimum = np.concatenate([rng.integers(-10, 11, integers), rng.standard_normal(n - integers)])
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    scaled = np.sqrt(np.logspace(0, 2, n))[:, np.newaxis] * Q.T

    def f(x: Array) -> float:
        rounded = np.concatenate([np.round(x[:integers]), x[integers:]])
        return float(np.square(scaled @ (rounded - optimum)).sum())

    return f


def evaluations(n: int, integers: int, seed: int, *, floor: bool, restarts: bool) -> float:
    """Return the number of evaluations to the target; NaN: not reached."""
    f = quadratic(n, integers, np.random.default_rng(seed))
    solver = Restarting(
        LeanCasMore,
        AroundFirst(np.zeros(n), SIGMA),
        SIGMA,
        policy=RestartPolicy.IPOP if restarts else RestartPolicy.NONE,
        population_size=None,
        seed=seed,
        target=TARGET,
        settings={},
    )
    while not solver.stop() and solver.evaluations < BUDGET:
        X = solver.ask()
        solver.tell(X, np.array([f(x) for x in X]))
        if floor:
            keep_wide(solver.solver, integers)  # type: ignore[arg-type]
    return solver.evaluations if solver.best_y <= TARGET else np.nan


def keep_wide(solver: LeanCasMore, integers: int) -> None:
    """Widen the distribution of integers that has become too narrow."""
    distribution = solver.distribution
    ratios = np.ones(distribution.dimension)
    ratios[:integers] = np.maximum(1, FLOOR / distribution.deviations()[:integers])
    if (ratios > 1).any():
        factor = ratios[:, np.newaxis] * distribution.factor
        solver.distribution = type(distribution)(distribution.mean, factor)


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=8)
    runs = parser.parse_args().runs
    ways = [(floor, restarts) for restarts in (False, True) for floor in (False, True)]
    titles = [("floor" if f else "rounding") + (", restarts" if r else "") for f, r in ways]
    print("n   integers" + "".join(f"{title:>20}" for title in titles))
    for n, integers in CASES:
        cells = []
        for floor, restarts in ways:
            found = np.array(
                [evaluations(n, integers, i, floor=floor, restarts=restarts) for i in range(runs)]
            )
            solved = np.isfinite(found)
            median = f" {np.median(found[solved]):.0f}" if solved.any() else ""
            cells.append(f"{solved.sum()} of {runs}:{median}")
        print(f"{n:<4}{integers:8}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
