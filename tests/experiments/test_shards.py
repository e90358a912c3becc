"""Parts of a plan, run in any order and at the same time, and what they come to together."""

import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from harness import (
    casmore,
    config,
    config_data,
    published,
    run_sequentially,
    start,
    tree,
    wait_for,
    workers_at_work,
    write_toml,
)
from odd_solvers import FREE

from casmore.experiments.plan import make_plan
from casmore.experiments.shard import Shard
from casmore.experiments.store.run_folder import RunFolder, RunLockedError


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return tree(run_sequentially(config(), tmp_path_factory.mktemp("sequential")))


def _config(tmp_path: Path, **sections: Any) -> Path:
    return write_toml(tmp_path / "c.toml", config_data(**{"run": {"workers": 1}, **sections}))


def test_shards_are_disjoint_complete_and_alike() -> None:
    plan = make_plan(config(suite={"functions": "1-24", "dimensions": [2, 5], "instances": "1-15"}))
    parts = [Shard(i, 16).of(plan) for i in range(1, 17)]
    assert sorted(str(w.unit) for part in parts for w in part) == sorted(str(w.unit) for w in plan)
    assert {len(part) for part in parts} == {45}
    for part in parts:
        dimensions = Counter(work.unit.dimension for work in part)
        assert abs(dimensions[2] - dimensions[5]) <= 1
        assert len({work.unit.function for work in part}) > 12
        assert list(part) == [work for work in plan if work in part]  # in the plan's order
    assert Shard(1, 1).of(plan) == plan
    assert Shard(3, 16).of(plan[:2]) == ()  # more parts than units


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "-1/4", "1.5/2", "a/b"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ValueError, match="shard"):
        Shard.parse(text)


def test_a_wrong_shard_has_started_nothing(tmp_path: Path) -> None:
    done = casmore("run", _config(tmp_path), "--out", tmp_path / "run", "--shard", "4/3")
    assert done.returncode == 2
    assert "shard 4/3: the first number is one of 1 to 3" in done.stderr
    assert not (tmp_path / "run").exists()


def test_shards_in_any_order_and_at_once_give_the_whole(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    root, file = tmp_path / "run", _config(tmp_path)
    last = casmore("run", file, "--out", root, "--shard", "3/3")
    assert last.returncode == 0, last.stderr
    assert "4 of 4 units of shard 3/3 are done" in last.stdout
    assert f"casmore merge {root}" in last.stdout
    assert len(published(root)) == 4
    assert not (root / "data").exists()

    both = [start("run", file, "--out", root, "--shard", part) for part in ("2/3", "1/3")]
    for process in both:
        output, _ = process.communicate()
        assert process.returncode == 0, output
    merged = casmore("merge", root)
    assert merged.returncode == 0, merged.stderr
    assert "12 of 12 units are done" in merged.stdout
    assert tree(root / "data/RANDOM") == undisturbed
    sessions = json.loads((root / "manifest.json").read_text())["sessions"]
    assert sorted(session["share"] for session in sessions) == ["1-of-3", "2-of-3", "3-of-3"]
    assert all("finished" in session for session in sessions)
    # what is published is not run again, also by who has other shards
    before = {path: path.stat().st_mtime_ns for path in root.rglob("unit.json")}
    assert casmore("run", file, "--out", root, "--shard", "1/2").returncode == 0
    assert casmore("run", file, "--out", root).returncode == 0
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("unit.json")}


def test_a_killed_shard_beside_one_that_is_not(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    root, gate = tmp_path / "run", tmp_path / "gate"
    gate.mkdir()
    file = _config(tmp_path, gate=gate)
    other = start("run", file, "--out", root, "--shard", "2/2")
    one = start("run", file, "--out", root, "--shard", "1/2")
    wait_for(lambda: len(published(root)) == FREE and len(workers_at_work(root)) == 2)
    twice = casmore("run", file, "--out", root, "--shard", "1/2")
    assert twice.returncode == 2
    assert f"shard 1/2 of {root} is in use by process {one.pid} on {os.uname().nodename}" in (
        twice.stderr
    )
    whole = RunFolder(root)
    with (
        pytest.raises(RunLockedError, match=rf"by shards: shard 1/2 \(process {one.pid}"),
        whole.session(),
    ):
        pass
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()
    (gate / "open").touch()
    output, _ = other.communicate()
    assert other.returncode == 0, output
    assert len(published(root)) < 12
    again = casmore("run", file, "--out", root, "--shard", "1/2")
    assert again.returncode == 0, again.stderr
    assert casmore("merge", root).returncode == 0
    assert tree(root / "data/RANDOM") == undisturbed
    assert workers_at_work(root) == []


def test_a_shard_of_another_config_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "run"
    small = {"functions": "1", "dimensions": [2], "instances": "1-2"}
    file = _config(tmp_path, suite=small)
    assert casmore("run", file, "--out", root, "--shard", "1/2").returncode == 0
    file = _config(tmp_path, suite=small, seed=8)
    other = casmore("run", file, "--out", root, "--shard", "2/2")
    assert other.returncode == 2
    assert "seed: 7 there, 8 now" in other.stderr
