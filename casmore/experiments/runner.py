"""Running an experiment: what is missing, in worker processes, until nothing is.

To resume is to run again: published units are skipped. A worker that is killed takes the pool
with it; the units that were in work are then run again, those alone that may have been the cause.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from casmore.experiments import manifest
from casmore.experiments.config import Config
from casmore.experiments.durable import read_json, write_json
from casmore.experiments.folder import RunFolder
from casmore.experiments.merge import merge
from casmore.experiments.plan import Unit, Work, make_plan, schedule
from casmore.experiments.pool import WorkerDiedError, run_batches
from casmore.experiments.progress import Display, Pace, display
from casmore.experiments.unit import Outcome, write_failure

_STRIKES = 3


class ConfigChangedError(ValueError):
    """The folder holds a run of another config."""


@dataclass
class Summary:
    """How a session ended."""

    folder: Path
    units: int
    published: int
    failures: dict[Unit, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # of those with data


def run(config: Config, root: Path, *, workers: int, stream: TextIO | None = None) -> Summary:
    """Run what is missing of an experiment, and merge all of it.

    Parameters
    ----------
    config
        The experiment.
    root
        The run's folder; made if missing, gone on with if it holds this experiment.
    workers
        Number of worker processes.
    stream
        Where progress is shown; default: standard error.

    Raises
    ------
    RunLockedError
        If another session is at work in the folder.
    ConfigChangedError
        If the folder belongs to another config.
    KeyboardInterrupt
        On Ctrl-C; the workers are gone then, and published units stay.
    """
    folder = RunFolder(root.resolve())
    plan = make_plan(config)
    with folder.lock():
        _agree_on_config(folder, config)
        folder.sweep()
        try:
            with manifest.session(folder.manifest, name=config.name, workers=workers) as record:
                failures = _run_missing(plan, folder, workers, stream or sys.stderr)
                data = merge(folder, (work.unit for work in plan))
                published = sum(folder.is_published(work.unit) for work in plan)
                record.update(units=len(plan), published=published, failed=len(failures))
        finally:
            folder.sweep()  # what was in work when the session was stopped
    return Summary(root, len(plan), published, failures, tuple(data))


def _run_missing(
    plan: tuple[Work, ...], folder: RunFolder, workers: int, stream: TextIO
) -> dict[Unit, str]:
    missing = [work for work in plan if not folder.is_published(work.unit)]
    left = [(work.unit.dimension, work.cost) for work in missing]
    pace = Pace(len(plan), left, workers=workers)
    if not missing:
        return {}
    with display(pace, stream) as shown:
        return _Session(folder, workers, pace, shown).run(missing)


class _Session:
    """The loop over rounds: each ends with nothing left to do, or with the death of a worker."""

    def __init__(self, folder: RunFolder, workers: int, pace: Pace, shown: Display) -> None:
        self._folder, self._workers, self._pace, self._shown = folder, workers, pace, shown
        self._failures: dict[Unit, str] = {}
        self._strikes: Counter[Unit] = Counter()
        self._counted: set[Unit] = set()
        self._unexplained = 0

    def run(self, missing: list[Work]) -> dict[Unit, str]:
        """Run all of ``missing``; return why units failed."""
        while left := [work for work in missing if not self._is_over(work.unit)]:
            trusted = [work for work in left if not self._strikes[work.unit]]
            if trusted:
                self._round(schedule(trusted, self._workers), self._workers, left)
            else:  # one at a time: if a worker dies now, it is clear of which unit
                self._round(([work] for work in left), 1, left)
        return self._failures

    def _is_over(self, unit: Unit) -> bool:
        return unit in self._failures or self._folder.is_published(unit)

    def _round(self, batches: Iterable[Iterable[Work]], workers: int, left: list[Work]) -> None:
        try:
            for outcome in run_batches(
                map(tuple, batches), self._folder.root, workers=workers, tick=self._shown.update
            ):
                self._count(outcome)
        except WorkerDiedError as error:
            self._blame(error, {work.unit: work for work in left})
        # batches that were lost with a pool may have published some of their units
        for work in left:
            if work.unit not in self._counted and self._folder.is_published(work.unit):
                record = read_json(self._folder.sidecar(work.unit))
                self._count(Outcome(work.unit, record["wall_seconds"], record["evaluations"]))

    def _count(self, outcome: Outcome) -> None:
        self._counted.add(outcome.unit)
        self._unexplained = 0
        if outcome.error is not None:
            self._failures[outcome.unit] = outcome.error
        self._pace.count(
            outcome.unit.dimension,
            seconds=outcome.seconds,
            evaluations=outcome.evaluations,
            failed=outcome.error is not None,
        )

    def _blame(self, error: WorkerDiedError, left: dict[Unit, Work]) -> None:
        """Note which units were in work when the pool broke; give up on a repeated offender."""
        in_work = self._folder.leftovers()
        for leftover in in_work:
            shutil.rmtree(leftover.path, ignore_errors=True)  # the pool's processes are gone
            unit = leftover.unit
            if unit is None or unit not in left or self._folder.is_published(unit):
                continue
            self._strikes[unit] += 1
            if self._strikes[unit] == _STRIKES:
                summary = f"its worker process died {_STRIKES} times"
                write_failure(self._folder, left[unit], summary, str(error))
                self._count(Outcome(unit, 0.0, error=summary))
        if not in_work:
            self._unexplained += 1
            if self._unexplained == _STRIKES:
                raise error


def _agree_on_config(folder: RunFolder, config: Config) -> None:
    """Write the config down, or make sure that it is the one written down."""
    document = config.document()
    if not folder.config.exists():
        write_json(folder.config, document)
        return
    differences = _differences(read_json(folder.config), document)
    if differences:
        raise ConfigChangedError(
            "\n".join(
                [
                    f"{folder.root} holds a run of another config:",
                    *(f"  {line}" for line in differences),
                    "Give another folder with --out (or another name in the config), change the "
                    "config back, or delete the folder.",
                ]
            )
        )


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Return a line for each value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in [*old, *(key for key in new if key not in old)]:
            below = f"{path}.{key}" if path else key
            lines += _differences(old.get(key), new.get(key), below)
        return lines
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in _differences(a, b, f"{path}[{i}]")]
    return [] if old == new else [f"{path}: {old!r} there, {new!r} now"]
