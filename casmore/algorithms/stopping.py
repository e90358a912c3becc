"""Why a run ended: the names every solver's ``stop()`` uses."""

from enum import StrEnum


class StopReason(StrEnum):
    """A reason to stop; ``stop()`` maps each one that applies to the value that triggered it."""

    TARGET = "target reached"
    BUDGET = "budget exhausted"
    CONDITION = "condition number of the covariance too large"
    STEP_TOO_SMALL = "step size too small"
    STEP_TOO_LARGE = "step size too large"
    NO_PROGRESS = "no progress in f"
    UPDATE_FAILED = "the update failed repeatedly"
    CALLBACK = "stopped by the callback"
