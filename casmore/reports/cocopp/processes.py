"""Several processes beside each other, at most as many as there are cores, none left behind."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from casmore.experiments.limits import ONE_THREAD

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Task:
    """A command, and the file that all it prints goes to."""

    name: str
    command: tuple[str, ...]
    log: Path


@dataclass(frozen=True)
class Outcome:
    """How a task ended, and after how many seconds."""

    task: Task
    code: int
    seconds: float


def run(
    tasks: Sequence[Task], ended: Callable[[Outcome], None], *, scratch: Path, at_once: int
) -> None:
    """Run all tasks, started in their order.

    Whatever ends this early, Ctrl-C or an exception of ``ended``, ends the tasks as well.

    Parameters
    ----------
    tasks
        What to run.
    ended
        Called as soon as a task has ended.
    scratch
        Where they put temporary files; they may be killed, so removing it is the caller's.
    at_once
        How many run at the same time.
    """
    # each is one busy thread; more of them would only fight with the others, or with a run
    environment = {**os.environ, **ONE_THREAD, "TMPDIR": str(scratch)}
    waiting = list(tasks)
    running: dict[subprocess.Popen[bytes], tuple[Task, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                task = waiting.pop(0)
                running[_start(task, environment)] = task, time.monotonic()
            time.sleep(_POLL_SECONDS)
            for process in [process for process in running if process.poll() is not None]:
                task, began = running.pop(process)
                ended(Outcome(task, process.returncode, time.monotonic() - began))
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def _start(task: Task, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with task.log.open("wb") as log:
        return subprocess.Popen(
            task.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
