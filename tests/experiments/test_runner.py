"""Runs that are killed, stopped, broken and resumed, as real processes."""

import errno
import io
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import (
    casmore,
    config,
    config_data,
    held_run,
    is_running,
    published,
    run_sequentially,
    tree,
    wait_for,
    workers_at_work,
    write_toml,
)
from odd_solvers import FREE

from casmore.experiments import backends, runner
from casmore.experiments.backends import BackendError, WorkerDiedError
from casmore.experiments.worker import UnitOutcome, run_batch


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The data of the small config when nothing happens, from COCO itself."""
    return tree(run_sequentially(config(), tmp_path_factory.mktemp("sequential")))


def _data(root: Path) -> dict[str, bytes]:
    # the gate is a setting, and not in the data
    return tree(root / "data" / "RANDOM")


def _arguments(tmp_path: Path, root: Path, data: dict[str, Any]) -> list[str | Path]:
    return ["run", write_toml(tmp_path / "c.toml", data), "--out", root]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_number_of_workers_does_not_show_in_the_data(
    workers: str, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file = write_toml(tmp_path / "c.toml", config_data())
    done = casmore("run", file, "--out", tmp_path / "run", "--workers", workers)
    assert done.returncode == 0, done.stderr
    assert _data(tmp_path / "run") == undisturbed
    assert "12/12 units" in done.stderr  # plain lines, as there is no terminal


def test_a_killed_worker_costs_nothing_but_time(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    with held_run(tmp_path) as held:
        os.kill(workers_at_work(held.root)[0], signal.SIGKILL)
        held.open()
        output = held.end()
    assert held.process.returncode == 0, output
    assert _data(held.root) == undisturbed
    assert list((held.root / "private").iterdir()) == []


def test_a_killed_run_is_resumed_by_the_same_command(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    with held_run(tmp_path) as held:
        root, workers = held.root, workers_at_work(held.root)
        held.process.kill()  # the parent alone: its workers have to notice
        held.process.wait()
        wait_for(lambda: not any(map(is_running, workers)))
        held.open()
    before = {path: path.stat().st_mtime_ns for path in root.glob("units/*/*/unit.json")}
    assert len(before) == FREE
    assert list((root / "private").iterdir()) != []

    done = casmore(*held.arguments)
    assert done.returncode == 0, done.stderr
    assert _data(root) == undisturbed
    assert list((root / "private").iterdir()) == []
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())  # not run again
    first, second = json.loads((root / "manifest.json").read_text())["sessions"]
    assert "finished" not in first
    assert second["published"] == second["units"] == 12


def test_a_run_killed_with_all_its_processes_is_resumed(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    with held_run(tmp_path) as held:
        os.killpg(held.process.pid, signal.SIGKILL)
        held.process.wait()
        held.open()
    assert len(published(held.root)) == FREE
    done = casmore(*held.arguments)
    assert done.returncode == 0, done.stderr
    assert _data(held.root) == undisturbed


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_all_processes_and_says_how_to_resume(
    presses: int, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    with held_run(tmp_path) as held:
        root, workers = held.root, workers_at_work(held.root)
        for _ in range(presses):  # a terminal sends it to the whole group
            os.killpg(held.process.pid, signal.SIGINT)
            time.sleep(0.01)
        output = held.end()
        held.open()
    assert held.process.returncode == 130, output
    assert not any(map(is_running, workers))
    assert "Traceback" not in output
    assert f"{FREE} finished units are kept" in output
    assert list((root / "private").iterdir()) == []
    assert f"casmore run {held.arguments[1]} --out {root}" in output
    done = casmore(*held.arguments)
    assert done.returncode == 0, done.stderr
    assert _data(root) == undisturbed


def test_sigterm_is_a_stop_as_well_and_a_second_run_in_the_folder_is_refused(
    tmp_path: Path,
) -> None:
    with held_run(tmp_path) as held:
        second = casmore(*held.arguments)
        assert second.returncode == 2
        assert f"{held.root} is in use by process {held.process.pid}" in second.stderr
        assert "--out" in second.stderr
        assert held.process.poll() is None
        held.process.terminate()  # what a batch system sends, to the parent alone
        output = held.end()
    assert held.process.returncode == 143, output
    assert "to resume, give the same command" in output
    session = json.loads((held.root / "manifest.json").read_text())["sessions"][-1]
    assert "finished" in session


def test_a_run_whose_lock_is_removed_ends(tmp_path: Path) -> None:
    with held_run(tmp_path) as held:
        lock = held.root / "locks/run"
        lock.unlink()
        # of the session that could now begin
        other = held.root / "private/all/RANDOM@f001_d02_i001_r0@elsewhere@1"
        other.mkdir()
        held.open()
        output = held.end()
        assert held.process.returncode == 2
        assert f"{lock} has been removed or replaced" in output
        assert other.exists()
        before = published(held.root)
        assert FREE < len(before) < 12  # those that were running have been published
    again = casmore(*held.arguments)
    assert again.returncode == 0, again.stderr
    assert len(published(held.root)) == 12


def test_a_failed_unit_is_reported_and_the_rest_go_on(tmp_path: Path) -> None:
    root = tmp_path / "run"
    arguments = _arguments(tmp_path, root, config_data(solver="odd_solvers:FailsIn3D"))
    done = casmore(*arguments)
    assert done.returncode == 1
    assert {name[5:8] for name in published(root)} == {"d02"}
    assert len(published(root)) == 6
    assert "6 units failed" in done.stderr
    assert "RANDOM/f001_d03_i001_r0: ArithmeticError: no luck in 3-D" in done.stderr
    failure = json.loads((root / "failures/RANDOM/f001_d03_i001_r0.json").read_text())
    assert failure["error"] == "ArithmeticError: no luck in 3-D"
    assert "in tell" in failure["traceback"]
    assert sorted(p.name for p in (root / "data/RANDOM/data_f1").glob("*.dat")) == [
        "bbobexp_f1_DIM2.dat"
    ]
    # the same command tries again; what succeeds is no failure any more
    again = casmore(*arguments, CURED="yes")
    assert again.returncode == 0, again.stderr
    assert len(published(root)) == 12
    assert list((root / "failures").rglob("*.json")) == []


def test_a_unit_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    root = tmp_path / "run"
    data = config_data(
        solver="odd_solvers:ExitsIn3D",
        suite={"functions": "1", "dimensions": [2, 3], "instances": "1-2"},
    )
    done = casmore("run", write_toml(tmp_path / "c.toml", data), "--out", root)
    assert done.returncode == 1
    assert published(root) == {"f001_d02_i001_r0", "f001_d02_i002_r0"}
    assert "2 units failed" in done.stderr
    for name in ("f001_d03_i001_r0", "f001_d03_i002_r0"):
        failure = json.loads((root / f"failures/RANDOM/{name}.json").read_text())
        assert failure["error"] == "its worker process died 3 times"


def test_another_config_is_refused_with_the_difference(tmp_path: Path) -> None:
    root = tmp_path / "run"
    small = {"functions": "1", "dimensions": [2], "instances": "1"}
    file = write_toml(tmp_path / "c.toml", config_data(suite=small))
    assert casmore("run", file, "--out", root).returncode == 0

    write_toml(file, config_data(suite=small, run={"workers": 1}))  # changes no result
    assert casmore("run", file, "--out", root).returncode == 0

    changed = config_data(suite=small, seed=8, budget={"evaluations_per_dimension": 61})
    done = casmore("run", write_toml(file, changed), "--out", root)
    assert done.returncode == 2
    assert "seed: 7 there, 8 now" in done.stderr
    assert "budget.evaluations_per_dimension: 60 there, 61 now" in done.stderr
    assert "--out" in done.stderr
    assert json.loads((root / "config.json").read_text())["seed"] == 7


class _Idle:
    """Workers that end without a word, as children that can't import what they need."""

    def __init__(self) -> None:
        self.rounds = 0

    def run(self, batches: Any, place: Any, *, workers: int, tick: Any) -> Iterator[UnitOutcome]:
        self.rounds += 1
        assert list(batches)
        yield from ()


def test_a_run_whose_workers_run_nothing_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = _Idle()
    monkeypatch.setattr(backends, "make", lambda *_: idle)
    with pytest.raises(WorkerDiedError, match="the workers end without running a unit"):
        runner.run(config(), tmp_path / "run", workers=2)
    assert idle.rounds == 3


class _InThisProcess:
    """Runs the units itself."""

    def run(self, batches: Any, place: Any, *, workers: int, tick: Any) -> Iterator[UnitOutcome]:
        for batch in batches:
            yield from run_batch(batch, place)


class _ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def test_a_run_goes_on_if_nobody_reads_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "make", lambda *_: _InThisProcess())
    (tmp_path / "manifest.json").write_bytes(b"")  # of which the user is told
    summary = runner.run(config(), tmp_path, workers=1, stream=_ClosedPipe())
    assert summary.published == summary.units == 12
    (session,) = json.loads((tmp_path / "manifest.json").read_text())["sessions"]
    assert "is damaged: it is empty" in session["notes"][0]


def test_more_workers_than_a_machine_can_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"10000 workers are too many for the \d+ cores of this"):
        runner.run(config(), tmp_path / "run", workers=10_000)
    assert not (tmp_path / "run").exists()
