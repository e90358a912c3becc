"""Run the missing units of an experiment in worker processes.

Resuming a run is the same as running it: published units are skipped. Units that were running when
a worker died are run again, and a failure is attributed only to units that may have caused it.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

from casmore.atomic_io import DiskFullError, check_room
from casmore.experiments import backends, manifest
from casmore.experiments.agreement import agree_on_coco, agree_on_config
from casmore.experiments.backends import Backend, WorkerDiedError
from casmore.experiments.config.base import Experiment
from casmore.experiments.config.bbob import Config
from casmore.experiments.kernels import kernels
from casmore.experiments.limits import hanging_trace
from casmore.experiments.merge import merge
from casmore.experiments.notes import note
from casmore.experiments.plan import make_plan, schedule
from casmore.experiments.progress import Display, SessionProgress, display
from casmore.experiments.shard import WHOLE, Shard
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import TracedWork, Unit, Work
from casmore.experiments.worker import UnitOutcome, Workplace, outcome_of, write_failure

_STRIKES = 3


@dataclass
class Summary:
    """Summary of a session; ``units`` counts the units of its share."""

    folder: Path
    units: int
    published: int
    failures: dict[Unit, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # with merged data
    shard: Shard | None = None
    is_study: bool = False  # whose traces are not merged


def run(
    config: Experiment,
    root: Path,
    *,
    workers: int,
    stream: TextIO | None = None,
    shard: Shard | None = None,
) -> Summary:
    """Run the missing units of an experiment, and merge all of them.

    Parameters
    ----------
    config
        The experiment.
    root
        The run's folder; created if missing, resumed if it holds this experiment.
    workers
        Number of units that are run at a time.
    stream
        Where progress is shown; default: standard error.
    shard
        Run only this part, possibly alongside others, and merge nothing.

    Raises
    ------
    RunLockedError
        If another session is running the same units in the folder, or the lock of this session has
        been removed.
    ConfigChangedError
        If the folder belongs to another config.
    LoggerChangedError
        If units are missing, and another version of COCO has logged those that are there.
    BackendError
        If the backend is not available; the message says what to do.
    OSError
        If the disk is full or can't be written to. Published units are kept.
    KeyboardInterrupt
        On Ctrl-C. The workers have ended, and published units are kept.
    """
    backend = backends.make(config.run, workers)
    folder = RunFolder(root.resolve(), shard.share if shard else WHOLE)
    whole = make_plan(config)
    plan = shard.of(whole) if shard else whole

    is_study = not isinstance(config, Config)
    with folder.session() as token:
        agree_on_config(folder, config)
        folder.sweep()
        try:
            tell = partial(note, stream=stream)
            with manifest.session(folder, config, workers=workers, tell=tell) as session:
                limits = config.run.unit_timeout, config.run.portable
                place = Workplace(folder.root, folder.share, token, *limits)
                failures = _run_missing(
                    plan, place, backend, workers, stream or sys.stderr, session
                )
                merged = not is_study and not shard  # traces have nothing to merge
                data = merge(folder, (work.unit for work in plan)) if merged else {}
                done = folder.published()
                published = sum(work.unit in done for work in plan)
                session.record.update(units=len(plan), published=published, failed=len(failures))
        finally:
            if not folder.is_over(token):  # else the units may be another session's
                folder.sweep()  # units that were running when the session was stopped
    return Summary(root, len(plan), published, failures, tuple(data), shard, is_study)


def _run_missing(
    plan: tuple[Work, ...],
    place: Workplace,
    backend: Backend,
    workers: int,
    stream: TextIO,
    session: manifest.SessionRecord,
) -> dict[Unit, str]:
    done = place.folder.published()
    missing = [work for work in plan if work.unit not in done]
    if not missing:
        return {}
    if not isinstance(missing[0], TracedWork):
        agree_on_coco(place.folder)
    if session.record["backend"] == "loky":  # the other backends have machines of their own
        session.expect_kernels(kernels(portable=place.portable))
    progress = SessionProgress(plan, missing, workers=workers)
    with display(progress, stream) as shown:
        return _WorkLoop(place, backend, workers, progress, shown, session).run(missing)


class _WorkLoop:
    """The loop over rounds; a round ends when all units are done, or when a worker dies."""

    def __init__(
        self,
        place: Workplace,
        backend: Backend,
        workers: int,
        progress: SessionProgress,
        shown: Display,
        session: manifest.SessionRecord,
    ) -> None:
        self._place, self._folder = place, place.folder
        self._backend, self._workers = backend, workers
        self._progress, self._shown = progress, shown
        self._session = session
        self._failures: dict[Unit, str] = {}
        self._strikes: Counter[Unit] = Counter()
        self._counted: set[Unit] = set()
        self._idle_rounds = 0  # in a row, in which no unit has ended or killed its worker

    def run(self, missing: list[Work]) -> dict[Unit, str]:
        """Run all of ``missing``; return why units failed."""
        while left := [work for work in missing if not self._is_over(work.unit)]:
            self._folder.check_session(self._place.session)  # workers run no more units otherwise
            trusted = [work for work in left if not self._strikes[work.unit]]
            if trusted:
                self._round(schedule(trusted, self._workers), self._workers, left)
            else:  # one at a time: if a worker dies now, it is clear which unit it was running
                self._round(((work,) for work in left), 1, left)
        return self._failures

    def _is_over(self, unit: Unit) -> bool:
        return unit in self._failures or self._folder.is_published(unit)

    def _round(self, batches: Iterable[tuple[Work, ...]], workers: int, left: list[Work]) -> None:
        by_unit = {work.unit: work for work in left}
        before = len(self._counted), self._strikes.total()
        lost = WorkerDiedError("the workers end without running a unit; their output may say why")
        try:
            for outcome in self._backend.run(
                batches, self._place, workers=workers, tick=self._shown.update
            ):
                if outcome.worker_died:
                    self._strike(by_unit[outcome.unit], outcome.error or "")
                else:
                    self._count(outcome)
        except WorkerDiedError as error:
            lost = error
            self._blame(error, by_unit)
        # batches that were lost with a worker may have published units
        for unit in by_unit:
            if unit not in self._counted and self._folder.is_published(unit):
                self._count(outcome_of(unit, self._folder))
        if before == (len(self._counted), self._strikes.total()):
            self._idle_rounds += 1
            if self._idle_rounds == _STRIKES:
                raise lost
        else:
            self._idle_rounds = 0

    def _count(self, outcome: UnitOutcome) -> None:
        if outcome.unit in self._counted:  # published by a worker that seemed to be dead
            return
        self._counted.add(outcome.unit)
        if outcome.kernels is not None:
            self._session.add_kernels(outcome.kernels)
        if outcome.error is not None:
            self._check_disk()
            self._failures[outcome.unit] = outcome.error
        self._progress.count(
            outcome.unit,
            seconds=outcome.seconds,
            evaluations=outcome.evaluations,
            failed=outcome.error is not None,
        )

    def _blame(self, error: WorkerDiedError, left: dict[Unit, Work]) -> None:
        """Find the units that were running when the workers died."""
        self._check_disk()  # COCO ends the process when it can't write
        for leftover in self._folder.leftovers():
            details = _hung(leftover.path) or str(error)
            shutil.rmtree(leftover.path, ignore_errors=True)  # the processes are gone
            unit = leftover.unit
            if unit is not None and unit in left and not self._folder.is_published(unit):
                self._strike(left[unit], details)

    def _strike(self, work: Work, details: str) -> None:
        """Record that a worker died while running this unit; give up after the third time."""
        self._strikes[work.unit] += 1
        if self._strikes[work.unit] == _STRIKES:
            summary = f"its worker process died {_STRIKES} times"
            write_failure(self._folder, work, summary, details)
            self._count(UnitOutcome(work.unit, 0.0, error=summary))

    def _check_disk(self) -> None:
        try:
            check_room(self._folder.root)
        except DiskFullError as error:
            raise DiskFullError(f"{error}, then resume with the same command") from None


def _hung(private: Path) -> str | None:
    """Return the traceback of a unit that was killed for exceeding its time limit."""
    try:
        trace = hanging_trace(private).read_text(encoding="utf-8")
    except OSError:
        return None
    return (
        f"It took longer than unit_timeout, and could not be interrupted:\n{trace}"
        if trace
        else None
    )
