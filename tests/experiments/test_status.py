"""What can be seen of a run from outside, while it is under way and afterwards."""

import os
import pty
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from harness import (
    casmore,
    command,
    config,
    config_data,
    environment,
    held_run,
    write_toml,
)
from odd_solvers import FREE

from casmore.atomic_io import write_json
from casmore.experiments.plan import make_plan
from casmore.experiments.status import status, text
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit


def _publish(folder: RunFolder, unit: Unit, seconds: float) -> None:
    write_json(folder.sidecar(unit), {"wall_seconds": seconds})


def test_counts_by_solver_and_dimension(tmp_path: Path) -> None:
    folder, plan = RunFolder(tmp_path), make_plan(config())
    for work in plan[:4]:  # in 2-D
        _publish(folder, work.unit, 3.0)
    for work in (plan[0], plan[6]):  # the first is done by now
        write_json(folder.failure(work.unit), {"error": "ValueError: odd"})
    now = status(folder, plan)
    assert now.units == {("RANDOM", 2): 6, ("RANDOM", 3): 6}
    assert now.done == {("RANDOM", 2): 4}
    assert now.failed == {("RANDOM", 3): 1}
    assert now.failures == {plan[6].unit: "ValueError: odd"}
    assert (now.sessions, now.per_minute, now.seconds_left) == ({}, None, None)
    assert "no session is running" in text(now)
    assert "4 of 12 units done, 1 failed" in text(now)
    assert f"failed: {plan[6].unit}: ValueError: odd" in text(now)


def test_time_left_follows_from_what_units_take_and_how_many_run(tmp_path: Path) -> None:
    folder, plan = RunFolder(tmp_path), make_plan(config())
    for work in plan[:4]:
        _publish(folder, work.unit, 8.0)
    with (
        folder.session(),
        folder.private(plan[4].unit.label, plan[4].unit.name),
        folder.private(plan[6].unit.label, plan[6].unit.name),
    ):
        # left behind by a shard that was killed: nobody runs it
        dead = RunFolder(tmp_path, "1-of-2")
        with dead.private(plan[5].unit.label, plan[5].unit.name):
            now = status(folder, plan)
    assert now.running == {("RANDOM", 2): 1, ("RANDOM", 3): 1}
    # two in 2-D at 8 s; six in 3-D, where budget and steps are 3/2 as large: 18 s; two at once
    assert now.seconds_left == pytest.approx((2 * 8 + 6 * 18) / 2)
    assert now.per_minute is not None
    assert now.per_minute > 0
    assert f"running: all units, process {os.getpid()}" in text(now)


def test_a_clock_that_was_set_does_not_matter(tmp_path: Path) -> None:
    folder, plan = RunFolder(tmp_path), make_plan(config())
    for work, then in zip(plan, (0, 2**31, 2**33), strict=False):
        _publish(folder, work.unit, 1.0)
        os.utime(folder.sidecar(work.unit), (then, then))
    with folder.session():
        assert status(folder, plan).per_minute == 0.0


def test_status_of_a_run_under_way_and_of_one_that_was_killed(tmp_path: Path) -> None:
    with held_run(tmp_path) as held:
        seen = casmore("status", held.root)
        assert seen.returncode == 0, seen.stderr
        assert f"running: all units, process {held.process.pid} on" in seen.stdout
        assert "units/min" in seen.stdout
        assert "left" in seen.stdout
        assert "\x1b" not in seen.stdout  # there is no terminal
        assert held.process.poll() is None
        os.killpg(held.process.pid, signal.SIGKILL)
        held.end()
    seen = casmore("status", held.root)
    assert "no session is running" in seen.stdout
    assert "running," not in seen.stdout
    assert f"{FREE} of 12 units done" in seen.stdout


def test_in_a_terminal_the_status_follows_the_run_to_its_end(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    shown = b""
    with held_run(tmp_path) as held:
        follower = subprocess.Popen(
            command("status", held.root), env=environment(TERM="xterm"), stdout=theirs, text=True
        )
        os.close(theirs)
        with suppress(OSError):  # how Linux says that the other end is closed
            while block := os.read(ours, 4096):
                shown += block
                if b"running: all units" in shown:
                    held.open()
        assert follower.wait() == 0
        held.end()
    os.close(ours)
    assert held.process.returncode == 0
    assert b"running: all units" in shown
    assert b"12 of 12 units done" in shown


def test_a_run_can_be_looked_at_without_its_solvers(tmp_path: Path) -> None:
    root = tmp_path / "run"
    small = {"functions": "1", "dimensions": [2], "instances": "1"}
    file = write_toml(tmp_path / "c.toml", config_data(suite=small))
    assert casmore("run", file, "--out", root).returncode == 0
    seen = casmore("status", root, PYTHONPATH="")  # odd_solvers is not found there
    assert "1 of 1 units done" in seen.stdout, seen.stderr
