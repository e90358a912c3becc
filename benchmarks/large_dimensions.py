"""Evaluations, time and memory in high dimensions, compared with pycma.

    python benchmarks/large_dimensions.py [--dimensions 100 200 1000] [--out FILE]

Separable: the ellipsoid of condition 1e6. Rotated: the same in rotated coordinates, of condition
100, so that a diagonal model can solve it. CAS-MORE with its default (the full model up to
84-D) and with a diagonal model, pycma with its default and with ``CMA_diagonal``; from U(-4, 4)^n,
sigma0 = 2, to 1e-8. A run ends without the target after 500 n evaluations or ``--seconds`` seconds
of computing. Each runs in a process of its own, whose peak memory is shown.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FUNCTIONS = ("separable", "rotated")
SOLVERS = ("CAS-MORE", "CAS-MORE diagonal", "pycma", "pycma CMA_diagonal")


def function(name: str, n: int) -> Callable[[Array], Array]:
    """Return a function of a batch, shape (k, n)."""
    if name == "separable":
        weights = np.logspace(0, 6, n)
        return lambda X: np.asarray(X**2 @ weights)
    weights = np.logspace(0, 2, n)
    rotation = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    return lambda X: np.asarray((X @ rotation) ** 2 @ weights)


def minimize(solver: str, name: str, n: int, seconds: float) -> tuple[int, float]:
    """Return the evaluations and the smallest value."""
    f, x0, budget = function(name, n), np.random.default_rng(1).uniform(-4, 4, n), 500 * n
    end = time.process_time() + seconds
    if solver.startswith("pycma"):
        warnings.simplefilter("ignore")
        import cma

        options = {"ftarget": 1e-8, "maxfevals": budget, "seed": 1, "verbose": -9}
        options |= {"tolfun": 0, "tolfunhist": 0, "tolx": 0}
        es = cma.CMAEvolutionStrategy(
            x0, 2.0, {**options, "CMA_diagonal": solver.endswith("diagonal")}
        )
        while not es.stop() and time.process_time() < end:
            X = np.array(es.ask())
            es.tell(X, f(X))
        return int(es.result.evaluations), float(es.result.fbest)
    from casmore import CasMore

    settings: dict[str, Any] = {"richest_model": "diagonal"} if solver.endswith("diagonal") else {}
    ours = CasMore(x0, 2.0, seed=1, target=1e-8, **settings)
    while not ours.stop() and ours.evaluations < budget and time.process_time() < end:
        X = ours.ask()
        ours.tell(X, f(X))
    return ours.evaluations, ours.best_y


def measure(solver: str, name: str, n: int, seconds: float) -> str:
    """Run in this process; return a line of JSON."""
    began = time.process_time()
    evaluations, best = minimize(solver, name, n, seconds)
    spent = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return json.dumps([evaluations, best, 1e6 * spent / evaluations, memory])


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 200, 1000])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--out", type=Path, help="also write the table there")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        solver, name, n = options.one
        print(measure(solver, name, int(n), options.seconds))
        return
    lines = [f"{'':30}{'evaluations':>12}{'value':>10}{'us an evaluation':>18}{'MiB':>8}"]
    print(lines[0])
    for n in options.dimensions:
        for name in FUNCTIONS:
            for solver in SOLVERS:
                command = [sys.executable, __file__, "--seconds", str(options.seconds), "--one"]
                done = subprocess.run(
                    [*command, solver, name, str(n)], capture_output=True, text=True, check=True
                )
                evaluations, best, microseconds, memory = json.loads(done.stdout)
                reached = " " if best <= 1e-8 else ">"
                lines.append(
                    f"{n:4}-D {name:10}{solver:19}{reached}{evaluations:6}"
                    f"{best:10.1e}{microseconds:18.0f}{memory:8.0f}"
                )
                print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
