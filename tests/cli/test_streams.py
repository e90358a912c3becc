"""Standard streams that are closed, full or know ASCII only; a notebook's environment."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from casmore.cli import main
from cli.command_line import casmore


def _shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell's line, in which ``casmore`` is the command."""
    program = shlex.join([sys.executable, "-m", "casmore"])
    return subprocess.run(
        ["sh", "-c", command.replace("casmore", program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_has_seen_enough_gets_no_traceback(unbuffered: str) -> None:
    """As in ``casmore solvers | head``."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "casmore", "solvers"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_run_does_not_end_with_the_reader_of_its_log(project: Path) -> None:
    """As in ``casmore run small 2>&1 | head -1``."""
    reading, writing = os.pipe()
    os.close(reading)
    done = casmore("run", "small", stdout=writing, stderr=writing, capture_output=False)
    os.close(writing)
    assert done.returncode == 1  # not all could be said
    assert main(["status", "small"]) == 0
    assert len(list(project.glob("runs/small/units/CAS-MORE/*/unit.json"))) == 2
    assert list(project.glob("runs/small/data/CAS-MORE/*.info"))


def test_a_run_with_closed_streams_is_a_run_like_any_other(project: Path) -> None:
    done = _shell("casmore run small <&- >&- 2>&-")
    assert done.returncode == 0, done.stderr
    assert len(list(project.glob("runs/small/units/CAS-MORE/*/unit.json"))) == 2
    assert main(["verify", "small"]) == 0


def test_a_full_disk_behind_standard_output() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = _shell("casmore solvers >/dev/full")
    assert (done.returncode, done.stderr) == (1, "casmore: No space left on device\n")


def test_output_that_knows_ascii_only(done: Path) -> None:
    (done / "runs" / "small").rename(done / "runs" / "größer")
    shown = _shell("casmore status runs/gr*", PYTHONIOENCODING="ascii", PYTHONUTF8="1")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[:2] == [r"runs/gr\xf6\xdfer", "2 of 2 units done"]


def test_a_file_name_that_is_no_text_is_printed_as_it_is(done: Path) -> None:
    name = os.fsencode(done / "runs") + b"/\xff\xe9"
    os.rename(done / "runs" / "small", name)
    program = [os.fsencode(word) for word in (sys.executable, "-m", "casmore", "status")]
    shown = subprocess.run([*program, name], capture_output=True, check=True).stdout
    assert shown.splitlines()[0] == name


def test_a_deleted_working_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for command in ("casmore run small", "casmore status small", "casmore solvers"):
        gone.mkdir(exist_ok=True)
        done = _shell(f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && {command}")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "casmore: the working directory has been deleted; change to another one\n"
        )


def test_a_notebook_s_backend_of_matplotlib_is_of_no_concern() -> None:
    notebook = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_nowhere"}
    done = casmore("check-solver", "cma", env=notebook)
    assert done.returncode == 0, done.stderr
    code = "import casmore.experiments.limits as l; print(l.ENVIRONMENT['MPLBACKEND'])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "Agg\n"
