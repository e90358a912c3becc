"""An objective that is a program: how it is called, what counts as a failure, what is killed."""

import shlex
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from casmore.optimize.external_program import ExternalProgram, ProgramFailedError

X = np.array([1.5, -2e-300, 1 / 3])


def python(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


ECHO = python("import sys; print('|'.join(sys.argv[1:]))")


def words(command: str, *, shell: bool = False) -> str:
    """Return what the command gets, from the message that it is not a number."""
    with pytest.raises(ProgramFailedError) as failed:
        ExternalProgram(command, 3, shell=shell)(X)
    return str(failed.value)


def test_each_coordinate_is_a_word_with_all_its_digits() -> None:
    assert "'1.5|-2e-300|0.3333333333333333'" in words(f"{ECHO} {{x}}")
    assert "'--a=-2e-300|1.5,0.3333333333333333'" in words(f"{ECHO} --a={{x1}} {{x0}},{{x2}}")
    assert "'--x=1.5 -2e-300 0.3333333333333333'" in words(f"{ECHO} --x={{x}}")


def test_other_braces_and_quotes_stay() -> None:
    command = ECHO + """ '{"rate": {x0}, "{y}": {}}' '$HOME;'"""
    assert """'{"rate": 1.5, "{y}": {}}|$HOME;'""" in words(command)


def test_a_shell_runs_pipes_if_it_is_asked_for() -> None:
    assert ExternalProgram("echo {x0} | sed s/1.5/7/", 3, shell=True)(X) == 7
    with pytest.raises(ProgramFailedError, match=r"'1.5 \| sed s/1.5/7/', not a number"):
        ExternalProgram("echo {x0} | sed s/1.5/7/", 3)(X)


def test_the_last_line_is_the_value() -> None:
    code = "import sys; print('step', 1); print(2 * float(sys.argv[1])); print()"
    assert ExternalProgram(f"{python(code)} {{x}}", 3)(X) == 3.0
    assert ExternalProgram("echo -inf # {x}", 3, shell=True)(X) == -np.inf


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('3 apples')", "the last line of its output is '3 apples', not a number"),
        ("", "it printed nothing"),
        ("print(1); raise SystemExit(3)", "its exit code is 3"),
        ("print(1); raise ValueError('no convergence')", "exit code is 1: ValueError: no converg"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it was ended by SIGSEGV"),
    ],
)
def test_failures_have_a_reason(code: str, reason: str) -> None:
    with pytest.raises(ProgramFailedError, match=reason):
        ExternalProgram(f"{python(code)} {{x}}", 3)(X)


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except OSError:
        return False


def child_in_background(path: Path) -> str:
    """Return a command that starts a child, writes its id and waits for it."""
    return f"sleep 600 & echo $! > {path}.new; mv {path}.new {path}; wait; echo {{x0}}"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("way", ["timeout", "stop"])
def test_children_are_killed_too(way: str, tmp_path: Path) -> None:
    path = tmp_path / "pid"
    timeout = 5.0 if way == "timeout" else None  # the child has to start within it
    program = ExternalProgram(child_in_background(path), 3, shell=True, timeout=timeout)
    reasons: list[str] = []

    def call() -> None:
        with pytest.raises(ProgramFailedError) as failed:
            program(X)
        reasons.append(str(failed.value))

    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive() and not path.exists():
        time.sleep(0.01)
    if way == "stop":
        program.stop()
    thread.join()
    child, deadline = int(path.read_text()), time.monotonic() + 60
    while is_running(child) and time.monotonic() < deadline:  # a signal takes effect in its time
        time.sleep(0.01)
    assert not is_running(child)
    assert reasons == ["it took more than 5 s" if way == "timeout" else "it was ended by SIGKILL"]
    if way == "stop":
        with pytest.raises(ProgramFailedError, match="the run was stopped"):
            program(X)


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        ("./simulate", ValueError, r"'./simulate' has no place for the point: write \{x\}"),
        ("echo {x3}", ValueError, r"the command has \{x3\}, but the coordinates are x0 to x2"),
        ("echo '{x}", ValueError, "can't be split into words: No closing quotation"),
        ("no-such-program {x}", FileNotFoundError, "'no-such-program' of the command is not found"),
        (f"{__file__} {{x}}", FileNotFoundError, "of the command is not executable"),
    ],
)
def test_a_wrong_command_is_refused_at_once(
    command: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ExternalProgram(command, 3)
