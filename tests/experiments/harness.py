"""What the tests of the harness share: small configs, the command in a process, files compared."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocoex
import pytest
from odd_solvers import FREE

from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan
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
    """Run a config's first solver as COCO's own example does: one suite, one observer, one loop.

    This shares the seeds and the solver with the harness, and nothing else.
    """
    work = [w for w in make_plan(experiment) if w.unit.label == experiment.solvers[0].label]
    suite_options = " ".join(
        [
            "dimensions:" + ",".join(map(str, experiment.suite.dimensions)),
            "function_indices:" + ",".join(map(str, experiment.suite.functions)),
        ]
    )
    instances = "instances:" + ",".join(map(str, experiment.suite.instances or ()))
    year = experiment.suite.year
    suite = cocoex.Suite("bbob", f"year:{year}" if year else instances, suite_options)
    observer = cocoex.Observer(
        "bbob",
        {
            "outer_folder": str(outer),
            "result_folder": "sequential",
            "algorithm_name": work[0].unit.label,
            "algorithm_info": work[0].algorithm_info,
        },
    )
    assert len(suite) == len(work)
    for item, problem in zip(work, suite, strict=True):
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
        restarts = 0
        while problem.evaluations < item.budget and not problem.final_target_hit:
            X = solver.ask()
            if solver.restarts != restarts:
                restarts = solver.restarts
                observer.signal_restart(problem)
            y = []
            for x in X:
                y.append(problem(x))
                if problem.evaluations == item.budget or problem.final_target_hit:
                    break
            if len(y) == len(X):
                solver.tell(X, y)  # type: ignore[arg-type]
        problem.free()
    folder = Path(observer.result_folder)
    del problem, observer, suite
    return folder
