"""``casmore export`` and ``league`` on a small run."""

import csv
import gzip
import json
import re
import tarfile
from pathlib import Path

import pytest
from clones import ROOT, blocks

from casmore.cli import main
from casmore.reports.bbob import catalogue
from cli.command_line import SMALL


def test_export_writes_the_trials_with_config_and_versions(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(small_run), "--out", str(tmp_path)]) == 0
    written = capsys.readouterr().out.split()
    assert [Path(path).name for path in written] == [
        "trials.csv.gz",
        "regret.csv.gz",
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
            (small_run / f"units/CAS-MORE/f001_d02_i00{row['instance']}_r0/unit.json").read_text()
        )
        assert int(row["evaluations"]) == record["evaluations"]
    (provenance,) = json.loads((tmp_path / "runs.json").read_text())
    assert provenance["config"]["name"] == "small"
    assert {"numpy", "coco-experiment"} <= provenance["versions"][0].keys()
    assert "SeedSequence" in provenance["seeds"]


def test_league_prints_the_places_and_writes_the_page(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["league", str(small_run)]) == 0
    assert "/ 243" in capsys.readouterr().out
    assert main(["league", str(small_run), "--out", str(tmp_path)]) == 0
    assert {"league.html", "league.csv", "league.png"} <= {p.name for p in tmp_path.iterdir()}


@pytest.mark.parametrize("command", ["export", "league"])
def test_what_is_no_run_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path)]) == 2
    assert "is not the folder of a run" in capsys.readouterr().err


def test_archive_packs_the_solvers(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["archive", str(small_run), "--out", str(tmp_path), "--author", "Surname"]) == 0
    assert str(tmp_path / "CAS-MORE_Surname.tgz") in capsys.readouterr().out
    assert (tmp_path / "CAS-MORE_Surname.tgz").exists()


PAGE = "docs/bbob.md"


def test_the_commands_of_the_page_work(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/paper").symlink_to(small_run)
    for name, n in (("40d", 3), ("40d_five", 5), ("lean", 10), ("ca_more", 20)):
        (tmp_path / "other.toml").write_text(SMALL.replace("[2]", f"[{n}]"))
        out = tmp_path / f"runs/paper_{name}"
        assert main(["run", str(tmp_path / "other.toml"), "--out", str(out)]) == 0
    monkeypatch.chdir(tmp_path)
    commands = [line.split() for block in blocks(PAGE, "bash") for line in block.splitlines()]
    ours = [words[1:] for words in commands if words[:1] == ["casmore"]]
    assert {words[0] for words in ours} == {"run", "report", "export", "league", "archive"}
    for words in ours:
        if words[0] not in ("run", "report"):  # these are tested elsewhere
            assert main(words) == 0
    assert (tmp_path / "results/bbob/trials.csv.gz").exists()
    with tarfile.open(small_run / "archive/CAS-MORE_Surname.tgz") as packed:
        dimensions = {name.rpartition("_")[2] for name in packed.getnames() if "_DIM" in name}
    assert {"DIM2.dat", "DIM3.dat"} <= dimensions


def test_the_figures_of_the_page_are_known(small_run: Path, tmp_path: Path) -> None:
    assert main(["export", str(small_run), "--out", str(tmp_path / "bbob")]) == 0
    names = re.findall(r"`(bbob/[\w-]+)`", (ROOT / PAGE).read_text())
    assert len(names) == 16
    for name in names:
        # the dimensions and the solvers of this run
        known = re.sub(r"_\d\dD", "_02D", name).replace("CMA-ES", "CAS-MORE")
        if known.endswith(("_functions_02D", "ecdf_02D")):
            continue  # these take seconds, and are drawn elsewhere
        assert all(path.exists() for path in catalogue.make(known, tmp_path))
