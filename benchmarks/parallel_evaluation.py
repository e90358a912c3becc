"""Wall time and evaluations with 1, 4 and 16 workers on a function of random duration.

    python benchmarks/parallel_evaluation.py [--runs 5] [--workers 1 4 16]

The function sleeps for an exponentially distributed time of 20 ms on average. "By iterations"
waits for the slowest point of each; "asynchronously" keeps all workers busy.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import rosen

import casmore

Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4, 16])
    arguments = parser.parse_args()
    runs = arguments.runs
    pause = np.random.default_rng(1)

    def slow(x: Array) -> float:
        time.sleep(pause.exponential(0.02))
        return float(rosen(x))

    print(f"{'workers':>7} {'loop':16} {'seconds':>8} {'evaluations to 1e-3':>20}")
    for workers in arguments.workers:
        for in_flight in (None, workers):
            began, evaluations = time.perf_counter(), []
            with ThreadPoolExecutor(workers) as executor:
                for seed in range(runs):
                    result = casmore.fmin(
                        slow, np.zeros(4), 0.5, target=1e-3, seed=seed, executor=executor,
                        in_flight=in_flight, restarts="ipop",
                    )  # fmt: skip
                    assert result.success
                    evaluations.append(result.nfev)
            seconds = (time.perf_counter() - began) / runs
            loop = "by iterations" if in_flight is None else "asynchronously"
            mean = np.mean(evaluations)
            print(f"{workers:7} {loop:16} {seconds:8.1f} {mean:20.0f}", flush=True)


if __name__ == "__main__":
    main()
