"""The same bytes from every backend, with real schedulers, workers and jobs; and what they miss."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import (
    HERE,
    casmore,
    config,
    config_data,
    environment,
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

from casmore.experiments import backends
from casmore.experiments.backends.cell import run_in_cell
from casmore.experiments.config.base import Run
from casmore.experiments.plan import make_plan
from casmore.experiments.runner import run
from casmore.experiments.shard import WHOLE
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import UnitOutcome, Workplace

PATH = [str(HERE), *sys.path]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return tree(run_sequentially(config(), tmp_path_factory.mktemp("sequential")))


@contextmanager
def _process(*arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, arguments)],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[tuple[str, list["subprocess.Popen[str]"]]]:
    """A scheduler and two worker processes, on the loopback interface alone."""
    file = tmp_path / "scheduler.json"
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    with ExitStack() as stack:
        scheduler = ["distributed.cli.dask_scheduler", *local, "--port", "0"]
        stack.enter_context(_process(*scheduler, "--scheduler-file", file))
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        assert address.startswith("tcp://127.0.0.1:")
        worker = ["distributed.cli.dask_worker", address, *local, "--nthreads", "1", "--no-nanny"]
        workers = [
            stack.enter_context(_process(*worker, "--local-directory", tmp_path / f"dask{i}"))
            for i in range(2)
        ]
        yield address, workers


@pytest.mark.slow
def test_dask_loses_a_worker_and_nothing_else(
    dask: tuple[str, list["subprocess.Popen[str]"]], tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    address, workers = dask
    section = {"workers": 2, "backend": "dask", "dask": {"scheduler": address}}
    with held_run(tmp_path, run=section) as held:
        root, children = held.root, workers_at_work(held.root)
        workers[0].kill()  # in the middle of a trial; the child that runs it has to notice
        held.open()
        output = held.end()
    assert held.process.returncode == 0, output
    assert len(published(root)) == 12
    assert tree(root / "data/RANDOM") == undisturbed
    assert sum(map(is_running, children)) <= 1  # that of the other worker waits for more
    (session,) = json.loads((root / "manifest.json").read_text())["sessions"]
    assert session["backend"] == "dask"


def test_dask_s_scheduler_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("casmore.experiments.backends.dask._CONNECT_SECONDS", 1)
    backend = backends.make(
        Run.model_validate({"backend": "dask", "dask": {"scheduler": "tcp://127.0.0.1:9"}})
    )
    place = Workplace(tmp_path, WHOLE, "token")
    with pytest.raises(backends.BackendError, match=r"'tcp://127.0.0.1:9': no dask scheduler"):
        list(backend.run([], place, workers=1, tick=lambda: None))


@pytest.mark.slow
def test_a_job_array_of_submitit_s_local_executor(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    section = {"workers": 2, "backend": "slurm", "slurm": {"cluster": "local"}}
    with held_run(tmp_path, run=section) as held:
        jobs = workers_at_work(held.root)
        held.process.send_signal(signal.SIGINT)
        output = held.end()
        wait_for(lambda: not any(map(is_running, jobs)))  # cancelled
        held.open()
    assert held.process.returncode == 130, output
    assert len(published(held.root)) == FREE
    again = casmore(*held.arguments)
    assert again.returncode == 0, again.stderr
    assert tree(held.root / "data/RANDOM") == undisturbed
    assert re.search(r"\b12/12 units", again.stderr)


def test_slurm_where_there_is_none(tmp_path: Path) -> None:
    file = write_toml(tmp_path / "c.toml", config_data(run={"backend": "slurm"}))
    done = casmore("run", file, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "backend = \"slurm\", cluster = 'slurm': can't submit jobs" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("package", "section"),
    [
        ("distributed", {"backend": "dask", "dask": {"scheduler": "tcp://127.0.0.1:9"}}),
        ("submitit", {"backend": "slurm"}),
    ],
)
def test_a_missing_package(
    package: str, section: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        backends.BackendError,
        match=rf"needs the package '{package}': pip install 'casmore\[{section['backend']}\]'",
    ):
        backends.make(Run.model_validate(section))


def test_a_cell_says_of_which_unit_it_died(tmp_path: Path) -> None:
    plan = make_plan(config(solver="odd_solvers:ExitsIn3D"))
    batch = (plan[0], plan[6], plan[7])  # in 2-D, and two in 3-D
    folder = RunFolder(tmp_path)
    with folder.session() as token:
        place = Workplace(tmp_path, WHOLE, token)
        (outcome,) = run_in_cell(batch, place, PATH, None)
        assert (outcome.unit, outcome.worker_died) == (plan[6].unit, True)
        assert folder.leftovers() == []
        assert set(folder.published()) == {plan[0].unit}
        # the next batch gets a new child; what is published is not run again
        first, second = run_in_cell((plan[0], plan[1]), place, PATH, None)
        assert (first.error, second.error) == (None, None)
    # the session is over: nothing is begun for it any more
    assert run_in_cell((plan[2],), place, PATH, None) == []


class InCells:
    """A backend of one worker, in this process."""

    def run(
        self,
        batches: Iterable[backends.Batch],
        place: Workplace,
        *,
        workers: int,
        tick: Callable[[], None],
    ) -> Iterator[UnitOutcome]:
        for batch in batches:
            yield from run_in_cell(batch, place, PATH, None)
            tick()


def test_a_unit_that_kills_its_cell_is_given_up_and_the_rest_of_its_batch_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "make", lambda run, workers: InCells())
    suite = {"functions": "1", "dimensions": [2, 3], "instances": "1"}
    experiment = config(suite=suite, solver="odd_solvers:ExitsIn3D")
    summary = run(experiment, tmp_path / "run", workers=1, stream=io.StringIO())
    assert published(tmp_path / "run") == {"f001_d02_i001_r0"}
    ((unit, error),) = summary.failures.items()
    assert unit.name == "f001_d03_i001_r0"
    assert error == "its worker process died 3 times"
