"""Runs made up for tests: variants of which the truth is known."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.studies.run_table import StudyRun, Variant

Array = NDArray[np.float64]


def study_run(label: str, function: int = 8, run: int = 0, **changes: Any) -> StudyRun:
    """Return a run that reached the target after 1000 evaluations, with ``changes`` made."""
    whole: dict[str, Any] = {
        "settings": "",
        "evaluations": 1000,
        "reached": True,
        "f_start": 1e5,
        "f_end": 1e-9,
        "to_1": 500.0,
        "to_1e_2": 600.0,
        "to_1e_7": 900.0,
        "first_fall": math.nan,
        "least_fall": math.nan,
        "last_fall": math.nan,
    }
    return StudyRun(label, function, run=run, **{**whole, **changes})


def variant(
    label: str, evaluations: Iterable[float], *, failures: int = 0, **changes: Any
) -> Variant:
    """Return a variant of runs that reached the target, and of failures after 12000 evaluations."""
    runs = [
        study_run(label, run=i, evaluations=int(spent), **changes)
        for i, spent in enumerate(evaluations)
    ]
    never: dict[str, Any] = {"to_1": math.inf, "to_1e_2": math.inf, "to_1e_7": math.inf}
    for _ in range(failures):
        lost = {**changes, "evaluations": 12_000, "reached": False, "f_end": 4.0, **never}
        runs.append(study_run(label, run=len(runs), **lost))
    return Variant(tuple(runs))


def around(value: float, runs: int = 100, seed: int = 1) -> Array:
    """Return numbers of evaluations spread by 10 % around ``value``."""
    return value * np.exp(np.random.default_rng(seed).normal(0, 0.1, runs))
