"""Check a run folder for damage after the publication of units.

A session that resumes a run considers a unit done if its record exists. This module detects damage
by manual changes or a failing disk: it compares each file with the checksum written at publication,
the record with the plan, and COCO's files with the structure of a complete trial. Damaged units are
moved to quarantine, so that the next session runs them again.
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
    """A damaged unit: the problem, and its path in quarantine; None if it was not moved."""

    unit: Unit
    reason: str
    quarantined: Path | None


@dataclass(frozen=True)
class Verification:
    """Result of the check of a run folder.

    Attributes
    ----------
    units
        Number of units that were checked.
    damaged
        Units that have changed since publication.
    records
        Problems with the run's own records, which the next session or merge writes again.
    labels
        Solvers whose merged data had changed.
    outdated
        Solvers whose merged data were older than the units, or had none any more. The latter are in
        quarantine now.
    read_only
        Whether the folder is read-only. Otherwise damaged units are in quarantine, and merged data
        have been made again.
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
    """Check all published units of a run, its records, and the merged data.

    A session that is already running does not run quarantined units again, since its list of units
    is fixed.
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
    if damaged:  # the merged data must be made again anyway, after these units
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
        If it has changed since publication; the message names the file and the reason.
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
    if list(folder.glob("*.info")):  # COCO's files; a study has none
        check_trial(
            folder,
            dimension=work.unit.dimension,
            instance=work.unit.instance,
            evaluations=evaluations,
            restarts=restarts,
        )
