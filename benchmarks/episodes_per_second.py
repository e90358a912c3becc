"""Episodes a second of the robot tasks, one by one and in batches.

    python benchmarks/episodes_per_second.py [--batch 60] [--threads 1 2] [--seconds 3]

One by one is through Gymnasium's ``reset`` and ``step``; a batch is a population of movements near
the one that the searches begin with. Times are of the processor, over all threads, so that other
work on the machine disturbs little; in brackets what the clock says.
"""

import os

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import time
from collections.abc import Callable

import numpy as np

from casmore.problems.episodic import TASKS


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batch", type=int, default=60)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    for name, task in TASKS.items():
        W = task.mean + task.sigma0 * rng.standard_normal((options.batch, task.dimension))
        f = task.objective(seed=1)
        alone = _rate(lambda f=f, W=W: f.episode(W[0], 0), 1, options.seconds)  # type: ignore[misc]
        line = f"{name:34} one by one {alone}"
        for threads in options.threads if "Hole" not in name else [1]:
            f = task.objective(seed=1, threads=threads)
            line += f"   {options.batch} on {threads} thread{'s' * (threads > 1)} "
            line += _rate(lambda f=f, W=W: f.batch(W), options.batch, options.seconds)  # type: ignore[misc]
        print(line)


def _rate(run: Callable[[], object], episodes: int, seconds: float) -> str:
    """Return episodes a second: by the processor's time, and in brackets by the clock."""
    run()  # what is done once
    cpu, wall, count = time.process_time(), time.perf_counter(), 0
    while time.perf_counter() - wall < seconds:
        run()
        count += episodes
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return f"{count / cpu:6.0f}/s ({count / wall:.0f})"


if __name__ == "__main__":
    main()
