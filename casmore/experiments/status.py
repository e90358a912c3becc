"""How far a run is, seen from outside: from its folder alone, while sessions are at work or not."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from casmore.experiments.progress import duration
from casmore.experiments.shard import WHOLE
from casmore.experiments.store.atomic_io import read_json
from casmore.experiments.store.locks import Holder
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit, Work

_RATE_SECONDS = 600.0
_SAMPLES = 20  # records of a solver in a dimension, from which its time for a unit is estimated
_SHOWN_FAILURES = 5

Cell = tuple[str, int]  # solver's label and dimension


@dataclass(frozen=True)
class Status:
    """What a run's folder says.

    Attributes
    ----------
    units, done, running, failed
        Number of units by label and dimension.
    sessions
        Who is at work, by share.
    per_minute
        Units published in the last ten minutes, per minute; None if nobody is at work.
    seconds_left
        If as many units as now go on being run at a time; None if that is not known.
    failures
        What the units that failed have failed of.
    """

    units: Counter[Cell]
    done: Counter[Cell]
    running: Counter[Cell]
    failed: Counter[Cell]
    sessions: dict[str, Holder]
    per_minute: float | None
    seconds_left: float | None
    failures: dict[Unit, str]

    @property
    def complete(self) -> bool:
        """Whether all units are done."""
        return self.done.total() == self.units.total()


def status(folder: RunFolder, plan: Sequence[Work]) -> Status:
    """Look at a run's folder; nothing in it is changed."""
    published, failures, sessions = folder.published(), folder.failed(), folder.sessions()
    units: Counter[Cell] = Counter()
    done: Counter[Cell] = Counter()
    failed: Counter[Cell] = Counter()
    cost: dict[Cell, int] = {}
    samples: dict[Cell, list[Unit]] = {}
    times: list[float] = []
    reasons: dict[Unit, str] = {}
    for work in plan:
        unit, cell = work.unit, _cell(work.unit)
        units[cell] += 1
        cost[cell] = work.cost
        if unit in published:
            done[cell] += 1
            times.append(published[unit])
            if len(of_cell := samples.setdefault(cell, [])) < _SAMPLES:
                of_cell.append(unit)
        elif unit in failures:
            failed[cell] += 1
            if len(reasons) < _SHOWN_FAILURES:
                reasons[unit] = _reason(folder, unit)
    in_work = {left.unit for left in folder.in_work() if left.unit is not None}
    running = Counter(_cell(unit) for unit in in_work if unit not in published)
    left = units - done - failed
    seconds = {cell: s for cell, own in samples.items() if (s := _mean_seconds(folder, own))}
    return Status(
        units,
        done,
        running,
        failed,
        sessions,
        _per_minute(times) if sessions else None,
        _seconds_left(left, seconds, cost, running.total()) if sessions else None,
        reasons,
    )


def text(status: Status) -> str:
    """Return the status in lines, for a terminal or a file."""
    now = [f"{status.done.total()} of {status.units.total()} units done"]
    now += [f"{status.running.total()} running"] if status.sessions else []
    now += [f"{status.failed.total()} failed"] if status.failed else []
    now += [f"{status.per_minute:.3g} units/min"] if status.per_minute is not None else []
    if status.seconds_left is not None and not status.complete:
        now.append(f"about {duration(status.seconds_left)} left")
    lines = [", ".join(now)]
    for share, who in status.sessions.items():
        lines.append(f"at work: {_spelled(share)}, {who}")
    if not status.sessions and not status.complete:
        lines.append("nobody is at work; go on with the same 'casmore run' as before")
    width = max(len(label) for label, _ in status.units)
    lines += ["", f"{'solver':{width}}   n    done running  failed   units"]
    for cell in status.units:
        label, n = cell
        numbers = (status.done, status.running, status.failed, status.units)
        counts = " ".join(f"{counter[cell]:7}" for counter in numbers)
        lines.append(f"{label:{width}} {n:3} {counts}")
    if status.failures:
        lines += ["", *(f"failed: {unit}: {why}" for unit, why in status.failures.items())]
    return "\n".join(lines)


def _cell(unit: Unit) -> Cell:
    return unit.label, unit.dimension


def _spelled(share: str) -> str:
    return "all units" if share == WHOLE else f"shard {share.replace('-of-', '/')}"


def _per_minute(times: Sequence[float]) -> float:
    """Return the rate of the last ten minutes; a clock that was set may have brought odd times."""
    now = time.time()
    recent = [then for then in times if now - _RATE_SECONDS <= then <= now]
    return 60 * len(recent) / max(now - min(recent), 1.0) if recent else 0.0


def _mean_seconds(folder: RunFolder, units: Sequence[Unit]) -> float | None:
    found = []
    for unit in units:
        try:
            found.append(float(read_json(folder.sidecar(unit))["wall_seconds"]))
        except (OSError, ValueError, KeyError, TypeError):  # for 'casmore verify' to find
            continue
    return fmean(found) if found else None


def _seconds_left(
    left: Counter[Cell], seconds: dict[Cell, float], cost: dict[Cell, int], running: int
) -> float | None:
    """Estimate from the mean times; where there is none yet, from the nearest that is known."""
    if not seconds or not running:
        return None
    total = 0.0
    for (label, n), count in left.items():
        like = min(seconds, key=lambda cell: (abs(cell[1] - n), cell[0] != label))
        total += count * seconds[like] * cost[label, n] / cost[like]
    return total / running


def _reason(folder: RunFolder, unit: Unit) -> str:
    try:
        return str(read_json(folder.failure(unit))["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return "its record can't be read"
