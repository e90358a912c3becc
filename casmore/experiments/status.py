"""The status of a run, read from its folder, whether sessions are running or not."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from casmore.atomic_io import read_json
from casmore.experiments.progress import duration
from casmore.experiments.progress_estimator import Group, ProgressEstimator, group_of
from casmore.experiments.shard import WHOLE
from casmore.experiments.store.locks import Holder
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit, Work

_RATE_SECONDS = 600.0
_SAMPLES = 20  # records read per solver and dimension, to estimate the time of a unit
_SHOWN_FAILURES = 5


@dataclass(frozen=True)
class Status:
    """The status of a run.

    Attributes
    ----------
    units, done, running, failed
        Number of units by label and dimension.
    sessions
        The holder of each share's lock.
    per_minute
        Units published in the last ten minutes, per minute; None if no session is running.
    seconds_left
        Time left at the current number of running units; None if unknown.
    failures
        Reasons for the first few failures.
    """

    units: Counter[Group]
    done: Counter[Group]
    running: Counter[Group]
    failed: Counter[Group]
    sessions: dict[str, Holder]
    per_minute: float | None
    seconds_left: float | None
    failures: dict[Unit, str]

    @property
    def complete(self) -> bool:
        """Whether all units are done."""
        return self.done.total() == self.units.total()


def status(folder: RunFolder, plan: Sequence[Work]) -> Status:
    """Read the status from a run folder, without changing anything."""
    published, failures, sessions = folder.published(), folder.failed(), folder.sessions()
    units, done, failed = Counter[Group](), Counter[Group](), Counter[Group]()
    estimator = ProgressEstimator(plan)
    reasons: dict[Unit, str] = {}
    for unit in (work.unit for work in plan):
        group = group_of(unit)
        units[group] += 1
        if unit in published:
            done[group] += 1
            if sessions and done[group] <= _SAMPLES:
                _add_record(estimator, folder, unit)
        elif unit in failures:
            failed[group] += 1
            if len(reasons) < _SHOWN_FAILURES:
                reasons[unit] = _reason(folder, unit)
    in_work = {left.unit for left in folder.in_work() if left.unit is not None}
    running = Counter(group_of(unit) for unit in in_work if unit not in published)
    times = [published[work.unit] for work in plan if work.unit in published]
    return Status(
        units,
        done,
        running,
        failed,
        sessions,
        _per_minute(times) if sessions else None,
        estimator.seconds_left(units - done - failed, running.total()),
        reasons,
    )


def text(status: Status) -> str:
    """Return the status as lines of text."""
    now = [f"{status.done.total()} of {status.units.total()} units done"]
    now += [f"{status.running.total()} running"] if status.sessions else []
    now += [f"{status.failed.total()} failed"] if status.failed else []
    now += [f"{status.per_minute:.3g} units/min"] if status.per_minute is not None else []
    if status.seconds_left is not None and not status.complete:
        now.append(f"about {duration(status.seconds_left)} left")
    lines = [", ".join(now)]
    for share, who in status.sessions.items():
        lines.append(f"running: {_spelled(share)}, {who}")
    if not status.sessions and not status.complete:
        lines.append("no session is running; to resume, give the same 'casmore run' as before")
    width = max(len(label) for label, _ in status.units)
    lines += ["", f"{'solver':{width}}   n    done running  failed   units"]
    for group in status.units:
        label, n = group
        numbers = (status.done, status.running, status.failed, status.units)
        counts = " ".join(f"{counter[group]:7}" for counter in numbers)
        lines.append(f"{label:{width}} {n:3} {counts}")
    if status.failures:
        lines += ["", *(f"failed: {unit}: {why}" for unit, why in status.failures.items())]
    return "\n".join(lines)


def _spelled(share: str) -> str:
    return "all units" if share == WHOLE else f"shard {share.replace('-of-', '/')}"


def _per_minute(times: Sequence[float]) -> float:
    """Return the rate of the last ten minutes; times in the future (a reset clock) are ignored."""
    now = time.time()
    recent = [then for then in times if now - _RATE_SECONDS <= then <= now]
    return 60 * len(recent) / max(now - min(recent), 1.0) if recent else 0.0


def _add_record(estimator: ProgressEstimator, folder: RunFolder, unit: Unit) -> None:
    try:
        seconds = float(read_json(folder.sidecar(unit))["wall_seconds"])
    except (OSError, ValueError, KeyError, TypeError):  # 'casmore verify' reports it
        return
    estimator.add(group_of(unit), seconds)


def _reason(folder: RunFolder, unit: Unit) -> str:
    try:
        return str(read_json(folder.failure(unit))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return "its record can't be read"
