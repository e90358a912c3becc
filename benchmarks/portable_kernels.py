"""The cost of ``[run] portable = true``: a solver's time per evaluation with portable kernels.

    python benchmarks/portable_kernels.py [--repeats 5]

Each measurement is a process of its own, as kernels are chosen when a process starts; those of the
three environments take turns. On an ellipsoid, CPU time with one BLAS thread, the smallest of the
repeats, relative to the kernels that are chosen for this machine's processor.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict

CASES = (
    ("cas-more", 5),
    ("cas-more", 20),
    ("cas-more", 40),
    ("cma", 20),
    ("cma", 40),
    ("xnes", 20),
)
EVALUATIONS = 300  # per dimension
# what a processor without AVX would choose: the price of going below the third level of x86-64
OLDEST = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",
}


def environments() -> dict[str, dict[str, str]]:
    """Return what is set in each environment, by its name."""
    from casmore.experiments import kernels

    portable = kernels.worker_environment(True)
    dispatched = portable["NPY_DISABLE_CPU_FEATURES"] + " X86_V3"
    return {
        "this processor's": kernels.worker_environment(False),
        "portable": portable,
        "without AVX": {**portable, **OLDEST, "NPY_DISABLE_CPU_FEATURES": dispatched},
    }


def measure(solver: str, dimension: int) -> float:
    """Return the microseconds per evaluation of this process."""
    import numpy as np

    from casmore.solvers import registry
    from casmore.solvers.restarts import Restarting, UniformStart

    weights = 10.0 ** (6 * np.arange(dimension) / (dimension - 1))
    run = Restarting(registry.factory(solver), UniformStart(dimension), 2.0, seed=7)
    began = time.process_time()
    while run.evaluations < EVALUATIONS * dimension:
        X = run.ask()
        run.tell(X, X**2 @ weights)
    return (time.process_time() - began) / run.evaluations * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--measure", nargs=2, metavar=("SOLVER", "DIMENSION"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.measure:
        print(measure(options.measure[0], int(options.measure[1])))
        return
    times: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    names = environments()
    for _ in range(options.repeats):
        for solver, dimension in CASES:
            for name, variables in names.items():
                command = [sys.executable, __file__, "--measure", solver, str(dimension)]
                done = subprocess.run(
                    command, env={**os.environ, **variables}, capture_output=True, check=True
                )
                times[solver, dimension, name].append(float(done.stdout))
    print("| solver | n | " + " | ".join(f"{name}, µs" for name in names) + " |")
    print("|---|---|" + "---|" * len(names))
    for solver, dimension in CASES:
        best = [min(times[solver, dimension, name]) for name in names]
        cells = [f"{t:.1f} ({t / best[0]:.2f})" for t in best]
        print(f"| {solver} | {dimension} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
