"""Entries of an online archive, from a server on the loopback interface; and without a network."""

import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from reports import logged

from casmore.reports import ReportError
from casmore.reports.cocopp import archive


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an archive of three entries, made by cocopp itself."""
    folder = tmp_path_factory.mktemp("archive")
    data = logged.make(folder / "run", ["peer"], [1], [2], instances=2, budget=30)
    served = folder / "served"
    (served / "2009").mkdir(parents=True)
    for name in ("Peer_one", "Peer_two", "Other_one"):
        with tarfile.open(served / f"2009/{name}.tgz", "w:gz") as tar:
            tar.add(data.folder / "data/peer", arcname=name)
    code = (
        "import sys; from pathlib import Path\n"
        "from casmore.reports.cocopp.offline import import_cocopp\n"
        "import_cocopp(Path(sys.argv[2])).archiving.create(sys.argv[1])"
    )
    (folder / "cache").mkdir()
    subprocess.run(
        [sys.executable, "-c", code, str(served), str(folder / "cache")],
        check=True,
        capture_output=True,
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served))) as http:
        url = f"http://127.0.0.1:{http.server_port}"
        definitions = served / "coco_archive_definition.txt"
        # the archive says where it is, as one that is online does
        definitions.write_text(definitions.read_text().replace("[", f"[('_url_', '{url}'),\n ", 1))
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield url
        http.shutdown()


def test_an_entry_is_fetched_by_a_part_of_its_name_and_kept(server: str, tmp_path: Path) -> None:
    (path,) = archive.fetch(["Peer_two"], server, tmp_path / "cache")
    assert path.name == "Peer_two.tgz"
    assert path.is_relative_to(tmp_path / "cache")
    with tarfile.open(path) as tar:
        assert tar.getnames()[0] == "Peer_two"
    then = path.stat().st_mtime_ns
    assert archive.fetch(["Peer_two"], server, tmp_path / "cache") == [path]
    assert path.stat().st_mtime_ns == then


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("Nobody", "'Nobody' has no match"), ("Peer", "'Peer' has multiple matches")],
)
def test_a_name_has_to_be_that_of_one_entry(
    name: str, complaint: str, server: str, tmp_path: Path
) -> None:
    with pytest.raises(ReportError, match=complaint):
        archive.fetch([name], server, tmp_path)


def test_without_a_network_the_message_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        ReportError, match=r"can't be reached .*refused.* tried http://127.0.0.1:9/bbob"
    ):
        archive.fetch(["BIPOP"], "http://127.0.0.1:9/bbob", tmp_path)


def test_no_names_need_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    assert archive.fetch([], "http://127.0.0.1:9", tmp_path) == []


@pytest.mark.slow
def test_a_report_that_compares_with_an_entry(server: str, tmp_path: Path) -> None:
    from casmore.reports.cocopp import report as cocopp_report

    run = logged.make(tmp_path / "run", ["mine"], [1], [2], instances=2, budget=30)
    (entry,) = archive.fetch(["Other"], server, tmp_path / "cache")
    target = tmp_path / "reports"
    cocopp_report.make([run.folder / "data/mine", entry], target)
    tables = (target / "comparison/pptables.html").read_text(encoding="latin-1")
    assert "mine" in tables
    assert "Other" in tables
    # cocopp would unpack it beside it
    assert list((tmp_path / "cache").rglob(".extracted*")) == []
    shutil.rmtree(target)
