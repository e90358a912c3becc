import shutil
from pathlib import Path

import pytest

from casmore.reports import ReportError, run_data, run_page, runtimes
from casmore.reports.runtimes import Runtimes
from reports.logged import LoggedRun


def test_solvers_are_in_the_order_of_the_config(run: LoggedRun, loaded: list[Runtimes]) -> None:
    assert [folder.name for folder in run_data.solver_folders(run.folder)] == ["second", "first"]
    assert runtimes.solvers(loaded) == ["second", "first"]
    assert [(r.solver, r.dimension, r.function) for r in loaded] == [
        (solver, n, f) for solver in ("second", "first") for n in (2, 3) for f in (1, 6)
    ]


def test_the_data_may_be_elsewhere(run: LoggedRun, tmp_path: Path) -> None:
    shutil.copytree(run.folder / "data/first", tmp_path / "first")
    assert {r.solver for r in run_data.load(run.folder, tmp_path)} == {"first"}


def test_budget_is_the_configs_and_else_the_longest_trial(
    run: LoggedRun, loaded: list[Runtimes], tmp_path: Path
) -> None:
    assert run_data.budgets(run.folder, loaded) == {2: 150, 3: 150}
    solved = [r for r in loaded if (r.solver, r.function) == ("second", 1)]
    longest = {n: max(len(t.precisions) / n for t in run.log["second", n, 1]) for n in (2, 3)}
    assert max(longest.values()) < 150
    assert run_data.budgets(tmp_path, solved) == longest


def test_no_data_says_which_command_makes_some(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"no unit has been merged yet.*casmore run CONFIG"):
        run_data.load(tmp_path)
    with pytest.raises(ReportError, match=r"there is no such folder.*make bbob"):
        run_data.load(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"sessions": 3}', b'{"sessions": [3]}'])
def test_a_damaged_manifest_stops_no_report(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    assert run_data.provenance(tmp_path)["versions"] == []
    run_page.write(tmp_path / "run.html", "damaged", tmp_path, [])
    assert "Sessions: 0" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize("content", ["{", "[]"])
def test_broken_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ReportError, match=r"config\.json"):
        run_data.config(tmp_path)
