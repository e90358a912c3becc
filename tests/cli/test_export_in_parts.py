"""Exports of parts of an experiment, joined, are the export of the whole experiment."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from casmore.cli import main
from casmore.reports import trial_table
from cli.command_line import SMALL

INSTANCES = 'instances = "1-2"'


@pytest.fixture(scope="module")
def whole(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of the whole experiment."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["export", str(small_run), "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run of each instance, the second one first."""
    assert INSTANCES in SMALL
    folder = tmp_path_factory.mktemp("parts")
    for instance in (2, 1):
        config = SMALL.replace(INSTANCES, f'instances = "{instance}"')
        (folder / f"{instance}.toml").write_text(config)
        out = folder / f"run-{instance}"
        assert main(["run", str(folder / f"{instance}.toml"), "--out", str(out)]) == 0
    return [folder / "run-2", folder / "run-1"]


def costs(folder: Path) -> list[tuple[str, ...]]:
    with (folder / "cost.csv").open(newline="") as file:
        return [tuple(row.values())[:4] for row in csv.DictReader(file)]


@pytest.mark.parametrize("kept", [False, True], ids=["two runs", "a run and an export"])
def test_parts_give_the_tables_of_the_whole(
    kept: bool, parts: list[Path], whole: Path, tmp_path: Path
) -> None:
    first, second = parts
    out = tmp_path / "out"
    if kept:  # the run's folder is not needed any more, and the export is replaced
        assert main(["export", str(first), "--out", str(out)]) == 0
        first = out
    assert main(["export", str(first), str(second), "--out", str(out)]) == 0
    for name in ("trials.csv.gz", "regret.csv.gz"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert costs(out) == costs(whole)
    runs = json.loads((out / "runs.json").read_text())
    assert [run["config"]["suite"]["instances"] for run in runs] == [[2], [1]]
    assert {path.name for path in out.iterdir()} == {path.name for path in whole.iterdir()}


def test_an_export_alone_is_copied(whole: Path, tmp_path: Path) -> None:
    assert main(["export", str(whole), "--out", str(tmp_path)]) == 0
    for path in whole.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_what_is_in_both_is_named_and_nothing_is_written(
    whole: Path, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(whole), str(parts[0]), "--out", str(tmp_path)]) == 1
    assert "CAS-MORE on f1 in 2-D, instance 2, is in another run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_trials_with_another_budget_are_not_joined(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = SMALL.replace(INSTANCES, 'instances = "3"')
    budget = "evaluations_per_dimension = "
    (line,) = (line for line in config.splitlines() if line.startswith(budget))
    (tmp_path / "other.toml").write_text(config.replace(line, f"{budget}20"))
    assert main(["run", str(tmp_path / "other.toml"), "--out", str(tmp_path / "run")]) == 0
    out = tmp_path / "out"
    assert main(["export", str(whole), str(tmp_path / "run"), "--out", str(out)]) == 1
    assert "has other settings, another budget or another start" in capsys.readouterr().err


def test_no_trials_of_an_export_are_lost_when_it_is_replaced(
    whole: Path, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(parts[0]), "--out", str(tmp_path)]) == 0
    before = (tmp_path / "trials.csv.gz").read_bytes()
    assert main(["export", str(parts[1]), "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert (
        "has 1 trials that would be lost (such as CAS-MORE on f1 of bbob in 2-D, instance 2)"
        in told
    )
    assert (tmp_path / "trials.csv.gz").read_bytes() == before
    assert main(["export", str(whole), "--out", str(tmp_path)]) == 0  # it has these trials, too


def test_a_run_is_a_run_whatever_else_is_in_its_folder(
    parts: list[Path], whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(parts[0], run)
    shutil.copy(whole / "trials.csv.gz", run)
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 0
    assert len(trial_table.read(tmp_path / "out/trials.csv.gz")[0].instances) == 1
    assert main(["export", str(run), "--out", str(run)]) == 2
    assert "is the folder of a run; give --out another folder" in capsys.readouterr().err


def test_exports_alone_need_a_folder(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(whole)]) == 2
    assert "say where to write, with --out FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cost.csv", "solver,dimension\nCAS-MORE,2\n"),
        ("runs.json", "[{}]"),
        ("runs.json", "["),
        ("regret.csv.gz", "no gzip"),
    ],
)
def test_a_damaged_export_is_named(
    name: str, content: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in whole.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_text(content)
    assert main(["export", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert f"{name} can't be read" in capsys.readouterr().err
