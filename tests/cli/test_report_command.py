"""``casmore report``: what is handed to the report, and what is refused before it is made."""

import codecs
import shutil
from pathlib import Path
from typing import Any

import pytest

import casmore.reports
from casmore.cli import main
from casmore.experiments.store.run_folder import RunFolder

Built = list[dict[str, Any]]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Built:
    """The reports asked for: making one has its own tests, and takes its time."""
    asked: Built = []

    def build(run: Path, **options: Any) -> Path:
        asked.append({"run": run, "merged": (options["data"] / "CAS-MORE").is_dir(), **options})
        return run

    monkeypatch.setattr(casmore.reports, "build", build)
    return asked


def test_a_run_goes_by_its_name_its_folder_or_its_config(done: Path, built: Built) -> None:
    for argument in ("runs/small", "small", "configs/small.toml"):
        assert main(["report", argument]) == 0
    assert [report["run"] for report in built] == [Path("runs/small")] * 3
    assert [report["full"] for report in built] == [False] * 3
    assert main(["report", "small", "--full"]) == 0
    assert built[-1]["full"]


def test_a_config_with_a_byte_order_mark_names_its_run(done: Path, built: Built) -> None:
    """Windows editors write one."""
    text = Path("configs/small.toml").read_bytes()
    Path("other.toml").write_bytes(codecs.BOM_UTF8 + text)
    assert main(["report", "other.toml"]) == 0
    assert built[0]["run"] == Path("runs/small")


def test_units_that_are_not_merged_are_merged_first(done: Path, built: Built) -> None:
    Path("runs/small/merged.json").unlink()
    shutil.rmtree("runs/small/data")
    assert main(["report", "small"]) == 0
    assert built[0]["merged"]


def test_a_report_of_nothing_is_refused(
    project: Path, small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "small"]) == 2
    assert "'small' is not the folder of a run (runs/ has none)" in capsys.readouterr().err
    shutil.copytree(small_run, project / "runs" / "small")
    assert main(["report", "smal"]) == 2
    assert "did you mean 'small'? (runs/ has: small)" in capsys.readouterr().err
    for sidecar in Path("runs/small").rglob("unit.json"):
        sidecar.unlink()
    assert main(["report", "small"]) == 2
    assert "runs/small has no finished units yet" in capsys.readouterr().err


def test_a_failed_report_is_no_traceback(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(run: Path, **options: object) -> Path:
        raise casmore.reports.ReportError("cocopp fell over")

    monkeypatch.setattr(casmore.reports, "build", build)
    assert main(["report", "small"]) == 1
    assert capsys.readouterr().err == "casmore: cocopp fell over\n"


@pytest.mark.parametrize("other", ["runs/smal/data", "runs/small", "configs", "configs/small.toml"])
def test_wrong_data_to_compare_with_are_refused_before_any_work(
    other: str, done: Path, built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree("runs/small/data")
    assert main(["report", "small", "--compare", other]) == 2
    assert f"--compare {other}: " in capsys.readouterr().err
    assert not built
    assert not Path("runs/small/data").exists()
    assert main(["report", "small", "--compare", "BIPOP-CMA-ES_hansen"]) == 0
    assert built[0]["others"] == ["BIPOP-CMA-ES_hansen"]


def test_a_report_of_a_read_only_run_is_put_elsewhere(
    done: Path, built: Built, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # tests may run as root, whom no permissions stop
    monkeypatch.setattr(RunFolder, "is_read_only", lambda run: run.root == Path("runs/small"))
    shutil.rmtree("runs/small/data")
    assert main(["report", "small"]) == 2
    assert (
        capsys.readouterr().err
        == "casmore: runs/small is read-only; write elsewhere, with --out FOLDER\n"
    )
    assert not built
    assert main(["report", "small", "--out", "else where"]) == 0
    assert (built[0]["out"], built[0]["merged"]) == (Path("else where"), True)
    for command in ("export", "archive"):
        assert main([command, "small"]) == 2
        assert capsys.readouterr().err.endswith(
            "is read-only; write elsewhere, with --out FOLDER\n"
        )
        assert main([command, "small", "--out", command]) == 0
    assert {path.name for path in Path("export").iterdir()} > {"trials.csv.gz", "cost.csv"}
    for command in ("merge", "run"):
        capsys.readouterr()
        assert main([command, "small"]) == 2
        assert capsys.readouterr().err == "casmore: runs/small is read-only\n"
    assert not Path("runs/small/data").exists()


def test_the_url_of_an_archive_needs_the_name_of_an_entry(
    done: Path, built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "small", "--archive", "https://example.org"]) == 2
    assert "give them with --compare" in capsys.readouterr().err
    assert not built


def test_a_config_by_its_bare_name_names_its_run(done: Path, built: Built) -> None:
    Path("configs/other.toml").write_text(Path("configs/small.toml").read_text())
    assert main(["report", "other"]) == 0
    assert built[0]["run"] == Path("runs/small")
