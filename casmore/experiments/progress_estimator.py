"""The progress estimator: estimates the time left from the units that have ended.

The time of a unit depends on its solver and, above all, on its dimension. Therefore units are
grouped by both, and each group has its own mean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from casmore.experiments.work_unit import Unit, Work

Group = tuple[str, int]  # a solver's label and a dimension


def group_of(unit: Unit) -> Group:
    """Return the group of a unit."""
    return unit.label, unit.dimension


class ProgressEstimator:
    """Estimates the time left from the times of finished units.

    Parameters
    ----------
    plan
        The units, with their expected cost.
    """

    def __init__(self, plan: Iterable[Work]) -> None:
        self._cost = {group_of(work.unit): work.cost for work in plan}
        self._seconds: defaultdict[Group, float] = defaultdict(float)
        self._ended: Counter[Group] = Counter()

    def add(self, group: Group, seconds: float) -> None:
        """Record the time of a unit of ``group``, in seconds."""
        self._seconds[group] += seconds
        self._ended[group] += 1

    def seconds_left(self, left: Mapping[Group, int], at_a_time: int) -> float | None:
        """Return the seconds until all units are done, or None if nothing is known yet.

        The time of a group without finished units is scaled from the group nearest in dimension, if
        possible of the same solver, by the ratio of the expected costs.

        Parameters
        ----------
        left
            The number of remaining units, by group.
        at_a_time
            Number of units that are run at the same time.
        """
        if not self._ended or at_a_time < 1:
            return None
        total = sum(count * self._seconds_of_one(group) for group, count in left.items())
        return total / at_a_time

    def _seconds_of_one(self, group: Group) -> float:
        label, dimension = group
        like = min(self._ended, key=lambda known: (abs(known[1] - dimension), known[0] != label))
        mean = self._seconds[like] / self._ended[like]
        return mean * self._cost[group] / self._cost[like]
