"""Runs made with cocoex for the tests, with a log of our own of every value."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cocoex
import numpy as np

from casmore.problems.regret import RegretRecorder
from casmore.solvers.cma import CMA

CPU_SECONDS_PER_EVALUATION = 3e-5


@dataclass(frozen=True)
class Trial:
    """The precision (function value above the optimum) of each evaluation, in order."""

    precisions: tuple[float, ...]

    def reached(self, target: float) -> int | None:
        """Count evaluations until the first value at or below ``target``."""
        for count, precision in enumerate(self.precisions, start=1):
            if precision <= target:
                return count
        return None


Log = dict[tuple[str, int, int], list[Trial]]


@dataclass(frozen=True)
class LoggedRun:
    """A run's folder, and what truly happened, by solver, dimension and function."""

    folder: Path
    log: Log
    budget: int


def make(
    folder: Path,
    solvers: Sequence[str],
    functions: Sequence[int],
    dimensions: Sequence[int],
    *,
    instances: int = 3,
    budget: int = 100,
    suite: str = "bbob",
) -> LoggedRun:
    """Write a run's folder; solvers differ in their seeds and population sizes.

    On bbob-noisy the log has noisy values, from which the evaluations to targets do not follow.
    """
    values: dict[tuple[str, int, int], list[list[float]]] = {}
    (folder / "data").mkdir(parents=True)
    for place, solver in enumerate(solvers):
        problems = cocoex.Suite(
            suite,
            f"instances: 1-{instances}",
            f"function_indices: {','.join(str(f % 100) for f in functions)} "
            f"dimensions: {','.join(map(str, dimensions))}",
        )
        observer = cocoex.Observer(
            "bbob",
            {
                "outer_folder": str(folder / "data"),
                "result_folder": solver,
                "algorithm_name": solver,
            },
        )
        for problem in problems:
            problem.observe_with(observer)
            seed = (place, problem.dimension, problem.id_function, problem.id_instance)
            trial = _values(problem, budget * problem.dimension, 6 + 2 * place, seed)
            key = (solver, problem.dimension, problem.id_function)
            values.setdefault(key, []).append(trial)
            problem.free()
        del observer, problems
    config = {
        "name": "logged",
        "suite": {"name": suite},
        "budget": {"evaluations_per_dimension": budget},
        "solvers": [{"name": "cma", "label": solver} for solver in solvers],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    log = {key: _trials(folder, key, trials) for key, trials in values.items()}
    for key, logged in log.items():
        for instance, one in enumerate(logged, start=1):
            _write_sidecar(folder, key, instance, one)
    return LoggedRun(folder, log, budget)


def _values(
    problem: cocoex.Problem, budget: int, population_size: int, seed: Sequence[int]
) -> list[float]:
    solver = CMA(
        np.ones(problem.dimension),
        2.0,
        population_size=population_size,
        seed=np.random.SeedSequence(seed),
    )
    values: list[float] = []
    while True:
        X = solver.ask()
        for x in X:
            values.append(float(problem(x)))
            if len(values) == budget or problem.final_target_hit:
                return values
        solver.tell(X, np.array(values[-len(X) :]))


def _trials(folder: Path, key: tuple[str, int, int], values: list[list[float]]) -> list[Trial]:
    """Take the optimal values off, which COCO tells only in its files, in a header per trial."""
    solver, dimension, function = key
    data = (
        folder / "data" / solver / f"data_f{function}" / f"bbobexp_f{function}_DIM{dimension}.dat"
    )
    optima = [float(text) for text in re.findall(r"Fopt \((\S+)\)", data.read_text())]
    return [
        Trial(tuple(value - optimum for value in trial))
        for trial, optimum in zip(values, optima, strict=True)
    ]


def _write_sidecar(folder: Path, key: tuple[str, int, int], instance: int, trial: Trial) -> None:
    """Write the record of a solver whose mean is its best point."""
    solver, dimension, function = key
    unit = folder / "units" / solver / f"f{function:03d}_d{dimension:02d}_i{instance:03d}_r0"
    unit.mkdir(parents=True)
    seen: list[float] = []
    regret = RegretRecorder(lambda: np.array([min(seen)]), lambda x: float(x[0]))
    for precision in trial.precisions:
        seen.append(precision)
        regret.add(np.array([precision]))
    regret.end()
    record = {
        "evaluations": len(seen),
        "cpu_seconds": len(seen) * CPU_SECONDS_PER_EVALUATION,
        "regret": regret.document(0.0),
    }
    (unit / "unit.json").write_text(json.dumps(record), encoding="utf-8")
