"""Entries for COCO's data archive: their form, and that cocopp loads them."""

import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from casmore.reports import ReportError, archive_entry
from casmore.reports.archive_entry import Run
from reports import logged
from reports.logged import LoggedRun


def _run(run: LoggedRun) -> Run:
    return Run(run.folder, run.folder / "data")


@pytest.fixture(scope="module")
def packed(run: LoggedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    archive_entry.pack([_run(run)], folder, author="Surname")
    return folder


def test_a_file_for_each_solver_with_a_single_folder(run: LoggedRun, packed: Path) -> None:
    names = {path.name for path in packed.iterdir()}
    assert names == {"second_Surname.tgz", "first_Surname.tgz", "DESCRIPTION.md"}
    with tarfile.open(packed / "first_Surname.tgz") as tar:
        members = {m.name: tar.extractfile(m) for m in tar.getmembers()}
        truth = run.folder / "data" / "first"
        assert len(members) == sum(path.is_file() for path in truth.rglob("*"))
        for name, file in members.items():
            top, _, rest = name.partition("/")
            assert top == "first_Surname"
            assert file is not None
            assert file.read() == (truth / rest).read_bytes()


def test_the_description_has_what_the_archive_asks_for(packed: Path) -> None:
    text = (packed / "DESCRIPTION.md").read_text(encoding="utf-8")
    for name in ("first_Surname.tgz", "second_Surname.tgz"):
        assert f"`{name}`" in text
        assert sha256((packed / name).read_bytes()).hexdigest() in text
    assert "suite: bbob, 2 functions in 2, 3-D, 3 trials each" in text
    assert "budget: 150 evaluations per dimension" in text


def test_the_same_data_give_the_same_bytes(run: LoggedRun, packed: Path, tmp_path: Path) -> None:
    archive_entry.pack([_run(run)], tmp_path, author="Surname", only=["first"])
    assert {path.name for path in tmp_path.iterdir()} == {"first_Surname.tgz", "DESCRIPTION.md"}
    name = "first_Surname.tgz"
    assert (tmp_path / name).read_bytes() == (packed / name).read_bytes()


@pytest.mark.slow
def test_cocopp_makes_an_archive_of_them(packed: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from casmore.reports.cocopp.offline import import_cocopp\n"
        "archiving = import_cocopp(Path(sys.argv[2])).archiving\n"
        "archiving.create(sys.argv[1])\n"
        "print(sorted(Path(name).name for name in archiving.get(sys.argv[1])))"
    )
    folder = tmp_path / "archive"
    folder.mkdir()
    for path in packed.glob("*.tgz"):
        (folder / path.name).write_bytes(path.read_bytes())
    (tmp_path / "cache").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "['first_Surname.tgz', 'second_Surname.tgz']"


def test_what_cocopp_reads_otherwise_is_refused(
    run: LoggedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = archive_entry._packed
    monkeypatch.setattr(
        archive_entry, "_packed", lambda _, name: packed(run.folder / "data/second", name)
    )
    with pytest.raises(ReportError, match=r"cocopp does not read from .*first.tgz what"):
        archive_entry.pack([_run(run)], tmp_path, only=["first"])
    assert list(tmp_path.iterdir()) == []


def test_wrong_names_are_refused(run: LoggedRun, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"there is no solver 'third' in .*, but second, first"):
        archive_entry.pack([_run(run)], tmp_path, only=["third"])
    with pytest.raises(ReportError, match="author 'A/B': give a name of letters"):
        archive_entry.pack([_run(run)], tmp_path, author="A/B")
    assert list(tmp_path.iterdir()) == []


def test_runs_become_what_coco_would_have_written_in_one(tmp_path: Path) -> None:
    labels = ["a", "b"]
    whole = logged.make(tmp_path / "whole", labels, [1, 6], [2, 3], budget=20)
    parts = [logged.make(tmp_path / f"{n}D", labels, [1, 6], [n], budget=20) for n in (2, 3)]
    archive_entry.pack([_run(whole)], tmp_path / "one")
    archive_entry.pack([_run(part) for part in parts], tmp_path / "two")
    for name in ("a.tgz", "b.tgz", "DESCRIPTION.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_conditions_of_each_dimension_are_described(tmp_path: Path) -> None:
    parts = [logged.make(tmp_path / f"{n}D", ["a"], [1], [n], budget=60 // n) for n in (2, 3)]
    *_, description = archive_entry.pack([_run(part) for part in parts], tmp_path / "out")
    text = description.read_text(encoding="utf-8")
    assert "suite: bbob, 1 functions in 2, 3-D, 3 trials each" in text
    assert "  - 2-D: budget: 30 evaluations per dimension" in text
    assert "  - 3-D: budget: 20 evaluations per dimension" in text


def test_trials_in_two_runs_are_refused(run: LoggedRun, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="second on f1 in 2-D, instance 1, is in another run"):
        archive_entry.pack([_run(run), _run(run)], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_runs_on_two_suites_are_refused(run: LoggedRun, tmp_path: Path) -> None:
    noisy = logged.make(tmp_path / "noisy", ["a"], [101], [2], budget=20, suite="bbob-noisy")
    with pytest.raises(ReportError, match=r"on different suites \(bbob, bbob-noisy\)"):
        archive_entry.pack([_run(run), _run(noisy)], tmp_path / "out")
    assert not (tmp_path / "out").exists()
