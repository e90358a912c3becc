"""Runtimes of solvers on a suite's functions, the basis of all numbers and figures of a report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from casmore.problems.suites import BBOB, Suite

# the 51 targets of BBOB's ECDFs: target precisions 10^2, 10^1.8, ..., 10^-8
TARGETS: NDArray[np.float64] = 10.0 ** (np.arange(10, -41, -1) / 5)
# those of BBOB's tables, and their places among the 51
ERT_TARGETS = (1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7)
ERT_ROWS = [5, 10, 15, 20, 25, 35, 45]


@dataclass(frozen=True)
class Runtimes:
    """All trials of one solver on one function in one dimension.

    Attributes
    ----------
    solver
        The solver's label.
    function, dimension
        The problem.
    instances
        The instance of each trial.
    spent
        The number of evaluations of each trial, shape (trials,). A trial ends when it reaches the
        final target, or else with its budget.
    evaluations
        Evaluations until each of the targets was first reached, shape (51, trials); NaN where it
        was not.
    restarts
        How often each trial was restarted, shape (trials,); NaN where that is not known.
    suite
        The suite of the function.
    """

    solver: str
    function: int
    dimension: int
    instances: tuple[int, ...]
    spent: NDArray[np.float64]
    evaluations: NDArray[np.float64]
    restarts: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    suite: Suite = BBOB

    def __post_init__(self) -> None:
        if not self.restarts.size:
            object.__setattr__(self, "restarts", np.full(self.trials, np.nan))
        counts = {self.trials, len(self.spent), self.evaluations.shape[1], len(self.restarts)}
        if len(counts) != 1:
            raise ValueError(f"the numbers of trials differ: {sorted(counts)}")

    @property
    def group(self) -> str:
        """Name of the function's group."""
        return self.suite.group_of(self.function)

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.instances)

    @property
    def successes(self) -> int:
        """Number of trials that reached the final target."""
        return int(np.count_nonzero(np.isfinite(self.evaluations[-1])))

    @property
    def longest(self) -> float:
        """Evaluations of the longest trial."""
        return float(self.spent.max())

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each trial, shape (trials,); instances have equal weights, the sum is 1.

        As in cocopp, an instance that was run more often than others does not count more.
        """
        return instance_weights(self.instances)

    @cached_property
    def ert(self) -> NDArray[np.float64]:
        """Expected running time to each target, shape (51,), in evaluations; inf: never reached.

        The evaluations of all trials, each until it reached the target or ended, divided by the
        number of trials that reached it (Hansen et al. 2016, COCO: performance assessment).
        """
        reached = np.isfinite(self.evaluations)
        cost = np.where(reached, self.evaluations, self.spent) @ self.weights
        successes = reached @ self.weights
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(successes > 0, cost / successes, np.inf))


def instance_weights(instances: Sequence[int]) -> NDArray[np.float64]:
    """Return the weight of each trial, shape (trials,); see `Runtimes.weights`."""
    repeats = Counter(instances)
    return np.array([1 / repeats[i] for i in instances]) / len(repeats)


def within(runtimes: Runtimes, budget: float, instances: Iterable[int]) -> Runtimes | None:
    """Return the trials on some instances, truncated to a smaller budget.

    This is valid for solvers that do not depend on their budget, like all of this package.

    Parameters
    ----------
    runtimes
        The trials of a solver.
    budget
        The smaller budget, in evaluations.
    instances
        The instances to keep.

    Returns
    -------
    Runtimes or None
        None if there is none of these instances, or if trials ended earlier without success.
    """
    kept = np.isin(runtimes.instances, list(instances))
    solved = np.isfinite(runtimes.evaluations[-1])
    if not kept.any() or np.any(kept & ~solved & (runtimes.spent < budget)):
        return None
    evaluations = runtimes.evaluations[:, kept]
    return replace(
        runtimes,
        instances=tuple(int(i) for i in np.array(runtimes.instances)[kept]),
        spent=np.minimum(runtimes.spent[kept], budget),
        evaluations=np.where(evaluations <= budget, evaluations, np.nan),
        # when they were is not known; without a restart there was none before either
        restarts=np.where(runtimes.restarts[kept] == 0, 0.0, np.nan),
    )


def joined(parts: Sequence[Runtimes]) -> Runtimes:
    """Return the trials of several runs of one solver on one function, in order of instances."""
    first, *others = parts
    if not others:
        return first
    instances = [instance for part in parts for instance in part.instances]
    order = np.argsort(instances, kind="stable")
    return replace(
        first,
        instances=tuple(instances[place] for place in order),
        spent=np.concatenate([part.spent for part in parts])[order],
        evaluations=np.hstack([part.evaluations for part in parts])[:, order],
        restarts=np.concatenate([part.restarts for part in parts])[order],
    )


def suite_of(runtimes: Iterable[Runtimes]) -> Suite:
    """Return the suite of the data.

    Raises
    ------
    ValueError
        If there is not exactly one.
    """
    found = {r.suite.name: r.suite for r in runtimes}
    if len(found) != 1:
        raise ValueError(f"data of one suite are expected, not of {', '.join(found) or 'none'}")
    (suite,) = found.values()
    return suite


def dimensions(runtimes: Iterable[Runtimes]) -> list[int]:
    """Return the dimensions in the data, ascending."""
    return sorted({r.dimension for r in runtimes})


def solvers(runtimes: Iterable[Runtimes]) -> list[str]:
    """Return the solvers in the data, in their order."""
    return list(dict.fromkeys(r.solver for r in runtimes))


def longest_budgets(runtimes: Iterable[Runtimes]) -> dict[int, float]:
    """Return the evaluations per dimension of the longest trial, for each dimension in the data.

    This is the budget, unless every trial reached the final target earlier.
    """
    longest: dict[int, float] = {}
    for r in runtimes:
        longest[r.dimension] = max(longest.get(r.dimension, 0.0), r.longest / r.dimension)
    return longest


def comparable(runtimes: Sequence[Runtimes], dimension: int) -> dict[str, list[Runtimes]]:
    """Return each solver's runtimes in one dimension, on the functions that all solvers there have.

    While a run is under way solvers have different functions, and a mean over different functions
    compares nothing.
    """
    found: dict[str, list[Runtimes]] = {}
    for r in runtimes:
        if r.dimension == dimension:
            found.setdefault(r.solver, []).append(r)
    common = set.intersection(*({r.function for r in rs} for rs in found.values()))
    return {solver: [r for r in rs if r.function in common] for solver, rs in found.items()}
