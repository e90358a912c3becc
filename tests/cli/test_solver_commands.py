"""``casmore solvers``: the list."""

import pytest

from casmore.cli import main
from casmore.solvers import registry
from cli.command_line import casmore


def test_solvers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solvers"]) == 0
    listed = capsys.readouterr().out
    for solver in registry.registered():
        assert solver.name in listed
        assert solver.description in listed


def test_solvers_are_listed_without_the_extras() -> None:
    blocked = "import sys; sys.modules.update(cma=None, cocoex=None, pydantic=None, loky=None)"
    done = casmore("solvers", code=blocked)
    assert done.returncode == 0, done.stderr
    assert "to install: pip install 'casmore[cma]'" in done.stdout
