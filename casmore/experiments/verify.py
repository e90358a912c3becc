"""Checking a run's folder for damage done after the units were published.

A session that resumes a run takes a unit for done if its record is there. Damage by hand, or by a
bad disk, is found here: each file is compared with the checksum written when the unit was
published, the record with the plan, COCO's files with what one whole trial is. Damaged units are
set aside, so that the next session runs them again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from casmore.atomic_io import DamagedFileError, read_json
from casmore.experiments.merge import check_merged, merge
from casmore.experiments.store.checksums import check_checksums
from casmore.experiments.store.coco_files import BrokenDataError, check_trial
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit, Work
from casmore.experiments.worker import identity


@dataclass(frozen=True)
class Damage:
    """A damaged unit: what is wrong with it, and where it is now; None: where it was."""

    unit: Unit
    reason: str
    quarantined: Path | None


@dataclass(frozen=True)
class Verification:
    """What was found in a run's folder.

    Attributes
    ----------
    units
        Number of units that were checked.
    damaged
        Those that are not as they were published.
    records
        What is wrong with the run's own records; the next session or merge writes them again.
    labels
        Solvers whose merged data had changed.
    outdated
        Solvers whose merged data were older than the units.
    read_only
        Whether the folder can't be written to. If it can, damaged units are in quarantine, and
        merged data have been made again.
    """

    units: int
    damaged: tuple[Damage, ...] = ()
    records: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    read_only: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.damaged or self.records or self.labels)


def verify(folder: RunFolder, plan: Sequence[Work]) -> Verification:
    """Check all units of a run that are there, its records, and the merged data.

    A session that is running meanwhile has its list of units already: it does not run those again
    that are set aside here.
    """
    read_only = folder.is_read_only()
    records = tuple(_damaged_records(folder))
    there = [work for work in plan if folder.unit(work.unit).exists()]
    damaged = []
    for work in there:
        try:
            check_unit(work, folder.unit(work.unit))
        except BrokenDataError as error:
            moved = None if read_only else folder.put_in_quarantine(work.unit)
            damaged.append(Damage(work.unit, str(error), moved))
    if damaged:  # the merged data have to be made again anyway, when these have been
        return Verification(len(there), tuple(damaged), records, read_only=read_only)
    units = [work.unit for work in plan]
    merged = check_merged(folder, units)
    if (merged.damaged or merged.outdated) and not read_only:
        folder.merged.unlink(missing_ok=True)
        merge(folder, units)
    return Verification(len(there), (), records, merged.damaged, merged.outdated, read_only)


def _damaged_records(folder: RunFolder) -> list[str]:
    problems = []
    for path, remedy in [
        (folder.manifest, "the next 'casmore run' sets it aside and begins a new one"),
        (folder.merged, "the next merge writes it again"),
    ]:
        try:
            read_json(path, remedy=remedy)
        except FileNotFoundError:
            continue
        except DamagedFileError as error:
            problems.append(str(error))
    return problems


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
    except DamagedFileError as error:
        raise BrokenDataError(str(error)) from error
    except (OSError, KeyError) as error:
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
