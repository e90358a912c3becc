"""docs/minimize.md: its examples run as they stand."""

import json
from pathlib import Path

import pytest
from clones import blocks, run

PAGE = "docs/minimize.md"
CODES = blocks(PAGE, "python")
PROGRAMS = [code for code in CODES if "sys.argv" in code]
EXAMPLES = [code for code in CODES if code not in PROGRAMS]


@pytest.mark.parametrize("i", range(len(EXAMPLES)))
def test_an_example_runs(i: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[i], f"{PAGE}, example {i}", "exec"), {})


def test_the_program_is_minimized(tmp_path: Path) -> None:
    (program,) = PROGRAMS
    (command,) = blocks(PAGE, "bash")
    (tmp_path / "simulate.py").write_text(program)
    shown = run(command, tmp_path).splitlines()
    (printed,) = blocks(PAGE, "text")
    assert [line.split()[0] for line in shown] == [line.split()[0] for line in printed.splitlines()]
    result = json.loads((tmp_path / "runs/minimize/result.json").read_text())
    assert result["x"] == pytest.approx([0.3, 2], abs=1e-3)
    assert result["evaluations"] == 40
