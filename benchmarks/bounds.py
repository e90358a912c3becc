"""Ways to keep bounds: evaluations to 1e-8 with the optimum inside, on bounds, and in a corner.

    python benchmarks/bounds.py [--dimension 5] [--runs 5] [--boxed]

"casmore" is `casmore.fmin`, whose search space folds each coordinate smoothly at its bounds.
"mirror" reflects at the bounds without smoothing; "penalty" evaluates the nearest point inside and
adds a penalty, in units of the interquartile range of the queue's values, to what the solver is
told. "pycma" and "cmaes" keep bounds in their own ways. A cell holds the mean number of
evaluations of the runs that succeed and, in brackets, how many did not.

With ``--boxed`` RUNS instances of COCO's suite bbob-boxed are used instead: how many problems reach
COCO's final target within 1000 n evaluations, with restarts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, rosen

import casmore

Array = NDArray[np.float64]
Objective = Callable[[Array], float]
HALF = 5.0  # the box is [-5, 5]^n
PLACES = ("inside", "bounds", "corner", "outside")
BUDGET = 1000  # evaluations per dimension


class Solved(Exception):
    """The target is reached."""


class Counted:
    """Counts evaluations, and ends the run at its target or budget."""

    def __init__(self, f: Objective, target: float, budget: int) -> None:
        self.f, self.target, self.budget = f, target, budget
        self.count, self.solved = 0, False

    def __call__(self, x: Array) -> float:
        """Return the value.

        Raises
        ------
        Solved
            If the run is to end.
        """
        assert np.abs(x).max() <= HALF
        self.count += 1
        value = self.f(x)
        self.solved = value <= self.target or bool(getattr(self.f, "final_target_hit", False))
        if self.solved or self.count >= self.budget:
            raise Solved
        return value


def optimum(place: str, n: int, rng: np.random.Generator) -> Array:
    """Return where the unconstrained optimum is."""
    inner, half = rng.uniform(-2, 2, n), np.arange(n) < n / 2
    return {
        "inside": inner,
        "bounds": np.where(half, HALF, inner),
        "corner": rng.choice([-HALF, HALF], n),
        "outside": np.where(half, HALF + 2, inner),
    }[place]


def objectives(x_opt: Array, rng: np.random.Generator) -> dict[str, Objective]:
    """Return functions by name."""
    n = len(x_opt)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    weights = np.logspace(0, 4, n)
    return {
        "separable ellipsoid": lambda x: float(weights @ (x - x_opt) ** 2),
        "rotated ellipsoid": lambda x: float(weights @ (Q @ (x - x_opt)) ** 2),
        "rosenbrock": lambda x: float(rosen(x - x_opt + 1)),
        "slopes": lambda x: float(weights**0.5 @ np.abs(x - x_opt)),
    }


def lowest(f: Objective, x_opt: Array) -> float:
    """Return the smallest value in the box, by a local solver from several points."""
    n = len(x_opt)
    inside = np.clip(x_opt, -HALF, HALF)
    starts = [inside, np.zeros(n), *np.random.default_rng(1).uniform(-4, 4, (4, n))]
    box = [(-HALF, HALF)] * n
    found = [minimize(f, s, method="SLSQP", bounds=box, options={"ftol": 1e-18, "maxiter": 2000})
             for s in starts]  # fmt: skip
    return min(f(inside), *(float(result.fun) for result in found))


def by_casmore(f: Counted, x0: Array, seed: int) -> None:
    box = [(-HALF, HALF)] * len(x0)
    casmore.fmin(f, x0, 2.0, bounds=box, seed=seed, budget=f.budget)


def by_mirror(f: Counted, x0: Array, seed: int) -> None:
    solver = casmore.CasMore(x0, 2.0, seed=seed)
    while not solver.stop():
        U = solver.ask()
        turned = np.mod(U + HALF, 4 * HALF)
        X = np.minimum(turned, 4 * HALF - turned) - HALF
        solver.tell(U, np.array([f(x) for x in X]))


def by_penalty(f: Counted, x0: Array, seed: int) -> None:
    solver = casmore.CasMore(x0, 2.0, seed=seed)
    while not solver.stop():
        U = solver.ask()
        X = np.clip(U, -HALF, HALF)
        y = np.array([f(x) for x in X])
        values = solver.queue.values if len(solver.queue) > 0 else y
        low, high = np.percentile(values, [25, 75])
        scale = (high - low) / float(np.trace(solver.distribution.covariance) / len(x0))
        solver.tell(U, y + scale * ((U - X) ** 2).sum(axis=1))


def by_pycma(f: Counted, x0: Array, seed: int) -> None:
    import cma

    options = {"bounds": [-HALF, HALF], "verbose": -9, "seed": seed + 1, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(x0, 2.0, options)
    while not strategy.stop():
        X = strategy.ask()
        strategy.tell(X, [f(np.clip(x, -HALF, HALF)) for x in X])


def by_cmaes(f: Counted, x0: Array, seed: int) -> None:
    import cmaes

    box = np.tile([-HALF, HALF], (len(x0), 1))
    strategy = cmaes.CMA(x0, 2.0, bounds=box, seed=seed)
    while not strategy.should_stop():
        X = [strategy.ask() for _ in range(strategy.population_size)]
        strategy.tell([(x, f(x)) for x in X])


METHODS: dict[str, Callable[[Counted, Array, int], None]] = {
    "casmore": by_casmore,
    "mirror": by_mirror,
    "penalty": by_penalty,
    "pycma": by_pycma,
    "cmaes": by_cmaes,
}


def cell(method: Any, name: str, place: str, n: int, runs: int) -> str:
    """Return mean evaluations and failures of some runs."""
    counts, failures = [], 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, n])
        x_opt = optimum(place, n, rng)
        f = objectives(x_opt, rng)[name]
        best = lowest(f, x_opt) if place == "outside" else 0.0
        counted = Counted(f, best + 1e-8 * max(1.0, abs(best)), BUDGET * n)
        with suppress(Solved):
            method(counted, rng.uniform(-4, 4, n), seed)
        if counted.solved:
            counts.append(counted.count)
        else:
            failures += 1
    mean = f"{np.mean(counts):.0f}" if counts else "-"
    return mean + (f" ({failures})" if failures else "")


def run_functions(n: int, runs: int) -> None:
    print(f"{'optimum':8} {'function':20}", *(f"{name:>10}" for name in METHODS))
    for place in PLACES:
        for name in ("separable ellipsoid", "rotated ellipsoid", "rosenbrock", "slopes"):
            row = [cell(method, name, place, n, runs) for method in METHODS.values()]
            print(f"{place:8} {name:20}", *(f"{text:>10}" for text in row), flush=True)


def run_boxed(n: int, runs: int) -> None:
    import cocoex

    for name in ("casmore", "pycma", "cmaes"):
        solved = total = 0
        for problem in cocoex.Suite("bbob-boxed", "", f"dimensions:{n} instance_indices:1-{runs}"):
            budget, seed = BUDGET * n, 0
            rng = np.random.default_rng(problem.id_instance)
            while problem.evaluations < budget and not problem.final_target_hit:
                counted = Counted(problem, -math.inf, budget - problem.evaluations)
                with suppress(Solved):
                    METHODS[name](counted, rng.uniform(-4, 4, n), seed)
                seed += 1
            solved, total = solved + int(problem.final_target_hit), total + 1
        print(f"bbob-boxed {n}-D {name:8} {solved} of {total} problems solved", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimension", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--boxed", action="store_true", help="use COCO's suite bbob-boxed")
    arguments = parser.parse_args()
    if arguments.boxed:
        run_boxed(arguments.dimension, arguments.runs)
    else:
        run_functions(arguments.dimension, arguments.runs)


if __name__ == "__main__":
    main()
