"""A statement of the paper, and the verdict of our measurements."""

from dataclasses import dataclass

from casmore.studies.confidence import Verdict


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the measurements, and the verdict.

    Attributes
    ----------
    statement
        The statement in words.
    measured
        The measured quantities with their intervals.
    verdict
        The verdict on the statement.
    """

    statement: str
    measured: str
    verdict: Verdict
