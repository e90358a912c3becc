"""Finding units that were damaged after they were published, and putting them out of the way.

A run that is gone on with takes a unit for done if its record is there. What was damaged by hand,
or by a bad disk, is found here: each file is compared with the checksum written when the unit was
published, the record with the plan, COCO's files with what one whole trial is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from casmore.atomic_io import read_json
from casmore.experiments.merge import differing, merge
from casmore.experiments.store.checksums import check_checksums
from casmore.experiments.store.coco_files import BrokenDataError, check_trial
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit, Work
from casmore.experiments.worker import identity


@dataclass(frozen=True)
class Damage:
    """A damaged unit: what is wrong with it, and where it is now."""

    unit: Unit
    reason: str
    quarantined: Path


@dataclass(frozen=True)
class Verdict:
    """What was found in a run's folder; labels are those whose merged data had to be made again."""

    units: int
    damaged: tuple[Damage, ...]
    labels: tuple[str, ...]


def verify(folder: RunFolder, plan: Sequence[Work]) -> Verdict:
    """Check all units of a run that are there, and the merged data.

    Damaged units go into quarantine, so that the next session runs them again. A session that is
    at work has its list already: it won't.
    """
    there = [work for work in plan if folder.unit(work.unit).exists()]
    damaged = []
    for work in there:
        try:
            check_unit(work, folder.unit(work.unit))
        except BrokenDataError as error:
            damaged.append(Damage(work.unit, str(error), folder.put_in_quarantine(work.unit)))
    if damaged:  # the merged data are to be made again anyhow, when these have been
        return Verdict(len(there), tuple(damaged), ())
    units = [work.unit for work in plan]
    wrong = differing(folder, units)
    if wrong:
        folder.merged.unlink(missing_ok=True)
        merge(folder, units)
    return Verdict(len(there), (), tuple(wrong))


def check_unit(work: Work, folder: Path) -> None:
    """Check a published unit.

    Raises
    ------
    BrokenDataError
        If it is not as it was published; the message says in which file and why.
    """
    path = folder / "unit.json"
    try:
        record = read_json(path)
        evaluations, restarts = record["evaluations"], record["restarts"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokenDataError(f"{path}: {type(error).__name__}: {error}") from error
    for key, value in identity(work).items():
        if record.get(key) != value:
            raise BrokenDataError(f"{path}: {key} is {record.get(key)!r}, not {value!r}")
    check_checksums(folder)
    if list(folder.glob("*.info")):  # COCO's; a study has none
        check_trial(
            folder,
            dimension=work.unit.dimension,
            instance=work.unit.instance,
            evaluations=evaluations,
            restarts=restarts,
        )
