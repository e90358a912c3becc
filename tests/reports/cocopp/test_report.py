"""cocopp's report in a process of its own: made once, moved into place in one step."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reports import logged
from reports.pages import references

from casmore.reports import ReportError
from casmore.reports.cocopp import report as cocopp_report
from casmore.reports.cocopp.tidy import tidy

FAKE = "reports.fake_cocopp"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Data of two algorithms, for a fake of cocopp."""
    monkeypatch.setattr(cocopp_report, "_PROCESS", FAKE)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    folders = [tmp_path / "data" / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "values.dat").write_text("1")
    return folders


def making(report: Path) -> str:
    """What tells one making of the report from another."""
    return (report / "made.txt").read_text()


def running(data: Path) -> list[int]:
    """The processes that wait because of a file ``slow`` in the data."""
    started = [int(path.suffix[1:]) for path in data.glob("pid.*")]
    return [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_a_report_of_the_same_data_is_not_made_again(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report)
    first = making(report)
    said: list[str] = []
    assert cocopp_report.make(data, report, say=said.append) == report / "index.html"
    assert making(report) == first
    assert said == ["cocopp's report of these data is up to date"]

    (data[1] / "values.dat").write_text("2")
    cocopp_report.make(data, report)
    second = making(report)
    cocopp_report.make(data, report, full=True)
    assert len({first, second, making(report)}) == 3


def test_folders_have_names_that_stay(data: list[Path], tmp_path: Path) -> None:
    # the data of two runs may have the same name
    again = data[1].rename(tmp_path / "one")
    report = tmp_path / "reports/cocopp"
    cocopp_report.make([data[0], again], report, full=True)
    places = ["comparison", "single-one", "single-one-2"]
    assert sorted(path.name for path in report.iterdir() if path.is_dir()) == places
    links = re.findall(r'href="(.*?)"', (report / "index.html").read_text())
    assert sorted(links) == [
        "comparison/index.html",
        "single-one-2/index1.html",
        "single-one/index1.html",
    ]
    commands = (report / "cocopp_commands.tex").read_text()
    assert sorted(re.findall(r"{([^{]*)/}", commands)) == places


def test_a_failure_leaves_the_last_report(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report)
    first = making(report)
    (data[0] / "broken").touch()
    log = re.escape(str(tmp_path / "reports/cocopp.log"))
    with pytest.raises(ReportError, match=rf"exit code 1\).* {log}:\n +one is broken$"):
        cocopp_report.make(data, report)
    assert making(report) == first
    assert {path.name for path in report.parent.iterdir()} == {"cocopp", "cocopp.log"}


def test_a_lost_figure_is_a_failure(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    (data[0] / "lost").touch()
    with pytest.raises(ReportError, match=r"cocopp could not write ecdf\.svg; its log is"):
        cocopp_report.make(data, report)
    assert not report.exists()


def test_ctrl_c_leaves_nothing_behind(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report)
    first = making(report)
    (data[0] / "slow").touch()
    code = (
        "import signal, sys\nfrom pathlib import Path\n"
        # a shell that starts the tests in the background has it ignored
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from casmore.reports.cocopp import report as cocopp_report\n"
        f"cocopp_report._PROCESS = {FAKE!r}\n"
        "cocopp_report.make([Path(p) for p in sys.argv[2:]], Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(report), *map(str, data)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE
    ) as process:
        while not running(data[0]):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"KeyboardInterrupt" in process.communicate()[1]
    assert running(data[0]) == []
    assert making(report) == first
    assert {path.name for path in report.parent.iterdir()} == {"cocopp", "cocopp.log"}
    assert list(temporary.iterdir()) == []


def test_cocopp_that_fails_shows_the_end_of_its_log(tmp_path: Path) -> None:
    run = logged.make(tmp_path / "run", ["broken"], [1], [2], instances=1, budget=5)
    (data,) = run.folder.glob("data/broken/data_f1/*.dat")
    data.write_text(data.read_text() + "17 0 cut sho")
    with pytest.raises(ReportError, match=r"cocopp failed \(exit code 1\)") as caught:
        cocopp_report.make([run.folder / "data" / "broken"], tmp_path / "reports" / "cocopp")
    log = (tmp_path / "reports" / "cocopp.log").read_text()
    assert log.rstrip().splitlines()[-1] in str(caught.value)
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {"cocopp.log"}


def test_cocopp_that_finds_nothing_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReportError, match="cocopp failed"):
        cocopp_report.make([tmp_path / "empty"], tmp_path / "reports" / "cocopp")
    assert not (tmp_path / "reports" / "cocopp").exists()


def test_tidy_keeps_what_is_there(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    (part / "there.svg").touch()
    page = part / "page.html"
    kept = '<p><b>5-D</b></p><div><a href="there.svg"><IMG SRC="there.svg" height="9em"></a></div>'
    gone = '<p><b>20-D</b></p><div><a href="gone.svg"><IMG SRC="gone.svg" height="9em"></a></div>'
    away = '<a href="https://coco-platform.org">COCO</a>'
    page.write_text(f'{kept}\n{gone}\n<a href="gone.html#20">gone</a><br>{away}')
    tidy(tmp_path)
    assert page.read_text() == f"{kept}\n{away}"


def test_tidy_removes_a_page_without_its_config(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    for name in ("pprldflex.html", "pprldflex.js", "pprldflex.css", "pprldmany.html"):
        (part / name).touch()
    tidy(tmp_path)
    assert [path.name for path in part.iterdir()] == ["pprldmany.html"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_full_report_has_each_algorithm_alone(tmp_path: Path) -> None:
    # few evaluations reach few targets, and a full report takes time for each that is reached
    run = logged.make(tmp_path / "run", ["one", "two"], [1], [2], instances=2, budget=3)
    report = tmp_path / "reports" / "cocopp"
    cocopp_report.make([run.folder / "data" / name for name in ("one", "two")], report, full=True)
    folders = {path.name for path in report.iterdir() if path.is_dir()}
    assert folders == {"comparison", "single-one", "single-two"}
    linked = references(report / "index.html")
    assert linked == {
        "comparison/index.html",
        "single-one/index1.html",
        "single-two/index1.html",
    }
    for page in report.rglob("*.html"):
        missing = {name for name in references(page) if not (page.parent / name).exists()}
        assert not missing, page
    assert len(list(report.rglob("*.pdf"))) > 10
