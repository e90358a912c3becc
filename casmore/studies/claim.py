"""A statement of the paper, and what our measurements say about it."""

from dataclasses import dataclass

from casmore.studies.confidence import Verdict


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, what was measured, and what follows.

    Attributes
    ----------
    statement
        In words.
    measured
        The quantities with their intervals.
    verdict
        What they say about the statement.
    """

    statement: str
    measured: str
    verdict: Verdict
