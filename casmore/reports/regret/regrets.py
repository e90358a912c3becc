"""The regret of a solver's trials, on evaluations that all trials have in common."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.problems.regret import QUANTILES, checkpoints
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import TARGETS, instance_weights
from casmore.reports.unit_table import UnitRow

Array = NDArray[np.float64]

SAMPLES, MEAN = "samples", "mean"
_MEDIAN = QUANTILES.index(0.5)
# in averages, less counts as the first, and more as the second: a search may diverge
SMALLEST, LARGEST = TARGETS[-1], 1e10


@dataclass(frozen=True)
class Regrets:
    """The regret of all trials of one solver on one function in one dimension.

    Attributes
    ----------
    solver
        The solver's label.
    function, dimension
        The BBOB problem.
    instances
        The instance of each trial.
    spent
        The number of evaluations of each trial, shape (trials,).
    evaluations
        1, 2, 3, ..., ceil(10^(k / 20)), ..., and the end of the longest trial, shape (points,).
    samples
        Median regret of recent samples after each of these evaluations, shape (trials, points);
        after the end of a trial, that at its end.
    mean
        Regret of the mean of the search distribution, likewise.
    """

    solver: str
    function: int
    dimension: int
    instances: tuple[int, ...]
    spent: Array
    evaluations: Array
    samples: Array
    mean: Array

    @cached_property
    def weights(self) -> Array:
        """The weight of each trial; instances have equal weights, as in `Runtimes`."""
        return instance_weights(self.instances)

    def of(self, what: str) -> Array:
        """Return the regret of `SAMPLES` or of the `MEAN`, shape (trials, points)."""
        return {SAMPLES: self.samples, MEAN: self.mean}[what]


def of_units(rows: Iterable[UnitRow]) -> list[Regrets]:
    """Return the regret recorded in the units of a run, in the order of the units.

    Units without a record of it, from an older version, are left out.

    Raises
    ------
    ReportError
        If a record is damaged.
    """
    found: dict[tuple[str, int, int], list[UnitRow]] = {}
    for row in rows:
        if not row.failed and "regret" in row.record:
            unit = row.unit
            found.setdefault((unit.label, unit.dimension, unit.function), []).append(row)
    return [_of_trials(*key, trials) for key, trials in found.items()]


def _of_trials(solver: str, dimension: int, function: int, rows: Sequence[UnitRow]) -> Regrets:
    try:
        records = [_columns(row.record["regret"]) for row in rows]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ReportError(
            f"the regret in a unit's record of {solver} on f{function} in {dimension}-D can't be "
            f"read ({error!r}); 'casmore verify' moves damaged units to quarantine"
        ) from error
    return collect(solver, function, dimension, [row.unit.instance for row in rows], records)


def collect(
    solver: str,
    function: int,
    dimension: int,
    instances: Sequence[int],
    records: Sequence[tuple[Array, Array, Array]],
) -> Regrets:
    """Return the regret of trials.

    Parameters
    ----------
    solver, function, dimension
        What the trials are of.
    instances
        The instance of each trial.
    records
        For each trial its evaluations, the regret of samples, and that of the mean, all of shape
        (points,): at the `checkpoints` up to the trial's end, and at its end.
    """
    spent = np.array([evaluations[-1] for evaluations, _, _ in records])
    grid = points(float(spent.max()))
    return Regrets(
        solver=solver,
        function=function,
        dimension=dimension,
        instances=tuple(instances),
        spent=spent,
        evaluations=grid,
        samples=np.array([_at(grid, evaluations, s) for evaluations, s, _ in records]),
        mean=np.array([_at(grid, evaluations, m) for evaluations, _, m in records]),
    )


def joined(parts: Sequence[Regrets]) -> Regrets:
    """Return the regret of several runs of one solver on one function, in order of instances."""
    first, *others = parts
    if not others:
        return first
    trials = sorted(
        ((part, trial) for part in parts for trial in range(len(part.instances))),
        key=lambda own: own[0].instances[own[1]],
    )
    instances = [part.instances[trial] for part, trial in trials]
    records = [_record(part, trial) for part, trial in trials]
    return collect(first.solver, first.function, first.dimension, instances, records)


def _record(part: Regrets, trial: int) -> tuple[Array, Array, Array]:
    own = points(float(part.spent[trial]))
    samples, mean = (_at(own, part.evaluations, part.of(of)[trial]) for of in (SAMPLES, MEAN))
    return own, samples, mean


def _columns(record: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Return evaluations, median regret of samples, and regret of the mean."""
    evaluations = np.array(record["evaluations"], dtype=float)
    samples = np.array([_number(row[_MEDIAN]) for row in record["samples"]])
    mean = np.array([_number(value) for value in record["mean"]])
    if not len(evaluations) == len(samples) == len(mean) > 0:
        raise ValueError("columns of different lengths")
    return evaluations, samples, mean


def _number(value: float | None) -> float:
    return math.inf if value is None else value


def points(end: float) -> Array:
    """Return the evaluations of `checkpoints` up to the end of a trial, and its end."""
    return np.union1d(np.array(checkpoints(int(end)), dtype=float), end)


def _at(grid: Array, evaluations: Array, values: Array) -> Array:
    """Return values, shape (..., points), on a grid; after the last evaluation, the last ones."""
    places = np.searchsorted(evaluations, grid)
    return values[..., np.minimum(places, len(evaluations) - 1)]


def fraction(regrets: Sequence[Regrets], what: str, evaluations: Array) -> Array:
    """Return the fraction of triples of function, target and trial with a regret below the target.

    Functions have equal weights, and so have targets and instances. The fraction may decrease.

    Parameters
    ----------
    regrets
        Of one solver in one dimension.
    what
        `SAMPLES` or `MEAN`.
    evaluations
        Where, shape (points,).
    """
    total = np.zeros(len(evaluations))
    for r in regrets:
        values = _on(r, what, evaluations)
        met = (values[:, :, None] <= TARGETS).mean(axis=2)
        total += r.weights @ met
    return total / len(regrets)


def average_log(regret: Regrets, what: str, budget: float) -> Array:
    """Return the average log10 of the regret in each trial, shape (trials,).

    The average is over the logarithm of the evaluations, from the dimension to the budget. After
    the end of a trial its last regret counts. A regret below 1e-8 counts as 1e-8, one above 1e10
    as 1e10.

    Parameters
    ----------
    regret
        Of one solver on one function.
    what
        `SAMPLES` or `MEAN`.
    budget
        In evaluations.
    """
    grid = points(budget)
    grid = grid[grid >= regret.dimension]
    values = np.log10(np.clip(_on(regret, what, grid), SMALLEST, LARGEST))
    if len(grid) == 1:  # the budget is the dimension
        return np.asarray(values[:, 0])
    steps = np.diff(np.log10(grid))
    trapezoids = (values[:, 1:] + values[:, :-1]) / 2
    return np.asarray(trapezoids @ steps / steps.sum())


def _on(regret: Regrets, what: str, evaluations: Array) -> Array:
    return _at(evaluations, regret.evaluations, regret.of(what))
