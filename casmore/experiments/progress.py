"""Telling a person, or a log file, how far a run is."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

_PLAIN_SECONDS = 10.0


class Pace:
    """Counts what is done, and estimates from it the time that is left.

    What a unit takes depends on its dimension above all, so each dimension has its own mean.

    Parameters
    ----------
    units
        Number of units in the plan.
    left
        Those still to do: of each, the dimension and the expected cost, in any unit.
    workers
        Number of units that are run at a time.
    clock
        Seconds, from any origin.
    """

    def __init__(
        self,
        units: int,
        left: Iterable[tuple[int, float]],
        *,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cost = dict(left := list(left))
        self._left = Counter(dimension for dimension, _ in left)
        self._ended: Counter[int] = Counter()
        self._seconds: defaultdict[int, float] = defaultdict(float)
        self.units, self.done, self.failed = units, units - len(left), 0
        self._workers = workers
        self._evaluations = 0
        self._clock = clock
        self._started = clock()

    def count(self, dimension: int, *, seconds: float, evaluations: int, failed: bool) -> None:
        """Take in a unit that has ended."""
        self._left[dimension] -= 1
        self._ended[dimension] += 1
        self._seconds[dimension] += seconds
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
        """Seconds until all is done, if the units to come are like those that have ended.

        Of a dimension of which none has ended, it is assumed that its time is to that of the
        nearest other one as their expected costs are.
        """
        if not self._ended:
            return None
        seconds = 0.0
        for dimension, count in self._left.items():
            like = min(self._ended, key=lambda d: abs(d - dimension))
            mean = self._seconds[like] / self._ended[like]
            seconds += count * mean * self._cost[dimension] / self._cost[like]
        return seconds / self._workers

    @property
    def fraction(self) -> float:
        """Part of this session that is over."""
        left = self.seconds_left
        return 0.0 if left is None else self.elapsed / max(self.elapsed + left, 1e-9)

    def __str__(self) -> str:
        left = self.seconds_left
        return ", ".join(
            [
                f"{self.done}/{self.units} units",
                *([f"{self.failed} failed"] if self.failed else []),
                f"{self.evaluations_per_second:,.0f} evaluations/s",
                f"{duration(self.elapsed)} gone",
                "time left not known yet" if left is None else f"about {duration(left)} left",
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


def duration(seconds: float) -> str:
    """Return a time in words, to the second or the minute."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
