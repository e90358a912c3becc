"""cocopp's report in parts, each in a process of its own, beside what cocopp makes in one."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from reports import logged
from reports.pages import references

from casmore.experiments import limits
from casmore.reports import ReportError
from casmore.reports.cocopp import processes
from casmore.reports.cocopp import report as cocopp_report
from casmore.reports.cocopp.tidy import tidy

pytestmark = pytest.mark.timeout(600)  # a full report takes its time where others are at work
FAKE = "reports.fake_cocopp"
ONE_PROCESS = """
import sys
from pathlib import Path
from casmore.reports.cocopp.offline import import_cocopp
how = ["--include-single", "--in-a-hurry=0", "--include-fonts", "--no-interactive", "-o"]
import_cocopp(Path(sys.argv[1])).main(how + sys.argv[2:])
"""


@dataclass(frozen=True)
class Reports:
    """The same, made by cocopp in one process, and by us."""

    cocopps: Path
    ours: Path
    names: dict[str, str]  # cocopp's folders, named after the time, to ours

    def renamed(self, text: str) -> str:
        for theirs, ours in self.names.items():
            text = text.replace(theirs, ours)
        return text


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp("full")
    # few evaluations reach few targets, and a full report takes time for each that is reached
    run = logged.make(folder / "run", ["one", "two"], [1], [2], instances=2, budget=3)
    data = [run.folder / "data" / name for name in ("one", "two")]
    cocopps, ours = folder / "cocopps", folder / "reports" / "cocopp"
    (folder / "cache").mkdir()
    subprocess.run(
        [sys.executable, "-c", ONE_PROCESS, *map(str, (folder / "cache", cocopps, *data))],
        check=True,
        capture_output=True,
    )
    tidy(cocopps)
    cocopp_report.make(data, ours, full=True)
    stamp = re.compile(r"_\d{6}h\d{4}$")
    names = {
        path.name: f"single-{stamp.sub('', path.name)}"
        for path in cocopps.iterdir()
        if (path / "index1.html").exists()
    }
    (comparison,) = cocopps.glob("*/index.html")
    return Reports(cocopps, ours, {**names, comparison.parent.name: "comparison"})


def files(report: Path) -> set[str]:
    """All files but those that we keep for the next time."""
    return {
        str(path.relative_to(report))
        for path in report.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_the_parts_together_have_the_files_of_one_process(full: Reports) -> None:
    expected = {full.renamed(name) for name in files(full.cocopps)}
    assert len(expected) > 70
    assert files(full.ours) == expected
    tops = {"index.html", "cocopp_commands.tex", "comparison", "single-one", "single-two"}
    assert {path.name for path in full.ours.iterdir()} == tops


def test_the_pages_say_the_same(full: Reports) -> None:
    spread = re.compile(r"<mn>.*?</mn>")  # from a bootstrap: it differs each time
    pages = list(full.cocopps.rglob("*.html"))
    assert len(pages) >= 15
    for page in pages:
        ours = full.ours / full.renamed(str(page.relative_to(full.cocopps)))
        text = full.renamed(page.read_text(encoding="latin-1"))
        assert spread.sub("", ours.read_text(encoding="latin-1")) == spread.sub("", text), ours
        assert "##" not in text  # cocopp's placeholders


def test_their_links_and_pictures_are_there(full: Reports) -> None:
    for page in full.ours.rglob("*.html"):
        missing = {name for name in references(page) if not (page.parent / name).exists()}
        assert not missing, page


def test_latex_finds_the_same_definitions(full: Reports) -> None:
    def first_definitions(text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, definition in re.findall(
            r"^\\providecommand\{(\\\w+)\}(.*?)(?=^\\providecommand|\Z)", text, flags=re.M | re.S
        ):
            found.setdefault(name, definition)
        return found

    theirs, ours = (
        first_definitions((report / "cocopp_commands.tex").read_text())
        for report in (full.cocopps, full.ours)
    )
    assert len(theirs) > 15
    assert ours == {name: full.renamed(text) for name, text in theirs.items()}


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


def made(report: Path) -> dict[str, str]:
    """What tells one making of a part from another, by its place and kind."""
    return {str(path.relative_to(report)): path.read_text() for path in report.glob("*/*.txt")}


def running(data: Path) -> list[int]:
    """The processes that wait because of a file ``slow`` in the data."""
    started = [int(path.suffix[1:]) for path in data.glob("pid.*")]
    return [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_only_parts_whose_data_changed_are_made_again(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report, full=True)
    first = made(report)
    assert len(first) == 4
    said: list[str] = []
    cocopp_report.make(data, report, full=True, say=said.append)
    assert made(report) == first
    assert said == ["cocopp's report is that of these data already"]

    (data[1] / "values.dat").write_text("2")
    cocopp_report.make(data, report, full=True)
    second = made(report)
    assert {name for name in first if first[name] == second[name]} == {"single-one/single.txt"}
    links = re.findall(r'href="(.*?)"', (report / "index.html").read_text())
    assert links == ["comparison/index.html", "single-one/index1.html", "single-two/index1.html"]
    commands = (report / "cocopp_commands.tex").read_text()
    places = re.findall(r"{([^{]*)/}", commands)
    assert places == ["comparison", "comparison", "single-two", "single-one"]

    cocopp_report.make(data, report)
    assert {path.name for path in report.iterdir() if path.is_dir()} == {"comparison"}
    assert not made(report).items() & second.items()


def test_an_algorithm_of_two_runs_has_two_parts(data: list[Path], tmp_path: Path) -> None:
    again = data[1].rename(tmp_path / "one")
    report = tmp_path / "reports/cocopp"
    cocopp_report.make([data[0], again], report, full=True)
    assert {"single-one", "single-one-2"} <= {path.name for path in report.iterdir()}


def test_a_part_that_fails_ends_the_others(
    data: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report, full=True)
    first = made(report)
    monkeypatch.setattr(limits, "cores", lambda: 4)
    (data[0] / "slow").touch()
    (data[1] / "broken").touch()
    with pytest.raises(ReportError, match=r"exit code 1\), two alone; .*\n +two is broken$"):
        cocopp_report.make(data, report, full=True)
    assert running(data[0]) == []
    assert made(report) == first
    assert {path.name for path in report.parent.iterdir()} == {"cocopp", "cocopp.log"}


def test_ctrl_c_leaves_nothing_behind(data: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "reports/cocopp"
    cocopp_report.make(data, report, full=True)
    first = made(report)
    (data[0] / "slow").touch()
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from casmore.reports.cocopp import report as cocopp_report\n"
        f"cocopp_report._PROCESS = {FAKE!r}\n"
        "cocopp_report.make([Path(p) for p in sys.argv[2:]], Path(sys.argv[1]), full=True)"
    )
    command = [sys.executable, "-c", code, str(report), *map(str, data)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60
        while not running(data[0]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate()[1]
    assert running(data[0]) == []
    assert made(report) == first
    assert {path.name for path in report.parent.iterdir()} == {"cocopp", "cocopp.log"}
    assert list(temporary.iterdir()) == []


def test_no_more_processes_than_allowed(tmp_path: Path) -> None:
    code = "import time; print(time.monotonic()); time.sleep(.3); print(time.monotonic())"
    tasks = [
        processes.Task(f"{i}", (sys.executable, "-c", code), tmp_path / f"{i}.log")
        for i in range(4)
    ]
    outcomes: list[processes.Outcome] = []
    processes.run(tasks, outcomes.append, scratch=tmp_path, at_once=2)
    spans = [tuple(map(float, task.log.read_text().split())) for task in tasks]
    beside = [sum(start <= at < end for start, end in spans) for at, _ in spans]
    assert max(beside) == 2
    assert {outcome.task for outcome in outcomes} == set(tasks)
    assert all(outcome.code == 0 and outcome.seconds > 0.3 for outcome in outcomes)


def test_cores_that_this_process_may_not_use_do_not_count() -> None:
    allowed = os.sched_getaffinity(0)
    assert limits.cores() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert limits.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
