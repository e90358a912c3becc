"""Who may write in a run's folder, and what is swept."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from casmore.atomic_io import read_json, write_json
from casmore.experiments.shard import WHOLE
from casmore.experiments.store.run_folder import RunFolder, RunLockedError
from casmore.experiments.work_unit import Unit

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
        assert (leftover.unit, leftover.pid) == (UNIT, os.getpid())
    assert folder.leftovers() == []
    with pytest.raises(FileNotFoundError), folder.private(UNIT.label, UNIT.name) as private:
        (private / "none").unlink()
    assert folder.leftovers() == []


def test_a_session_sweeps_its_own_share_and_one_that_is_alone_everything(tmp_path: Path) -> None:
    shares = ["1-of-2", "2-of-2", WHOLE]
    folders = [RunFolder(tmp_path, share) for share in shares]
    with ExitStack() as stack:
        paths = [stack.enter_context(folder.private(UNIT.label, UNIT.name)) for folder in folders]
        merging = stack.enter_context(folders[0].merging())
        folders[0].sweep()
        assert [path.exists() for path in paths] == [False, True, True]
        folders[2].sweep()
        assert [path.exists() for path in paths] == [False, False, False]
        assert merging.exists()  # who merges need not have a session


def test_a_session_sweeps_nothing_that_is_not_its_own(tmp_path: Path) -> None:
    names = ["diary/page", "all/page", "1-of-2/a@b/page", "all/a@b@c@d/page", "page"]
    pages = [tmp_path / "private" / name for name in names]
    for page in pages:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
    folder = RunFolder(tmp_path)
    with folder.private(UNIT.label, UNIT.name):
        folder.sweep()
        assert folder.leftovers() == []
    assert all(page.exists() for page in pages)


def test_shards_share_a_folder_but_not_with_themselves_or_the_whole(tmp_path: Path) -> None:
    first, second, whole = (RunFolder(tmp_path, share) for share in ("1-of-2", "2-of-2", WHOLE))
    with first.session(), second.session():
        assert set(whole.sessions()) == {"1-of-2", "2-of-2"}
        with (
            pytest.raises(
                RunLockedError, match=rf"shard 1/2 of .* in use by process {os.getpid()}"
            ),
            RunFolder(tmp_path, "1-of-2").session(),
        ):
            pass
        with (
            pytest.raises(RunLockedError, match=rf"by shards: shard 1/2 \(process {os.getpid()}"),
            whole.session(),
        ):
            pass
    with whole.session():
        assert set(whole.sessions()) == {WHOLE}
        with pytest.raises(RunLockedError, match=f"process {os.getpid()}"), first.session():
            pass
    assert whole.sessions() == {}


def test_a_unit_without_its_record_makes_way(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for task in ("first", "second"):
        with folder.private(UNIT.label, task) as private:
            folder.publish(_finished(folder, private), UNIT)
        if task == "first":
            folder.sidecar(UNIT).unlink()  # by hand
            assert not folder.is_published(UNIT)
    assert "second" in read_json(folder.sidecar(UNIT))["by"]
    assert (tmp_path / "quarantine/LABEL" / f"{UNIT.name}.1" / "data").is_dir()


def test_the_lock_is_for_one_and_goes_with_its_holder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "new")
    with folder.session():
        with (
            pytest.raises(RunLockedError, match=f"in use by process {os.getpid()} on .*--out"),
            RunFolder(tmp_path / "new").session(),
        ):
            pass
        # and the refused one has taken nothing from the holder
        with pytest.raises(RunLockedError, match=f"process {os.getpid()}"), folder.session():
            pass
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from casmore.experiments.store.run_folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).session(): os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(folder.root)], check=False)
    assert killed.returncode == -9
    with folder.session():
        assert read_json(folder.root / "locks/run")["pid"] == os.getpid()


def test_json_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "below" / "file.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range float"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    assert list(path.parent.iterdir()) == [path]


def test_a_file_system_that_cannot_flush_folders_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As some versions of Linux on shares of Windows, and shared folders of VirtualBox."""
    flush = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    folder = RunFolder(tmp_path)
    with folder.private(UNIT.label, UNIT.name) as private:
        folder.publish(_finished(folder, private), UNIT)
    assert folder.is_published(UNIT)


@pytest.mark.parametrize("failure", [errno.EIO, errno.EINVAL])
def test_a_file_that_is_not_flushed_is_not_published(
    failure: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    with folder.private(UNIT.label, UNIT.name) as private:
        finished = _finished(folder, private)

        def refuse(descriptor: int) -> None:
            raise OSError(failure, os.strerror(failure))

        monkeypatch.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match=os.strerror(failure)):
            folder.publish(finished, UNIT)
    assert not folder.is_published(UNIT)


def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Lustre without its mount option ``flock``."""

    def refuse(file: object, kind: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(OSError, match="must support locks") as raised,
        RunFolder(tmp_path).session(),
    ):
        pass
    assert raised.value.filename == str(tmp_path / "locks/run")
