"""Telling a person, or a log file, how far a run is."""

import time
from collections.abc import Callable
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

_PLAIN_SECONDS = 10.0


class Pace:
    """Counts what is done, and estimates from it the time that is left.

    Parameters
    ----------
    units
        Number of units in the plan.
    done
        Number of them that were done before this session.
    cost
        Expected cost of those that are left, in any unit.
    clock
        Seconds, from any origin.
    """

    def __init__(
        self,
        units: int,
        done: int,
        cost: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.units, self.done, self.failed = units, done, 0
        self._cost, self._cost_done, self._evaluations = cost, 0, 0
        self._clock = clock
        self._started = clock()

    def count(self, *, cost: int, evaluations: int, failed: bool) -> None:
        """Take in a unit that has ended."""
        self._cost_done += cost
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
        """Evaluations a second, over all workers."""
        return self._evaluations / max(self.elapsed, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all is done, if expected cost keeps being worked off as it was."""
        if self._cost_done == 0:
            return None
        return self.elapsed * (self._cost - self._cost_done) / self._cost_done

    @property
    def fraction(self) -> float:
        """Part of this session's expected cost that is done."""
        return self._cost_done / self._cost if self._cost else 1.0

    def __str__(self) -> str:
        left = self.seconds_left
        return ", ".join(
            [
                f"{self.done}/{self.units} units",
                *([f"{self.failed} failed"] if self.failed else []),
                f"{self.evaluations_per_second:,.0f} evaluations/s",
                f"{_duration(self.elapsed)} gone",
                "time left not known yet" if left is None else f"about {_duration(left)} left",
            ]
        )


class Display(Protocol):
    """Shows a pace; a context manager, ``update`` is called about once a second."""

    def __enter__(self) -> "Display": ...

    def __exit__(self, *error: object) -> None: ...

    def update(self) -> None:
        """Show the present state."""


class PlainDisplay:
    """A line every ten seconds and one in the end: for logs and pipes."""

    def __init__(self, pace: Pace, stream: TextIO) -> None:
        self._pace, self._stream = pace, stream
        self._shown = pace.elapsed

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(self, *error: object) -> None:
        self._show()

    def update(self) -> None:
        """Write a line if it is time."""
        if self._pace.elapsed - self._shown >= _PLAIN_SECONDS:
            self._show()

    def _show(self) -> None:
        self._shown = self._pace.elapsed
        print(self._pace, file=self._stream, flush=True)


class BarDisplay:
    """A bar in a terminal."""

    def __init__(self, pace: Pace, stream: TextIO) -> None:
        self._pace = pace
        self._bar = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.description}"),
            console=Console(file=stream),
        )
        self._task: TaskID = self._bar.add_task(str(pace), total=1.0)

    def __enter__(self) -> "BarDisplay":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.update()
        self._bar.stop()

    def update(self) -> None:
        """Redraw the bar."""
        self._bar.update(self._task, completed=self._pace.fraction, description=str(self._pace))


def display(pace: Pace, stream: TextIO) -> Display:
    """Return a bar for a terminal, else lines."""
    return BarDisplay(pace, stream) if stream.isatty() else PlainDisplay(pace, stream)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
