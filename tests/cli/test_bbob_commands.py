"""``casmore export`` and ``league`` on a small run."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from casmore.cli import main

SMALL = """
name = "small"
[suite]
functions = "1"
dimensions = [2]
instances = "1-2"
[budget]
evaluations_per_dimension = 50
[[solvers]]
name = "cas-more"
label = "CAS-MORE"
[run]
workers = 1
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bbob")
    (folder / "small.toml").write_text(SMALL)
    assert main(["run", str(folder / "small.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_export_writes_the_trials_with_config_and_versions(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(run), "--out", str(tmp_path)]) == 0
    written = capsys.readouterr().out.split()
    assert [Path(path).name for path in written] == [
        "trials.csv.gz",
        "cost.csv",
        "runs.json",
        "README.md",
    ]
    with gzip.open(tmp_path / "trials.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert [(r["solver"], r["function"], r["instance"]) for r in rows] == [
        ("CAS-MORE", "1", "1"),
        ("CAS-MORE", "1", "2"),
    ]
    for row in rows:
        record = json.loads(
            (run / f"units/CAS-MORE/f001_d02_i00{row['instance']}_r0/unit.json").read_text()
        )
        assert int(row["evaluations"]) == record["evaluations"]
    (provenance,) = json.loads((tmp_path / "runs.json").read_text())
    assert provenance["config"]["name"] == "small"
    assert {"numpy", "coco-experiment"} <= provenance["versions"][0].keys()
    assert "SeedSequence" in provenance["seeds"]


def test_league_prints_the_places_and_writes_the_page(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["league", str(run)]) == 0
    assert "/ 243" in capsys.readouterr().out
    assert main(["league", str(run), "--out", str(tmp_path)]) == 0
    assert {"league.html", "league.csv", "league.png"} <= {p.name for p in tmp_path.iterdir()}


@pytest.mark.parametrize("command", ["export", "league"])
def test_what_is_no_run_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path)]) == 2
    assert "is not the folder of a run" in capsys.readouterr().err


def test_archive_packs_the_solvers(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["archive", str(run), "--out", str(tmp_path), "--author", "Surname"]) == 0
    assert str(tmp_path / "CAS-MORE_Surname.tgz") in capsys.readouterr().out
    assert (tmp_path / "CAS-MORE_Surname.tgz").exists()
