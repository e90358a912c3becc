"""Scores on COCO's noisy suite, with and without noise handling.

    python benchmarks/noisy_suite.py [--dimension 5] [--instances 1-3] [--budget 2000]
        [--suite bbob-noisy] [--solvers cas-more cas-more:noise=auto cma]

IPOP restarts, starts in U(-4, 4)^n, sigma0 = 2, budget times n evaluations. The score is that of
the league: the mean over all functions and seven targets, 1e1 to 1e-7, of 1 - log10(ERT / n) / 4.
COCO counts a target as reached by the value without noise. Functions f101 to f130 are in three
groups of noise: Gauss, uniform, Cauchy.
"""

import argparse
import contextlib
import io
import tempfile
from pathlib import Path

import cocoex
import numpy as np

from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, UniformStart

TARGETS = [1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7]
KINDS = ("Gauss", "uniform", "Cauchy")  # in turn, from f101 on


def run(options: argparse.Namespace, solver: str, folder: Path) -> Path:
    """Run all problems; return the folder of COCO's data."""
    name, *settings = solver.split(":")
    n = options.dimension
    suite = cocoex.Suite(options.suite, "", f"dimensions:{n} instance_indices:{options.instances}")
    observer = cocoex.Observer(
        "bbob", {"outer_folder": str(folder), "result_folder": name, "algorithm_name": name}
    )
    for number, problem in enumerate(suite):
        problem.observe_with(observer)
        search = Restarting(
            registry.factory(name),
            UniformStart(n),
            2.0,
            seed=np.random.SeedSequence([number, options.seed]),
            settings=dict(setting.split("=") for setting in settings),
        )
        budget = options.budget * n
        while search.evaluations < budget and not problem.final_target_hit:
            X = search.ask()[: budget - search.evaluations]
            search.tell(X, np.array([problem(x) for x in X]))
        problem.free()
    return Path(observer.result_folder)


def scores(folder: Path, n: int) -> dict[int, float]:
    """Return the score of each function."""
    with contextlib.redirect_stdout(io.StringIO()):
        import cocopp

        data = cocopp.load(str(folder))
    found = {}
    for data_set in data:
        ratios = np.clip(np.array(data_set.detERT(TARGETS)) / n, 1.0, 1e4)
        found[int(data_set.funcId)] = float((1 - np.log10(ratios) / 4).mean())
    return found


def main() -> None:
    """Print a line for each solver."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dimension", type=int, default=5)
    parser.add_argument("--instances", default="1-3")
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--suite", default="bbob-noisy")
    parser.add_argument("--solvers", nargs="+", default=["cas-more", "cas-more:noise=auto", "cma"])
    options = parser.parse_args()
    for solver in options.solvers:
        with tempfile.TemporaryDirectory() as folder:
            of = scores(run(options, solver, Path(folder)), options.dimension)
        line = f"{options.dimension}-D {solver:26} {np.mean(list(of.values())):.3f}"
        if options.suite == "bbob-noisy":
            for i, kind in enumerate(KINDS):
                group = [score for f, score in of.items() if (f - 101) % 3 == i]
                line += f"  {kind} {np.mean(group):.3f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
