"""What the tests of the harness share: small configs, the command in a process, files compared."""

import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocoex
import numpy as np
import pytest
from odd_solvers import FREE

from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan
from casmore.experiments.work_unit import ObservedWork, Unit
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, UniformStart

HERE = Path(__file__).parent


def config_data(**sections: Any) -> dict[str, Any]:
    """Return the content of a small config; ``solver`` and ``gate`` go to its one solver."""
    solver = sections.pop("solver", "odd_solvers:RandomSearch")
    settings = {"gate": str(sections.pop("gate"))} if "gate" in sections else {}
    return {
        "name": "tiny",
        "seed": 7,
        "suite": {"functions": "1,8", "dimensions": [2, 3], "instances": "1-3"},
        "budget": {"evaluations_per_dimension": 60},
        "solvers": [{"name": solver, "label": "RANDOM", "settings": settings}],
        "run": {"workers": 2},
        **sections,
    }


def config(**sections: Any) -> Config:
    experiment = check(config_data(**sections))
    assert isinstance(experiment, Config)  # and not a study
    return experiment


def write_toml(path: Path, data: dict[str, Any]) -> Path:
    """Write a config of the form of ``config_data`` as TOML."""
    lines: list[str] = []

    def table(header: str, content: dict[str, Any]) -> None:
        lines.append(header)
        lines.extend(f"{key} = {_toml(value)}" for key, value in content.items())

    scalars = {key: value for key, value in data.items() if not isinstance(value, dict | list)}
    lines.extend(f"{key} = {_toml(value)}" for key, value in scalars.items())
    for key, value in data.items():
        if isinstance(value, dict):
            table(f"[{key}]", value)
        elif key == "solvers":
            for solver in value:
                table("[[solvers]]", solver)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return str(value).replace("'", '"') if not isinstance(value, str) else f'"{value}"'


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "casmore", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE), **more}


def casmore(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        command(*arguments),
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command at the head of a process group of its own, as a terminal does."""
    return subprocess.Popen(
        command(*arguments),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_for(condition: Callable[[], Any]) -> None:
    """Wait until ``condition`` holds; pytest's own limit ends a test that waits for ever."""
    while not condition():
        time.sleep(0.02)


@dataclass(frozen=True)
class HeldRun:
    """A run whose workers wait in the middle of a trial, after `odd_solvers.FREE` others."""

    arguments: tuple[str | Path, ...]
    root: Path
    gate: Path
    process: "subprocess.Popen[str]"

    def open(self) -> None:
        """Let the workers, and those of any later run, go through."""
        (self.gate / "open").touch()

    def end(self) -> str:
        """Wait for the end of the process; return what it has printed."""
        output, _ = self.process.communicate()
        return output


@contextmanager
def held_run(folder: Path, *options: str, **sections: Any) -> Iterator[HeldRun]:
    """Start a run of a config of the form of ``config_data`` in ``folder``/run, and hold it."""
    gate = folder / "gate"
    gate.mkdir()
    file = write_toml(folder / "c.toml", config_data(gate=gate, **sections))
    arguments: tuple[str | Path, ...] = ("run", file, "--out", folder / "run", *options)
    held = HeldRun(arguments, folder / "run", gate, start(*arguments))
    workers = config_data(**sections)["run"]["workers"]
    try:
        wait_for(
            lambda: (
                held.process.poll() is not None
                or (len(published(held.root)), len(workers_at_work(held.root))) == (FREE, workers)
            )
        )
        assert held.process.poll() is None, held.end()
        yield held
    finally:
        if held.process.poll() is None:
            os.killpg(held.process.pid, signal.SIGKILL)
            held.process.communicate()


def published(root: Path) -> set[str]:
    return {path.parent.name for path in root.glob("units/*/*/unit.json")}


def workers_at_work(root: Path) -> list[int]:
    """Return the processes that are running a unit."""
    return [int(path.name.rpartition("@")[2]) for path in root.glob("private/*/*@f*@*@*")]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write into ``folder``, not even root, whom no permission stops."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    bind = ["mount", "--bind", str(folder), str(folder)]
    if shutil.which("mount") is None or subprocess.run(bind, check=False).returncode:
        pytest.skip("mounting is not permitted")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def is_running(pid: int) -> bool:
    """Whether a process is there, and more than a corpse that its parent has not seen yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder with their content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def run_sequentially(experiment: Config, outer: Path) -> Path:
    """Run a config's first solver as COCO's own example does: one observer, one loop.

    This shares the seeds and the solver with the harness, and nothing else.
    """
    work = [
        w
        for w in make_plan(experiment)
        if isinstance(w, ObservedWork) and w.unit.label == experiment.solvers[0].label
    ]
    observer = cocoex.Observer(
        "bbob",
        {
            "outer_folder": str(outer),
            "result_folder": "sequential",
            "algorithm_name": work[0].unit.label,
            "algorithm_info": work[0].algorithm_info,
        },
    )
    folder = Path(observer.result_folder)
    for item, problem in zip(work, _problems(experiment, work), strict=True):
        assert problem.id_triple == (item.unit.function, item.unit.dimension, item.unit.instance)
        problem.observe_with(observer)
        solver = Restarting(
            registry.factory(item.solver),
            UniformStart(item.unit.dimension, experiment.start.lower, experiment.start.upper),
            item.sigma0,
            policy=item.restarts,
            population_size=item.population_size,
            seed=item.seed,
            settings=item.settings,
        )
        restarts, hit = 0, False
        while problem.evaluations < item.budget and not hit:
            X = solver.ask()
            if solver.restarts != restarts:
                restarts = solver.restarts
                observer.signal_restart(problem)
            y = []
            for x in X:
                y.append(problem(x))
                hit = problem.final_target_hit or _logged(folder, item.unit) <= 1e-8
                if problem.evaluations == item.budget or hit:
                    break
            if len(y) == len(X):
                solver.tell(X, y)  # type: ignore[arg-type]
        problem.free()
    del problem, observer
    return folder


def _problems(experiment: Config, work: Sequence[ObservedWork]) -> Iterator[cocoex.Problem]:
    """Yield a config's problems, from one suite; but where there is noise, each from a new one."""
    selected = experiment.suite
    options = " ".join(
        [
            "dimensions:" + ",".join(map(str, selected.dimensions)),
            "function_indices:" + ",".join(str(f % 100) for f in selected.functions),
        ]
    )
    instances = "instances:" + ",".join(map(str, selected.instances or ()))
    year = f"year:{selected.year}" if selected.year else instances
    suite = cocoex.Suite(selected.name, year, options)
    assert len(suite) == len(work)
    for item, index in zip(work, range(len(suite)), strict=True):
        if selected.name == "bbob-noisy":
            suite = cocoex.Suite(selected.name, year, options)
            # any function with Cauchy noise takes two normal numbers and a uniform one
            with cocoex.Suite(
                "bbob-noisy", "instances:1", "dimensions:2 function_indices:3"
            ).get_problem(0) as other:
                for _ in range(item.noise_offset):
                    other(np.zeros(2))
        yield suite.get_problem(index)


def _logged(folder: Path, unit: Unit) -> float:
    """Return the best precision in COCO's log, where it does not tell when the target is hit."""
    if unit.function <= 100:
        return math.inf
    name = f"data_f{unit.function}/bbobexp_f{unit.function}_DIM{unit.dimension}.dat"
    return float((folder / name).read_text().splitlines()[-1].split()[2])
