"""``casmore solvers``: the list; ``check-solver`` of a module that can't be imported."""

from pathlib import Path

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


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("cut_short", "def f(", "SyntaxError: '(' was never closed (cut_short.py, line 1)"),
        ("a_script", "import sys; sys.exit(4)", "SystemExit: 4"),
    ],
)
def test_a_module_that_cannot_be_imported_is_no_traceback(
    name: str,
    content: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name}.py").write_text(content)
    assert main(["check-solver", f"{name}:f"]) == 2
    assert capsys.readouterr().err == f"casmore: importing '{name}:f' fails: {reason}\n"
