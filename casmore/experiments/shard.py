"""Shards, the parts of a plan: ``3/16`` is the third of sixteen parts.

The parts have nearly the same mix of solvers, dimensions and functions, and depend only on the
plan. They can be run in any order, on several machines, at the same time or not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from casmore.experiments.work_unit import Work

_SPELLED = re.compile(r"(\d+)/(\d+)")
WHOLE = "all"  # the share of a session that runs everything


@dataclass(frozen=True)
class Shard:
    """The ``index``-th of ``count`` parts, counted from one."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise ValueError(
                f"shard {self.index}/{self.count}: the first number is one of 1 to {self.count}"
                if self.count
                else f"shard {self.index}/{self.count}: there must be at least one part"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``"3/16"``.

        Raises
        ------
        ValueError
            If it is not two whole numbers, the first from 1 to the second.
        """
        match = _SPELLED.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a shard; write '3/16' for the third of sixteen")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @property
    def share(self) -> str:
        """The shard's name in the run's folder."""
        return f"{self.index}-of-{self.count}"

    def of(self, plan: Sequence[Work]) -> tuple[Work, ...]:
        """Return this part of a plan, in the plan's order.

        The units are distributed in turn, the most expensive first. Units of the same cost are
        ordered by their seeds, so that each part gets a mix of all.
        """
        dealt = sorted(range(len(plan)), key=lambda i: (-plan[i].cost, plan[i].entropy))
        mine = sorted(dealt[self.index - 1 :: self.count])
        return tuple(plan[i] for i in mine)
