"""Damage of all kinds: what is said of it, and that it is repaired."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from harness import config, read_only, tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casmore import cli
from casmore.experiments import manifest
from casmore.experiments.agreement import agree_on_config
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.record import recorded_config
from casmore.experiments.merge import merge
from casmore.experiments.plan import make_plan
from casmore.experiments.status import status
from casmore.experiments.store.checksums import write_checksums
from casmore.experiments.store.coco_files import BrokenDataError
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.verify import verify
from casmore.experiments.worker import run_unit

EXPERIMENT: Config = config(suite={"functions": "1", "dimensions": [2], "instances": "1-3"})
PLAN = make_plan(EXPERIMENT)
UNITS = [work.unit for work in PLAN]
UNIT = UNITS[1].name
RECORDS = ["config.json", "manifest.json", "merged.json"]
UNIT_FILES = ["unit.json", "SHA256SUMS", "bbobexp_f1.info", "data_f1/bbobexp_f1_DIM2.dat"]
DAMAGES = [b"", bytes(500), b'{"name": "tin', b"[]", b"null", b"{}", b"\xff\xfe\x00", b"[" * 10_000]
NAMES = ["empty", "NUL", "cut", "list", "null", "no keys", "not UTF-8", "nested"]


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is complete and merged."""
    folder = RunFolder(tmp_path_factory.mktemp("complete"))
    agree_on_config(folder, EXPERIMENT)
    with manifest.session(folder, EXPERIMENT, workers=1):
        for work in PLAN:
            assert run_unit(work, folder).error is None
    merge(folder, UNITS)
    return folder.root


@pytest.fixture
def run(complete: Path, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    return RunFolder(Path(shutil.copytree(complete, tmp_path / "run")))


def _resume(run: RunFolder) -> None:
    """Do what a session does, in this process."""
    agree_on_config(run, EXPERIMENT)
    with manifest.session(run, EXPERIMENT, workers=1):
        for work in PLAN:
            if not run.is_published(work.unit):
                assert run_unit(work, run).error is None
    merge(run, UNITS)


def test_a_sound_run(run: RunFolder) -> None:
    before = tree(run.root)
    verdict = verify(run, PLAN)
    assert verdict.is_sound
    assert (verdict.units, verdict.outdated, verdict.read_only) == (3, (), False)
    after = tree(run.root)
    assert {path for path in after if after[path] != before.get(path)} <= {"locks/merge"}


def test_merged_data_that_are_only_older_are_no_damage(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupted run is merged, resumed, and interrupted again."""
    merged = tree(run.data)
    later = run.root / "later"
    run.unit(UNITS[2]).rename(later)
    merge(run, UNITS)
    assert tree(run.data) != merged
    later.rename(run.unit(UNITS[2]))
    assert cli.main(["verify", str(run.root)]) == 0
    said = capsys.readouterr().out
    assert "data/RANDOM: brought up to date" in said
    assert "was not what the units give" not in said
    assert tree(run.data) == merged
    assert verify(run, PLAN).outdated == ()


def test_merged_data_that_have_changed_are_damage(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = tree(run.data)
    (run.data / "RANDOM/data_f1/bbobexp_f1_DIM2.dat").write_text("oops")
    assert cli.main(["verify", str(run.root)]) == 1
    assert "data/RANDOM was not what the units give, and has been made" in capsys.readouterr().out
    assert tree(run.data) == merged


@pytest.mark.parametrize("content", DAMAGES, ids=NAMES)
@pytest.mark.parametrize("name", UNIT_FILES)
def test_damaged_units_are_not_merged_but_set_aside_and_run_again(
    name: str, content: bytes, run: RunFolder
) -> None:
    merged = tree(run.data)
    path = run.unit(UNITS[1]) / name
    path.write_bytes(content)
    shutil.rmtree(run.data)
    with pytest.raises(BrokenDataError, match=rf"{UNIT}/.*`casmore verify .*` sets"):
        merge(run, UNITS)
    status(run, PLAN)
    (damage,) = verify(run, PLAN).damaged
    assert str(run.unit(UNITS[1])) in damage.reason
    assert damage.quarantined is not None
    assert (damage.quarantined / name).read_bytes() == content
    _resume(run)
    assert tree(run.data) == merged
    assert verify(run, PLAN).is_sound


def test_a_file_that_the_disk_does_not_return_is_damage(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, read = run.unit(UNITS[1]) / "data_f1/bbobexp_f1_DIM2.dat", Path.read_bytes

    def from_a_failing_disk(path: Path) -> bytes:
        if path == broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", from_a_failing_disk)
    (damage,) = verify(run, PLAN).damaged
    assert damage.reason == f"{broken} can't be read: Input/output error"
    assert damage.quarantined is not None
    assert not run.is_published(UNITS[1])


@pytest.mark.parametrize("content", DAMAGES, ids=NAMES)
@pytest.mark.parametrize("name", RECORDS)
def test_damaged_records_are_named_and_written_again(
    name: str, content: bytes, run: RunFolder
) -> None:
    merged, path = tree(run.data), run.root / name
    sound = content == b"{}" and name == "merged.json"
    path.write_bytes(content)
    if name == "config.json":
        with pytest.raises(ValueError, match=rf"{path}"):
            recorded_config(run)
        if content == b"{}":  # another config, as far as one can tell
            path.unlink()
    elif content != b"{}":
        (record,) = verify(run, PLAN).records
        assert record.startswith(f"{path} is damaged: ")
        assert "the next " in record
    if name == "merged.json" and not sound:
        assert not verify(run, PLAN).labels
    _resume(run)
    assert tree(run.data) == merged
    assert verify(run, PLAN).is_sound
    recorded_config(run)


def test_a_damaged_manifest_is_kept_and_the_user_told(run: RunFolder) -> None:
    notes: list[str] = []
    for number in (1, 2):
        run.manifest.write_bytes(b"")
        with manifest.session(run, EXPERIMENT, workers=1, tell=notes.append) as session:
            (note,) = session.record["notes"]
        assert f"{run.manifest} is damaged: it is empty; it is now" in note
        assert (run.root / f"manifest.damaged.{number}").read_bytes() == b""


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from([*RECORDS, *(f"units/RANDOM/{UNIT}/{name}" for name in UNIT_FILES)]),
    content=st.binary(max_size=40)
    | st.text('{}[]":,0123456789abc_ \n', max_size=40).map(str.encode)
    | st.tuples(st.integers(0, 2000), st.integers(1, 255)),
)
def test_any_bytes_in_a_record(
    name: str, content: bytes | tuple[int, int], complete: Path, tmp_path: Path
) -> None:
    """Whatever is in a file, or one bit of it: an error of ours that names it, and a way back."""
    root = tmp_path / "run"
    shutil.rmtree(root, ignore_errors=True)
    run = RunFolder(Path(shutil.copytree(complete, root)))
    merged, path = tree(run.data), run.root / name
    if isinstance(content, tuple):
        old = bytearray(path.read_bytes())
        old[content[0] % len(old)] ^= content[1]
        content = bytes(old)
    path.write_bytes(content)
    status(run, PLAN)
    problem, plan = "", PLAN
    try:
        plan = make_plan(recorded_config(run))
    except ValueError as error:
        problem = str(error)
    assert not problem or str(path) in problem
    if problem or plan != PLAN:  # or another config: to refuse that is left to agree_on_config
        path.unlink()
    for damage in verify(run, PLAN).damaged:
        assert str(path.parent) in damage.reason
    _resume(run)
    assert tree(run.data) == merged


def test_stray_files_are_not_taken_for_units(run: RunFolder) -> None:
    for folder in (run.units, run.units / "RANDOM", run.root / "private", run.root / "private/all"):
        folder.mkdir(exist_ok=True)
        (folder / ".DS_Store").write_bytes(b"x")
        (folder / "a@b").write_bytes(b"x")
        (folder / "a@b@c@d").write_bytes(b"x")
    assert len(run.published()) == 3
    assert run.leftovers() == []
    assert verify(run, PLAN).is_sound
    assert status(run, PLAN).complete


def test_a_unit_of_another_plan_is_damaged(run: RunFolder) -> None:
    unit = run.unit(UNITS[1])
    record = (unit / "unit.json").read_text().replace('"function": 1', '"function": 2')
    (unit / "unit.json").write_text(record)
    write_checksums(unit)
    (damage,) = verify(run, PLAN).damaged
    assert "function is 2, not 1" in damage.reason


def test_a_read_only_run(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(run.root)
    with read_only(run.root):
        assert verify(run, PLAN).is_sound
        for command in ("status", "verify"):
            assert cli.main([command, root]) == 0
    later = tmp_path / "later"
    shutil.move(run.unit(UNITS[2]), later)
    merge(run, UNITS)
    shutil.move(later, run.unit(UNITS[2]))
    whole = RunFolder(tmp_path / "elsewhere")
    with read_only(run.root):
        capsys.readouterr()
        assert cli.main(["verify", root]) == 0
        assert "data/RANDOM: older than its units" in capsys.readouterr().out
        merge(run, UNITS, place=whole)
    merge(run, UNITS)
    assert tree(whole.data) == tree(run.data)
    (run.data / "RANDOM/data_f1/bbobexp_f1_DIM2.dat").write_text("oops")
    with read_only(run.root):
        assert cli.main(["verify", root]) == 1
        assert "can't be repaired: it is read-only" in capsys.readouterr().out
    (run.unit(UNITS[0]) / "unit.json").write_text("oops")
    with read_only(run.root):
        assert cli.main(["verify", root]) == 1
        said = capsys.readouterr().out
        assert f"{run.unit(UNITS[0])}/unit.json is damaged: it is not JSON" in said
        assert "is read-only; 'casmore verify' sets them aside where it can write" in said
        assert run.unit(UNITS[0]).is_dir()
