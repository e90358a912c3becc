"""What goes wrong in a long run, done for real; afterwards the same command completes it.

Each run's merged data are then those of an undisturbed run, byte for byte. Killed workers, parents
and whole runs are in test_runner.py.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import (
    casmore,
    command,
    config,
    config_data,
    environment,
    is_running,
    published,
    read_only,
    run_sequentially,
    start,
    tree,
    wait_for,
    workers_at_work,
    write_toml,
)

from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import load

SUITE = {"functions": "1,8", "dimensions": [2, 3], "instances": "1-2"}  # 4 units in 3-D


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The data of a run to which nothing happens, from COCO itself."""
    return tree(run_sequentially(config(suite=SUITE), tmp_path_factory.mktemp("sequential")))


def _run(file: Path, root: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    return casmore("run", file, "--out", root, **more)


def _errors(root: Path) -> set[str]:
    return {json.loads(path.read_text())["error"] for path in (root / "failures").rglob("*.json")}


def _config(tmp_path: Path, solver: str = "RandomSearch", **run: Any) -> Path:
    data = config_data(suite=SUITE, solver=f"odd_solvers:{solver}", run={"workers": 2, **run})
    return write_toml(tmp_path / "c.toml", data)


def _cured(file: Path) -> dict[str, bytes]:
    """The data of the config's solver when it is cured; its name is in them."""
    os.environ["CURED"] = "yes"
    try:
        experiment = load(file)
        assert isinstance(experiment, Config)
        return tree(run_sequentially(experiment, file.parent))
    finally:
        del os.environ["CURED"]


@pytest.mark.parametrize(
    ("solver", "run", "error"),
    [
        ("HangsIn3D", {"unit_timeout": 2}, "took longer than unit_timeout = 2 s"),
        ("GreedyIn3D", {"memory_gib": 0.5, "workers": 1}, "MemoryError"),
    ],
    ids=["a unit that hangs", "a unit that eats all memory"],
)
def test_limits(solver: str, run: dict[str, Any], error: str, tmp_path: Path) -> None:
    root, file = tmp_path / "run", _config(tmp_path, solver, **run)
    done = _run(file, root)
    assert done.returncode == 1, done.stderr
    assert {name[5:8] for name in published(root)} == {"d02"}
    assert "4 units failed" in done.stderr
    assert len(_errors(root)) == 1
    assert error in _errors(root).pop()
    again = _run(file, root, CURED="yes")
    assert again.returncode == 0, again.stderr
    assert tree(root / "data/RANDOM") == _cured(file)


@pytest.mark.slow
def test_a_unit_that_hangs_and_is_deaf_loses_its_process(tmp_path: Path) -> None:
    root = tmp_path / "run"
    data = config_data(
        suite={"functions": "1", "dimensions": [2, 3], "instances": "1"},
        solver="odd_solvers:HangsDeafIn3D",
        run={"workers": 1, "unit_timeout": 0.5},
    )
    done = _run(write_toml(tmp_path / "c.toml", data), root)
    assert done.returncode == 1, done.stderr
    assert published(root) == {"f001_d02_i001_r0"}
    failure = json.loads((root / "failures/RANDOM/f001_d03_i001_r0.json").read_text())
    assert "It took longer than unit_timeout" in failure["traceback"]
    assert "odd_solvers.py" in failure["traceback"]  # where it was


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ("nan", "not finite: ["),
        ("inf", "not finite: ["),
        ("one point", "shape (3,); it should be (k, 3)"),
        ("too wide", "shape (5, 6); it should be (k, 3)"),
        ("none", "shape (0, 3); it should be (k, 3), with k at least 1"),
    ],
)
def test_points_that_cannot_be_evaluated_fail_the_unit(
    kind: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from casmore.experiments.merge import merge
    from casmore.experiments.plan import make_plan
    from casmore.experiments.store.run_folder import RunFolder
    from casmore.experiments.worker import run_unit

    solver = {
        "name": "odd_solvers:OddPointsIn3D",
        "label": "RANDOM",
        "settings": {"kind": kind},
    }
    experiment = config(suite=SUITE, solvers=[solver])
    folder, plan = RunFolder(tmp_path / "run"), make_plan(experiment)
    errors = [run_unit(work, folder).error for work in plan]
    assert [error is None for error in errors] == [work.unit.dimension == 2 for work in plan]
    assert all(complaint in error for error in errors if error is not None)
    monkeypatch.setenv("CURED", "yes")
    assert all(run_unit(work, folder).error is None for work in plan)
    merged = merge(folder, [work.unit for work in plan])["RANDOM"]
    assert tree(merged) == tree(run_sequentially(experiment, tmp_path))


def test_ctrl_c_ends_children_in_the_middle_of_units(tmp_path: Path) -> None:
    root = tmp_path / "run"
    # the children are in the middle of units that take for ever
    file = write_toml(tmp_path / "c.toml", config_data(suite=SUITE, solver="odd_solvers:HangsIn3D"))
    process = start("run", file, "--out", root)
    wait_for(lambda: sum("_d03_" in p.name for p in root.glob("private/*/*@f*")) == 2)
    workers = workers_at_work(root)
    process.send_signal(signal.SIGINT)  # once, to the parent alone
    wait_for(lambda: not any(map(is_running, workers)))
    output, _ = process.communicate()
    assert process.returncode == 130, output
    assert "to resume, give the same command" in output


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting is not permitted")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(tmp_path: Path, disk: Path, undisturbed: dict[str, bytes]) -> None:
    root, file = disk / "run", _config(tmp_path)
    blocker = disk / "blocker"
    blocker.write_bytes(bytes(16 * 2**20 - 100 * 2**10))
    done = _run(file, root)
    assert done.returncode == 1, done.stderr
    assert "no space left" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert len(published(root)) < 8
    blocker.unlink()
    again = _run(file, root)
    assert again.returncode == 0, again.stderr
    assert tree(root / "data/RANDOM") == undisturbed


@pytest.mark.parametrize(
    ("until", "error"),
    [(9, "brokendataerror"), (100, "no space left")],
    ids=["room again", "full"],
)
def test_a_disk_that_is_full_during_a_trial(
    until: int, error: str, tmp_path: Path, disk: Path
) -> None:
    """COCO does not say that its lines are lost."""
    data = config_data(
        suite=SUITE,
        budget={"evaluations_per_dimension": 1000},  # more lines than the page a file has already
        solver="odd_solvers:FillsDiskIn3D",
        run={"workers": 1},
    )
    data["solvers"][0]["settings"] = {"file": str(disk / "blocker"), "until": until}
    root, file = disk / "run", write_toml(tmp_path / "c.toml", data)
    done = _run(file, root)
    assert done.returncode == 1, done.stderr
    assert error in done.stderr.lower()
    assert {name[5:8] for name in published(root)} <= {"d02"}
    (disk / "blocker").unlink(missing_ok=True)
    again = _run(file, root, CURED="yes")
    assert again.returncode == 0, again.stderr
    assert tree(root / "data/RANDOM") == _cured(file)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    root, file = tmp_path / "run", _config(tmp_path)
    root.mkdir()
    with read_only(root):
        done = _run(file, root)
    assert done.returncode == 2
    assert done.stderr == f"casmore: {root} is read-only\n"
    again = _run(file, root)
    assert again.returncode == 0, again.stderr
    assert tree(root / "data/RANDOM") == undisturbed


# A clock that is set each time it is read: right, back by a day, forward by two days.
_JUMPING_CLOCK = """
import itertools, time
_time, _jumps = time.time, itertools.cycle([0, -86400, 172800])
def jumping():
    return _time() + next(_jumps)
time.time = jumping
_strftime = time.strftime
time.strftime = lambda form, t=None: _strftime(form, t or time.localtime(jumping()))
"""


def test_a_clock_that_jumps(tmp_path: Path) -> None:
    root = tmp_path / "run"
    data = config_data(suite=SUITE, run={"workers": 1, "unit_timeout": 3600})
    file = write_toml(tmp_path / "c.toml", data)
    clock = tmp_path / "clock"
    clock.mkdir()
    # loaded by Python itself on its start, in the parent and in its workers
    (clock / "sitecustomize.py").write_text(_JUMPING_CLOCK)
    path = os.pathsep.join([str(clock), environment()["PYTHONPATH"]])
    done = subprocess.run(
        command("run", file, "--out", root),
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (session,) = json.loads((root / "manifest.json").read_text())["sessions"]
    assert 0 < session["seconds"] < 3600
    for sidecar in root.rglob("unit.json"):
        assert 0 < json.loads(sidecar.read_text())["wall_seconds"] < 3600
        os.utime(sidecar, (2**31, 2**31))  # written when the clock was ahead by years
    seen = casmore("status", root)
    assert "8 of 8 units done" in seen.stdout, seen.stderr
    assert tree(root / "data/RANDOM") == tree(run_sequentially(config(suite=SUITE), tmp_path))


def test_units_damaged_by_hand_are_found_and_run_again(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    root, file = tmp_path / "run", _config(tmp_path)
    assert _run(file, root).returncode == 0
    assert casmore("verify", root).returncode == 0
    units = root / "units/RANDOM"
    damaged = [
        units / "f001_d02_i001_r0/unit.json",
        units / "f001_d03_i002_r0/bbobexp_f1.info",
        units / "f008_d02_i001_r0/data_f8/bbobexp_f8_DIM2.dat",
    ]
    for path in damaged:  # a digit becomes another: nothing but the checksum is wrong
        content = path.read_bytes()
        place = content.rindex(b"1")
        path.write_bytes(content[:place] + b"2" + content[place + 1 :])
    gone = units / "f008_d03_i001_r0/unit.json"
    gone.unlink()
    found = casmore("verify", root)
    assert found.returncode == 1
    assert "8 units checked, 4 damaged" in found.stdout
    for path in [*damaged, gone]:
        unit = path.relative_to(units).parts[0]
        assert f"RANDOM/{unit}: {path}" in found.stdout
        assert not (units / unit).exists()
        assert (root / f"quarantine/RANDOM/{unit}.1").is_dir()
    again = _run(file, root)
    assert again.returncode == 0, again.stderr
    assert tree(root / "data/RANDOM") == undisturbed


def test_merged_data_damaged_by_hand_are_made_again(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    root, file = tmp_path / "run", _config(tmp_path)
    assert _run(file, root).returncode == 0
    (root / "data/RANDOM/data_f1/bbobexp_f1_DIM2.dat").write_text("oops")
    found = casmore("verify", root)
    assert found.returncode == 1
    assert "data/RANDOM was not what the units give" in found.stdout
    assert tree(root / "data/RANDOM") == undisturbed
