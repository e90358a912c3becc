"""What is imported before a command does its work; modules, as seconds depend on the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "scipy", "matplotlib", "cma", "cocoex", "pydantic", "rich", "loky"}


def _imported(*arguments: str, **environment: str) -> set[str]:
    """Return the top-level packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "casmore", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "casmore.cli.entry_point" in names
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "arguments",
    [[], ["--help"], ["--version"], ["run", "--help"], ["report", "--help"], ["solvers"], ["rnu"]],
    ids=" ".join,
)
def test_help_and_lists_import_nothing_heavy(arguments: list[str]) -> None:
    assert _imported(*arguments) & HEAVY == set()


def test_a_command_that_needs_numpy_does_import_it() -> None:
    assert "numpy" in _imported("check-solver", "random-search")


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("casmore ru", {"run "}),
        ("casmore run sm", {"small "}),
        ("casmore run small --wo", {"--workers "}),
        ("casmore status ", {"small"}),
        ("casmore check-solver lean", {"lean-cas-more "}),
    ],
)
def test_completion_knows_configs_runs_and_solvers(
    line: str, completed: set[str], done: Path
) -> None:
    file = done / "completions"
    imported = _imported(
        _ARGCOMPLETE="1",
        _ARGCOMPLETE_STDOUT_FILENAME=str(file),
        _ARGCOMPLETE_IFS="\n",
        COMP_LINE=line,
        COMP_POINT=str(len(line)),
    )
    assert completed <= set(file.read_text().split("\n"))
    assert imported & HEAVY == set()
