"""Evaluations to the final target of BBOB, compared with a reference implementation.

    python benchmarks/reference_evaluations.py REFERENCE.csv [--out FOLDER] [--workers N]

REFERENCE.csv has the columns dim, f, instance, restarts (allowed), budget_per_dim, target_hit,
evaluations. The same problems are run with CAS-MORE, from U(-4, 4)^n with sigma0 = 2 and the
budget and restarts of the reference, once for each seed, in FOLDER (resumable; another folder, a
fresh run). For each function the table shows the geometric mean, over seeds and the instances
that both solve, of the ratio of evaluations, ours to theirs.
"""

import argparse
import csv
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from casmore.experiments import runner
from casmore.experiments.config import check

FUNCTIONS = (1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
DIMENSIONS = (5, 10, 20)
GOAL = 1.15


@dataclass(frozen=True)
class Trial:
    """One run on one problem."""

    solved: bool
    evaluations: int


@dataclass(frozen=True)
class Protocol:
    """What a dimension of the reference was run with."""

    budget: int
    restarts: str


Reference = dict[tuple[int, int, int], Trial]  # by dimension, function, instance
Trials = list[tuple[tuple[int, int, int], Trial]]  # with the same keys, repeated over seeds


def read_reference(path: Path) -> tuple[Reference, dict[int, Protocol]]:
    trials: Reference = {}
    protocols: dict[int, Protocol] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            dim = int(row["dim"])
            key = dim, int(row["f"]), int(row["instance"])
            trials[key] = Trial(row["target_hit"] == "1", int(row["evaluations"]))
            restarts = "ipop" if int(row["restarts"]) else "none"
            protocols[dim] = Protocol(int(row["budget_per_dim"]), restarts)
    return trials, protocols


def run_ours(dimension: int, protocol: Protocol, seed: int, out: Path, workers: int) -> Trials:
    experiment = check.check(
        {
            "name": f"reference-{dimension}",
            "seed": seed,
            "suite": {
                "functions": list(FUNCTIONS),
                "dimensions": [dimension],
                "instances": "1-5",
            },
            "budget": {"evaluations_per_dimension": protocol.budget},
            "solvers": [{"name": "cas-more", "label": "CAS-MORE", "restarts": protocol.restarts}],
            "run": {"workers": workers},
        }
    )
    folder = out / f"{dimension}-D-seed-{seed}"
    summary = runner.run(experiment, folder, workers=workers)
    if summary.failures:
        sys.exit("\n".join(f"{unit}: {error}" for unit, error in summary.failures.items()))
    trials: Trials = []
    for path in folder.glob("units/*/*/unit.json"):
        unit = json.loads(path.read_text())
        key = unit["dimension"], unit["function"], unit["instance"]
        trials.append((key, Trial(unit["final_target_hit"], unit["evaluations"])))
    return trials


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def print_table(dimension: int, ours: Trials, theirs: Reference) -> None:
    print(f"\n{dimension}-D      ratio   both solve   we solve   they solve   of")
    reached = judged = 0
    by_function: dict[int, list[tuple[Trial, Trial]]] = defaultdict(list)
    for key, trial in ours:
        if key in theirs:
            by_function[key[1]].append((trial, theirs[key]))
    for function in FUNCTIONS:
        pairs = by_function[function]
        both = [(a, b) for a, b in pairs if a.solved and b.solved]
        ratio = geometric_mean(a.evaluations / b.evaluations for a, b in both)
        we, they = sum(a.solved for a, _ in pairs), sum(b.solved for _, b in pairs)
        mark = " " if math.isnan(ratio) else "+" if ratio <= GOAL else "-"
        judged += mark != " "
        reached += mark == "+"
        print(
            f"  f{function:<4d} {mark} {ratio:6.2f} {len(both):10d} {we:10d} {they:12d} "
            f"{len(pairs):6d}"
        )
    print(f"  {reached} of {judged} functions within {GOAL} (or better)", end="")
    print(
        "" if judged == len(FUNCTIONS) else f"; {len(FUNCTIONS) - judged} without a common success"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/reference"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=4, help="runs on each instance")
    options = parser.parse_args()
    theirs, protocols = read_reference(options.reference)
    for dimension in DIMENSIONS:
        ours = [
            trial
            for seed in range(1, options.seeds + 1)
            for trial in run_ours(
                dimension, protocols[dimension], seed, options.out, options.workers
            )
        ]
        print_table(dimension, ours, theirs)


if __name__ == "__main__":
    main()
