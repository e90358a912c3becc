"""Scores on the functions of CEC 2017 and CEC 2022, on which nothing was tuned.

    python benchmarks/held_out.py FILE.csv [--suites cec2017 cec2022] [--dimensions 10 20]
        [--budget 1000] [--seeds 3] [--solvers auto lean-cas-more ...] [--functions 1-12]

It needs the package opfunu (``pip install 'casmore[test]'``). The box [-100, 100]^n is scaled to
[-5, 5]^n. Runs start in U(-4, 4)^n with sigma0 = 2 and have budget times n evaluations; the
solver ``auto`` knows the box, and so do dual annealing and SLSQP, which is started again at random
points. The score is that of the league: the mean over functions and the targets 1e3, 1e2, ...,
1e-3, 1e-5 and 1e-7 of 1 - log10(ERT / n) / 4, relative to the optimal value.

Each run is a row of FILE.csv: the evaluations to each target. Runs that are there are not repeated,
so that an interrupted benchmark continues.
"""

import argparse
import contextlib
import csv
import importlib
import io
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from casmore.experiments.config.ranges import parse_range
from casmore.reports.league import points
from casmore.solvers import registry
from casmore.solvers.plain_function import PlainFunction
from casmore.solvers.protocol import SolverFactory
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart

Array = NDArray[np.float64]
Problem = Callable[[Array], float]

TARGETS = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7)
FINAL = 1e-8
SCALE = 20.0  # of the box
COUNTS = {"cec2017": 29, "cec2022": 12}
# the restart policy and the settings of each solver, by its label
SOLVERS: dict[str, tuple[str, RestartPolicy, dict[str, Any]]] = {
    "auto": ("auto", RestartPolicy.NONE, {"lower": -5.0, "upper": 5.0}),
    "lean-cas-more": ("lean-cas-more", RestartPolicy.IPOP, {}),
    "cas-more": ("cas-more", RestartPolicy.IPOP, {}),
    "cma-ipop": ("cma", RestartPolicy.IPOP, {}),
    "cma-bipop": ("cma", RestartPolicy.BIPOP, {}),
    "lq-cma": ("lq-cma", RestartPolicy.IPOP, {}),
    "slsqp": ("slsqp", RestartPolicy.IPOP, {"bounds": (-5.0, 5.0)}),
    "dual-annealing": ("dual-annealing", RestartPolicy.IPOP, {}),
}


def dual_annealing(
    f: Problem, x0: Array, budget: int, rng: np.random.Generator, **settings: Any
) -> None:
    """Run SciPy's dual annealing in the box."""
    optimize.dual_annealing(f, [(-5.0, 5.0)] * len(x0), maxiter=budget, rng=rng, x0=x0)


def problem(suite: str, number: int, n: int) -> Problem:
    """Return f(x) - f*, of x in [-5, 5]^n."""
    module = importlib.import_module(f"opfunu.cec_based.{suite}")
    function = getattr(module, f"F{number}{suite[3:]}")(ndim=n)
    optimum = float(function.f_global)
    return lambda x: float(function.evaluate(SCALE * x)) - optimum


def exists(suite: str, number: int, n: int) -> bool:
    """Whether opfunu has the function in n dimensions; in 20-D it lacks 12 of CEC 2017."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            problem(suite, number, n)(np.zeros(n))
    except (ValueError, SystemExit):  # opfunu prints why, and ends the process
        return False
    return True


def run(label: str, f: Problem, n: int, budget: int, seed: np.random.SeedSequence) -> list[float]:
    """Return the evaluations to each target, infinite if not reached, and their total number."""
    name, policy, settings = SOLVERS[label]
    factory: SolverFactory = (
        PlainFunction(dual_annealing, budget)
        if name == "dual-annealing"
        else registry.factory(name)
    )
    solver = Restarting(factory, UniformStart(n), 2.0, policy=policy, seed=seed, settings=settings)
    hits, count, best = [math.inf] * len(TARGETS), 0, math.inf

    def evaluate(X: Array) -> Array | None:
        nonlocal count, best
        y = np.array([f(x) for x in X[: budget - count]])
        for value in y:
            count += 1
            if value < best:
                best = float(value)
                for i, target in enumerate(TARGETS):
                    hits[i] = min(hits[i], count) if best <= target else hits[i]
            if best <= FINAL:
                return None
        return y if count < budget else None

    while count < budget and best > FINAL and not solver.stop():
        solver.advance(evaluate)
    return [*hits, count]


def scores(rows: list[list[str]]) -> Iterator[tuple[str, str, int, float, dict[int, float]]]:
    """Yield label, suite, n, score, and the score of each function."""
    runs: dict[tuple[str, str, int], dict[int, list[list[float]]]] = {}
    for label, suite, number, n, _, *numbers in rows:
        by_function = runs.setdefault((label, suite, int(n)), defaultdict(list))
        by_function[int(number)].append([float(v) for v in numbers])
    for (label, suite, dimension), by_function in runs.items():
        found = {f: points(ert(np.array(own)), dimension) for f, own in by_function.items()}
        yield label, suite, dimension, float(np.mean(list(found.values()))), found


def ert(trials: Array) -> Array:
    """Return the expected running time to each target from rows of hits and total evaluations."""
    hits, total = trials[:, :-1], trials[:, -1:]
    successes = np.isfinite(hits).sum(axis=0)
    spent = np.where(np.isfinite(hits), hits, total).sum(axis=0)
    return np.where(successes > 0, spent / np.maximum(successes, 1), math.inf)


def _plan(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Yield label, suite, function, n and seed of each run."""
    for suite in options.suites:
        functions = parse_range(options.functions or f"1-{COUNTS[suite]}")
        for number in (f for f in functions if f <= COUNTS[suite]):
            for n in (n for n in options.dimensions if exists(suite, number, n)):
                for seed in range(options.seeds):
                    for label in options.solvers:
                        yield label, suite, str(number), str(n), str(seed)


def main() -> None:
    """Run what is missing, and print a line for each solver."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--suites", nargs="+", default=list(COUNTS), choices=COUNTS)
    parser.add_argument("--dimensions", nargs="+", type=int, default=[10, 20])
    parser.add_argument("--budget", type=int, default=1000, help="evaluations per dimension")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--functions", help="a range such as 1-12; default: all")
    options = parser.parse_args()
    rows = list(csv.reader(options.file.open())) if options.file.exists() else []
    done = {tuple(row[:5]) for row in rows}
    for key in _plan(options):  # all solvers on a function, then the next function
        if key not in done:
            label, suite, *numbers = key
            number, n, seed = map(int, numbers)
            entropy = np.random.SeedSequence([number, n, seed, int(suite[3:])])
            found = run(label, problem(suite, number, n), n, options.budget * n, entropy)
            rows.append([*key, *map(str, found)])
            with options.file.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(rows[-1])
    for label, suite, n, score, by_function in scores(rows):
        each = " ".join(f"{100 * by_function[f]:.0f}" for f in sorted(by_function))
        print(f"{suite} {n}-D {label:15s} {score:.3f}   {each}", flush=True)


if __name__ == "__main__":
    main()
