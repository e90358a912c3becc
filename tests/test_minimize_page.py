"""docs/minimize.md: its examples run as they stand."""

from pathlib import Path

import pytest
from clones import blocks


@pytest.mark.parametrize("i", range(6))
def test_an_example_runs(i: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = blocks("docs/minimize.md", "python")
    assert len(codes) == 6
    monkeypatch.chdir(tmp_path)
    exec(compile(codes[i], f"docs/minimize.md, example {i}", "exec"), {})
