"""Our own part of the report, of runs that are under way."""

from pathlib import Path

from rich.console import Console

from casmore.reports import own_part
from casmore.reports.runtimes import Runtimes
from reports.logged import LoggedRun


def test_a_run_whose_solvers_have_no_function_in_common_yet(
    run: LoggedRun, loaded: list[Runtimes], tmp_path: Path
) -> None:
    done = {("second", 2, 1), ("first", 2, 6)}
    merged = [r for r in loaded if (r.solver, r.dimension, r.function) in done]
    assert len(merged) == 2
    # the units of the run, which have been published since, are in 3-D as well
    content = own_part.make(run.folder, merged, tmp_path, Console(quiet=True))
    assert [(line.solver, line.functions) for line in content.lines] == [
        ("second", 0),
        ("first", 0),
    ]
    figures = {path.stem for _, paths in content.figures for path in paths}
    assert figures == {"versus_first", "ecdf", "regret"}
    assert all((tmp_path / f"{name}.png").exists() for name in figures)
