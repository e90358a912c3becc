"""The command line: what it says, and with which code it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import casmore.reports
from casmore.cli import main
from casmore.solvers import registry

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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with configs/small.toml, and the current one."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _casmore(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{code}\nimport sys; from casmore.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


def test_a_run_by_its_bare_name_says_how_to_report_it(project: Path) -> None:
    done = _casmore("run", "small")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 units are done." in done.stdout
    assert done.stdout.endswith("Report:\n  casmore report runs/small\n")
    assert (project / "runs/small/data/CAS-MORE/bbobexp_f1.info").is_file()


def test_report_merges_what_is_there_and_builds(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _casmore("run", "small", "--workers", "2").returncode == 0
    built = []

    def build(run: Path, *, full: bool = False, **others: object) -> Path:
        built.append((run, full, (run / "data/CAS-MORE/bbobexp_f1.info").is_file()))
        return run

    # the report itself has its own tests, and takes its time
    monkeypatch.setattr(casmore.reports, "build", build)
    run = Path("runs/small")
    (run / "merged.json").unlink()
    (run / "data/CAS-MORE/bbobexp_f1.info").unlink()
    for argument in ("runs/small", "small", "configs/small.toml"):
        assert main(["report", argument]) == 0
    assert main(["report", "small", "--full"]) == 0
    assert built == [(run, False, True)] * 3 + [(run, True, True)]


def test_a_report_of_nothing_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "small"]) == 2
    assert "'small' is not the folder of a run (runs/ has none)" in capsys.readouterr().err
    assert _casmore("run", "small").returncode == 0
    assert main(["report", "smal"]) == 2
    assert "did you mean 'small'? (runs/ has: small)" in capsys.readouterr().err
    for sidecar in Path("runs/small").rglob("unit.json"):
        sidecar.unlink()
    assert main(["report", "small"]) == 2
    assert "runs/small has no finished units yet" in capsys.readouterr().err


def test_a_wrong_config_has_started_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SMALL.replace("dimensions", "dimenson").replace('"cas-more"', '"cmaes"')
    (project / "wrong.toml").write_text(wrong)
    assert main(["run", "wrong.toml"]) == 2
    error = capsys.readouterr().err
    assert "suite.dimenson = [2]: there is no such key; did you mean 'dimensions'?" in error
    assert "solvers[0].name: unknown solver 'cmaes'; did you mean 'cma'?" in error
    assert not (project / "runs").exists()


def test_an_unknown_config_is_answered_with_the_nearest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "smal"]) == 2
    error = capsys.readouterr().err
    assert "there is no config 'smal'; did you mean 'small'? (configs/ has: small)" in error


@pytest.mark.parametrize("workers", ["0", "-1", "two"])
def test_workers_are_at_least_one(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "small", "--workers", workers])
    assert ended.value.code == 2
    assert f"'{workers}' is not a whole number of at least 1" in capsys.readouterr().err


def test_solvers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solvers"]) == 0
    listed = capsys.readouterr().out
    for solver in registry.registered():
        assert solver.name in listed
        assert solver.description in listed


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [("cocoex", ["run", "small"]), ("loky", ["run", "small"]), ("pydantic", ["report", "small"])],
)
def test_a_missing_extra_is_no_traceback(missing: str, arguments: list[str], project: Path) -> None:
    done = _casmore(*arguments, code=f"import sys; sys.modules[{missing!r}] = None")
    assert done.returncode == 2
    assert f"needs the package {missing!r}: pip install 'casmore[bbob]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_has_seen_enough_gets_no_traceback(unbuffered: str) -> None:
    """As in ``casmore solvers | head``."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "casmore", "solvers"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_solvers_are_listed_without_the_extras() -> None:
    blocked = "import sys; sys.modules.update(cma=None, cocoex=None, pydantic=None, loky=None)"
    done = _casmore("solvers", code=blocked)
    assert done.returncode == 0, done.stderr
    assert "to install: pip install 'casmore[cma]'" in done.stdout


def test_a_failed_report_is_no_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _casmore("run", "small").returncode == 0

    def build(run: Path, *, full: bool = False, **others: object) -> Path:
        raise casmore.reports.ReportError("cocopp fell over")

    monkeypatch.setattr(casmore.reports, "build", build)
    assert main(["report", "small"]) == 1
    assert capsys.readouterr().err == "casmore: cocopp fell over\n"


def test_a_folder_that_cannot_be_made_is_no_traceback(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    assert main(["run", "small", "--out", "file/below"]) == 1
    assert "file/below: Not a directory" in capsys.readouterr().err.replace(f"{project}/", "")
