"""Scores on COCO's noisy suite, with and without noise handling.

    python benchmarks/noisy_suite.py [--dimension 5] [--instances 1-3] [--budget 2000]
        [--suite bbob-noisy] [--functions 101-130] [--by-function]
        [--solvers cas-more cas-more:noise=auto cma]

IPOP restarts, starts in U(-4, 4)^n, sigma0 = 2, budget times n evaluations. The score is that of
the league: the mean over all functions and seven targets, 1e1 to 1e-7, of 1 - log10(ERT / n) / 4.
COCO counts a target as reached by the value without noise. Functions f101 to f130 are in three
groups of noise: Gauss, uniform, Cauchy. "best 2009" is the virtual best solver of BBOB 2009 on this
suite, from COCO's data; its scores do not depend on the budget.
"""

import argparse
import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

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
    chosen = f"dimensions:{n} instance_indices:{options.instances}"
    if options.functions:
        chosen += f" function_indices:{options.functions}"
    suite = cocoex.Suite(options.suite, "", chosen)
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
    return {int(data_set.funcId): score(data_set, n) for data_set in data}


def score(data: Any, n: int) -> float:
    """Return the score of one function, from COCO's data."""
    ratios = np.clip(np.array(data.detERT(TARGETS)) / n, 1.0, 1e4)
    return float((1 - np.log10(ratios) / 4).mean())


def best_2009(n: int) -> dict[int, float]:
    """Return the scores of the best solver of 2009 on each function of bbob-noisy."""
    with contextlib.redirect_stdout(io.StringIO()):
        from cocopp import bestalg

        best = bestalg.load_reference_algorithm("refalgs/best2009-bbob-noisy.tar.gz")
    return {f: score(entry, n) for (dimension, f), entry in best.items() if dimension == n}


def line(n: int, solver: str, of: dict[int, float]) -> str:
    """Return the mean score of a solver, and those of the three groups of noise."""
    text = f"{n}-D {solver:26} {np.mean(list(of.values())):.3f}"
    for i, kind in enumerate(KINDS):
        group = [score for f, score in of.items() if f > 100 and (f - 101) % 3 == i]
        text += f"  {kind} {np.mean(group):.3f}" if group else ""
    return text


def main() -> None:
    """Print a line for each solver."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dimension", type=int, default=5)
    parser.add_argument("--instances", default="1-3")
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--suite", default="bbob-noisy")
    parser.add_argument("--functions", default="", help="default: all")
    parser.add_argument("--by-function", action="store_true", help="print each function's scores")
    parser.add_argument("--solvers", nargs="+", default=["cas-more", "cas-more:noise=auto", "cma"])
    options = parser.parse_args()
    n, table = options.dimension, {}
    for solver in options.solvers:
        with tempfile.TemporaryDirectory() as folder:
            table[solver] = scores(run(options, solver, Path(folder)), n)
        print(line(n, solver, table[solver]), flush=True)
    if options.suite == "bbob-noisy":
        best, known = best_2009(n), next(iter(table.values()))
        table["best 2009"] = {f: best[f] for f in known}
        print(line(n, "best 2009", table["best 2009"]))
    if options.by_function:
        print("\nfunction  " + "  ".join(table))
        for f in next(iter(table.values())):
            row = (f"{of[f]:{len(solver)}.2f}" for solver, of in table.items())
            print(f"f{f:<8} " + "  ".join(row))


if __name__ == "__main__":
    main()
