"""The value of f at the mean after a budget, where each evaluation has Gaussian noise.

    python benchmarks/additive_noise.py [--dimension 5] [--budget 2000] [--runs 6]
        [--solvers cas-more cas-more:noise=auto cma lra-cma]

The noise has standard deviation 1. Starts are in U(-4, 4)^n, sigma0 = 2, budget times n
evaluations, no restarts; the functions are f1, f8 and f10 of BBOB. The table has the median over
the runs of f without noise.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from casmore.problems.analytic import FUNCTIONS
from casmore.solvers import registry

Array = NDArray[np.float64]
CHOSEN = {1: "sphere", 8: "Rosenbrock", 10: "ellipsoid"}


def value_at_mean(solver: str, function: int, n: int, budget: int, seed: int) -> float:
    """Run one solver; return f at its last mean."""
    name, *settings = solver.split(":")
    rng = np.random.default_rng([seed, n])
    f = FUNCTIONS[function](n, seed)
    search = registry.factory(name)(
        rng.uniform(-4, 4, n),
        2.0,
        population_size=None,
        seed=seed,
        target=None,
        **dict(setting.split("=") for setting in settings),
    )
    while search.evaluations < budget and not search.stop():
        X = search.ask()
        search.tell(X, f.batch(X) + rng.standard_normal(len(X)))
    return float(f(search.mean))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dimension", type=int, default=5)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument(
        "--solvers",
        nargs="+",
        default=["cas-more", "cas-more:noise=auto", "lean-cas-more:noise=auto", "cma", "lra-cma"],
    )
    options = parser.parse_args()
    n = options.dimension
    print(f"| {n}-D | " + " | ".join(CHOSEN.values()) + " |\n|---|" + "---|" * len(CHOSEN))
    for solver in options.solvers:
        medians = [
            np.median(
                [
                    value_at_mean(solver, function, n, options.budget * n, seed)
                    for seed in range(101, 101 + options.runs)
                ]
            )
            for function in CHOSEN
        ]
        print(f"| {solver} | " + " | ".join(f"{value:.2g}" for value in medians) + " |", flush=True)


if __name__ == "__main__":
    main()
