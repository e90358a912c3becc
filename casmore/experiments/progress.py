"""Display of a session's progress in a terminal or a log file."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column

from casmore.experiments.progress_estimator import ProgressEstimator, group_of
from casmore.experiments.work_unit import Unit, Work

_PLAIN_SECONDS = 10.0


class SessionProgress:
    """Counts what a session has done, and estimates the time left.

    Parameters
    ----------
    plan
        All units of the session.
    missing
        Units that are not done yet.
    workers
        Number of units that are run at a time.
    clock
        Returns seconds, from any origin.
    """

    def __init__(
        self,
        plan: Sequence[Work],
        missing: Sequence[Work],
        *,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._estimator = ProgressEstimator(missing)
        self._left = Counter(group_of(work.unit) for work in missing)
        self.units, self.done, self.failed = len(plan), len(plan) - len(missing), 0
        self._workers = workers
        self._evaluations = 0
        self._clock = clock
        self._started = clock()

    def count(self, unit: Unit, *, seconds: float, evaluations: int, failed: bool) -> None:
        """Record a unit that has ended."""
        group = group_of(unit)
        self._left[group] -= 1
        self._estimator.add(group, seconds)
        self._evaluations += evaluations
        if failed:
            self.failed += 1
        else:
            self.done += 1

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._started

    @property
    def evaluations_per_second(self) -> float:
        """Evaluations per second, over all workers."""
        return self._evaluations / max(self.elapsed, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all units are done; None until the first unit has ended."""
        return self._estimator.seconds_left(self._left, self._workers)

    @property
    def fraction(self) -> float:
        """Elapsed part of the session's time, between 0 and 1."""
        left = self.seconds_left
        return 0.0 if left is None else self.elapsed / max(self.elapsed + left, 1e-9)

    def __str__(self) -> str:
        left = self.seconds_left
        return ", ".join(
            [
                f"{self.done}/{self.units} units",
                *([f"{self.failed} failed"] if self.failed else []),
                "time left unknown" if left is None else f"about {duration(left)} left",
                f"{duration(self.elapsed)} elapsed",
                f"{self.evaluations_per_second:,.0f} evaluations/s",
            ]
        )


class Display(Protocol):
    """Shows progress; a context manager whose ``update`` is called about once a second."""

    def __enter__(self) -> "Display": ...

    def __exit__(self, *error: object) -> None: ...

    def update(self) -> None:
        """Show the current state."""


class PlainDisplay:
    """A line every ten seconds and one at the end: for logs and pipes."""

    def __init__(self, progress: SessionProgress, stream: TextIO) -> None:
        self._progress, self._stream = progress, stream
        self._shown = progress.elapsed

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(self, *error: object) -> None:
        self._show()

    def update(self) -> None:
        """Write a line if ten seconds have passed."""
        if self._progress.elapsed - self._shown >= _PLAIN_SECONDS:
            self._show()

    def _show(self) -> None:
        self._shown = self._progress.elapsed
        with suppress(OSError):  # the run continues if its log can't be written
            print(self._progress, file=self._stream, flush=True)


class BarDisplay:
    """A bar in a terminal."""

    def __init__(self, progress: SessionProgress, stream: TextIO) -> None:
        self._progress = progress
        self._bar = Progress(
            # in a narrow terminal the bar is shorter, so that the text fits in one line
            BarColumn(bar_width=None, table_column=Column(ratio=1, max_width=24)),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            console=Console(file=stream),
        )
        self._task: TaskID = self._bar.add_task(str(progress), total=1.0)

    def __enter__(self) -> "BarDisplay":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.update()
        self._bar.stop()

    def update(self) -> None:
        """Redraw the bar."""
        self._bar.update(
            self._task, completed=self._progress.fraction, description=str(self._progress)
        )


def display(progress: SessionProgress, stream: TextIO) -> Display:
    """Return a bar for a terminal, lines for other streams."""
    return BarDisplay(progress, stream) if stream.isatty() else PlainDisplay(progress, stream)


def duration(seconds: float) -> str:
    """Return a duration in words, to the second, or to the minute from one hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
