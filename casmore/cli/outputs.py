"""Output folders and merged data of a run, which may be read-only."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from casmore.cli.errors import UsageError

if TYPE_CHECKING:
    from casmore.experiments.store.run_folder import RunFolder
    from casmore.experiments.work_unit import Work


def check_writable(run: "RunFolder") -> None:
    """Check that a run folder, which need not exist yet, is writable.

    Raises
    ------
    UsageError
        If it is read-only.
    """
    if run.root.exists() and run.is_read_only():
        raise UsageError(f"{run.root} is read-only")


def folder(run: "RunFolder", given: Path | None, default: str) -> Path:
    """Return the output folder: the given one, or a folder in the run folder.

    Raises
    ------
    UsageError
        If none is given, and the run is read-only.
    """
    if given is None and run.is_read_only():
        raise UsageError(f"{run.root} is read-only; write elsewhere, with --out FOLDER")
    return given or run.root / default


@contextmanager
def merged_data(run: "RunFolder", plan: "Sequence[Work]") -> Iterator[Path]:
    """Merge the finished units, as an interrupted run has not done so; yield the data folder.

    The units of a read-only run are merged in a temporary folder.

    Raises
    ------
    UsageError
        If the run has no finished units.
    """
    from casmore.experiments.merge import merge
    from casmore.experiments.store.run_folder import RunFolder

    with ExitStack() as stack:
        place = run
        if run.is_read_only():
            temporary = tempfile.TemporaryDirectory(prefix="casmore-")
            place = RunFolder(Path(stack.enter_context(temporary)))
        if not merge(run, (work.unit for work in plan), place=place):
            raise UsageError(f"{run.root} has no finished units yet, so there is nothing to report")
        yield place.data
