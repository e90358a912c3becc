"""A progress line for long runs."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from casmore.optimize.search_run import SearchRun

_SECONDS_ON_TERMINAL = 0.2
_SECONDS_IN_FILE = 30.0


class ProgressLine:
    """Writes evaluations, best value, step size and the time left to standard error.

    In a terminal one line is rewritten; otherwise a line is added every 30 seconds.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._last = -float("inf")
        self._width = 0

    def __call__(self, run: SearchRun, *, final: bool = False) -> None:
        """Write the line, unless it was written a moment ago."""
        now = time.monotonic()
        pause = _SECONDS_ON_TERMINAL if self._on_terminal else _SECONDS_IN_FILE
        if now - self._last < pause and not final:
            return
        self._last = now
        line = describe(run)
        if self._on_terminal:
            self._stream.write(f"\r{line:<{self._width}}" + ("\n" if final else ""))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()


def describe(run: SearchRun) -> str:
    """Return the line."""
    text = f"{run.evaluations}/{run.budget} evaluations, best {run.best_y:.6g}"
    text += f", {clock(run.seconds)}"
    left = seconds_left(run)
    return text if left is None else f"{text}, at most {clock(left)} left"


def seconds_left(run: SearchRun) -> float | None:
    """Return an upper bound on the time left, from budget and time limit; None: unknown."""
    limits = []
    if run.evaluations > 0:
        limits.append((run.budget - run.evaluations) * run.seconds / run.evaluations)
    time_left = run.time_left()
    if time_left is not None:
        limits.append(time_left)
    return min(limits, default=None)


def clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}"
