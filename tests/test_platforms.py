"""Other systems, simulated: Windows has no ``fcntl``, macOS takes no notice of a memory limit."""

import subprocess
import sys
from pathlib import Path

import pytest

from casmore.experiments import backends
from casmore.experiments.config.base import Run

# modules, signals and functions that Python on Windows lacks
WINDOWS = """
import os, signal, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios", "pty"):
    sys.modules[name] = None
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)
for name in ("fork", "killpg", "sched_getaffinity"):
    delattr(os, name)
"""
# what its disk refuses; modules that look for DLLs have to be there before
WINDOWS_DISK = """
import concurrent.futures.process, matplotlib.pyplot, scipy.optimize
sys.platform = "win32"
open_, fsync, reading = os.open, os.fsync, set()

def open_on_windows(path, flags, *mode, **options):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    descriptor = open_(path, flags, *mode, **options)
    (reading.discard if flags & (os.O_WRONLY | os.O_RDWR) else reading.add)(descriptor)
    return descriptor

def fsync_on_windows(descriptor):
    if descriptor in reading:
        raise OSError(9, "Bad file descriptor")
    fsync(descriptor)

os.open, os.fsync = open_on_windows, fsync_on_windows
"""


def _on_windows(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WINDOWS + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_library_works_on_windows(tmp_path: Path) -> None:
    done = _on_windows(
        WINDOWS_DISK + "import casmore\n"
        "f = lambda x: ((x - 1) ** 2).sum()\n"
        "for lean in (False, True):\n"
        "    result = casmore.fmin(f, [0, 0], 0.5, target=1e-9, seed=1, lean=lean, trace=True)\n"
        "    assert result.success\n"
        "casmore.plot(result.trace)\n"
        "from pathlib import Path\n"
        "result.trace.save(Path(sys.argv[1]))\n"
        "assert len(casmore.Trace.load(Path(sys.argv[1]))) == len(result.trace)\n",
        str(tmp_path / "trace.npz"),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["solvers"], ["check-solver", "cas-more"], ["--help"]])
def test_commands_without_an_experiment_work_on_windows(arguments: list[str]) -> None:
    done = _on_windows("from casmore.cli import main; sys.exit(main())", *arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["run", "status", "report"])
def test_experiments_say_on_windows_where_they_work(command: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    (tmp_path / "c.toml").touch()
    what = tmp_path / ("c.toml" if command == "run" else "")
    done = _on_windows("from casmore.cli import main; sys.exit(main())", command, str(what))
    assert done.returncode == 2
    assert done.stderr.startswith("casmore: experiments and reports need Linux or macOS, or on ")
    assert "Traceback" not in done.stderr


def test_a_memory_limit_is_refused_where_it_would_be_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Run.model_validate({"memory_gib": 4.5})
    assert backends.make(settings)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert backends.make(Run())
    with pytest.raises(backends.BackendError, match=r"memory_gib = 4.5: only Linux enforces"):
        backends.make(settings)
