"""Projected duration of an experiment in one dimension, from a small part of it.

    python benchmarks/projection.py DIMENSION [--solver cas-more] [--instances 1]
        [--budget 1000] [--full-budget 10000] [--trials 360] [--workers 2]

Runs all 24 functions on a few instances with a reduced budget. A trial that reaches the final
target counts with the CPU time it took; one that does not with its time per evaluation times the
full budget. The mean over all, times the trials, divided by the workers, is the projection. It errs
on the long side: with the full budget more trials reach the target, and populations, which grow
with restarts, make an evaluation cheaper.
"""

import argparse
import json
import tempfile
from pathlib import Path

from casmore.experiments import runner
from casmore.experiments.config import check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dimension", type=int)
    parser.add_argument("--solver", default="cas-more")
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--budget", type=int, default=1000, help="evaluations per dimension")
    parser.add_argument("--full-budget", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=360)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    experiment = check.check(
        {
            "name": "projection",
            "suite": {
                "functions": "1-24",
                "dimensions": [options.dimension],
                "instances": list(range(1, options.instances + 1)),
            },
            "budget": {"evaluations_per_dimension": options.budget},
            "solvers": [{"name": options.solver, "label": "solver", "restarts": "ipop"}],
        }
    )
    full = options.full_budget * options.dimension
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        runner.run(experiment, Path(folder), workers=options.workers)
        for path in sorted(Path(folder).glob("units/*/*/unit.json")):
            unit = json.loads(path.read_text())
            each = unit["cpu_seconds"] / unit["evaluations"]
            seconds.append(unit["cpu_seconds"] if unit["final_target_hit"] else each * full)
            print(
                f"f{unit['function']:<3d} {'solved' if unit['final_target_hit'] else '':7s}"
                f"{unit['evaluations']:9,d} evaluations, {1e6 * each:7.1f} us each, "
                f"projected {seconds[-1]:7.1f} s"
            )
    hours = sum(seconds) / len(seconds) * options.trials / options.workers / 3600
    print(f"{options.trials} trials on {options.workers} cores: about {hours:.2f} hours")


if __name__ == "__main__":
    main()
