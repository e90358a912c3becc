"""From the words of a command to its exit code: help, mistakes, what is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from casmore.cli import main
from cli.command_line import casmore

COMMANDS = (
    "minimize", "run", "bench", "status", "verify", "merge", "report", "league", "export",
    "archive", "solvers", "check-solver",
)  # fmt: skip


def test_without_a_command_there_is_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(f"\n    {command}" in shown for command in COMMANDS)


def test_a_mistyped_command_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["rnu", "quick"]) == 2
    error = capsys.readouterr().err
    assert "there is no command 'rnu'; did you mean 'run'? (commands: run, status" in error
    assert main(["frobnicate"]) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_a_mistyped_option_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option in ("--worker", "--worker=2"):
        with pytest.raises(SystemExit) as ended:
            main(["run", "quick", option])
        assert ended.value.code == 2
        error = capsys.readouterr().err
        assert error.startswith("usage: casmore run")
        assert f"unrecognized arguments: {option}; did you mean '--workers'?" in error
    with pytest.raises(SystemExit):
        main(["run", "quick", "extra"])
    assert "did you mean" not in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    import casmore as package

    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"casmore {package.__version__}\n"


@pytest.mark.parametrize(
    "missing",
    [("cocoex", "run", "small"), ("loky", "run", "small"), ("pydantic", "report", "small")],
)
def test_a_missing_extra_is_no_traceback(missing: tuple[str, ...], done: Path) -> None:
    package, *arguments = missing
    ended = casmore(*arguments, code=f"import sys; sys.modules[{package!r}] = None")
    assert ended.returncode == 2
    assert f"needs the package {package!r}: pip install 'casmore[bbob]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_error_in_this_package_s_own_imports_is_shown_in_full(done: Path) -> None:
    ended = casmore("status", "small", code="import sys; sys.modules['casmore.experiments'] = None")
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


def test_optimized_python_has_no_docstrings_and_no_assertions(done: Path) -> None:
    python = ("-OO",)
    assert casmore("report", "--help", python=python).returncode == 0
    ended = casmore("check-solver", "random-search", python=python)
    assert (ended.returncode, ended.stderr) == (0, "")
    ended = casmore("run", "small", "--out", "again", python=python)
    assert ended.returncode == 0, ended.stderr
    assert main(["verify", "again"]) == 0


def test_python_m_casmore_is_the_command(done: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "casmore", "status", "small"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.startswith("runs/small\n2 of 2 units done\n")
