"""Who may write in a run's folder, and what is swept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from casmore.experiments.durable import read_json, write_json
from casmore.experiments.folder import RunFolder, RunLockedError
from casmore.experiments.plan import Unit

UNIT = Unit("LABEL", 10, 5, 71, 0)


def _finished(folder: RunFolder, private: Path) -> Path:
    finished = private / "unit"
    (finished / "data").mkdir(parents=True)
    write_json(finished / "unit.json", {"by": str(private)})
    return finished


def test_a_unit_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.private(UNIT.label, UNIT.name) as private:
        finished = _finished(folder, private)
        assert not folder.is_published(UNIT)
        folder.publish(finished, UNIT)
    assert folder.is_published(UNIT)
    assert folder.unit(UNIT) == tmp_path / "units/LABEL/f010_d05_i071_r0"
    assert folder.leftovers() == []


def test_the_first_to_publish_wins(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for task in ("first", "second"):
        with folder.private(UNIT.label, task) as private:
            folder.publish(_finished(folder, private), UNIT)
    assert "first" in read_json(folder.sidecar(UNIT))["by"]


def test_a_private_folder_is_on_the_same_file_system_and_goes_with_an_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.private(UNIT.label, UNIT.name) as private:
        assert private.stat().st_dev == tmp_path.stat().st_dev
        (leftover,) = folder.leftovers()
        assert (leftover.unit, leftover.pid, leftover.alive) == (UNIT, os.getpid(), True)
    assert folder.leftovers() == []
    with pytest.raises(FileNotFoundError), folder.private(UNIT.label, UNIT.name) as private:
        (private / "none").unlink()
    assert folder.leftovers() == []


def test_only_the_dead_are_swept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    while Path(f"/proc/{ended.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        pass  # it has ended, and nobody has waited for it
    with folder.private(UNIT.label, UNIT.name) as mine:
        for pid in (ended.pid, 2**22 + 1):
            (mine.parent / f"{mine.name.rpartition('@')[0]}@{pid}").mkdir()
        (mine.parent / f"LABEL@merge@another-host@{os.getpid()}").mkdir()
        assert len(folder.leftovers()) == 4
        folder.sweep()
        assert [leftover.path for leftover in folder.leftovers()] == [mine]
    ended.wait()


def test_the_lock_is_for_one_and_goes_with_its_holder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "new")
    with folder.lock():
        with (
            pytest.raises(RunLockedError, match=f"in use by process {os.getpid()} on .*--out"),
            RunFolder(tmp_path / "new").lock(),
        ):
            pass
        # and the refused one has taken nothing from the holder
        with pytest.raises(RunLockedError, match=f"process {os.getpid()}"), folder.lock():
            pass
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from casmore.experiments.folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).lock(): os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(folder.root)], check=False)
    assert killed.returncode == -9
    with folder.lock():
        assert read_json(folder.root / "lock")["pid"] == os.getpid()


def test_json_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "below" / "file.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range float"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    assert list(path.parent.iterdir()) == [path]
