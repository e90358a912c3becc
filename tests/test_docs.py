"""docs/studies.md, done as it says, with the studies made small."""

import re
import sys
from pathlib import Path

import pytest
from clones import blocks, clone, run

PAGE = "docs/studies.md"


def small(text: str) -> str:
    """Return a study's config with one short run of each variant."""
    text, runs = re.subn(r"^runs = \d+", "runs = 1", text, flags=re.MULTILINE)
    text, budget = re.subn(r"^evaluations = [\d_]+", "evaluations = 300", text, flags=re.MULTILINE)
    assert runs == budget == 1
    return text


@pytest.mark.timeout(600)
def test_the_commands_run_in_a_clone(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    studies = [path for path in (folder / "configs").iterdir() if "[study]" in path.read_text()]
    assert len(studies) == 4
    for path in studies:
        path.write_text(small(path.read_text()))
    for picture in (folder / "results").glob("*.png"):
        picture.unlink()
    for block in blocks(PAGE, "bash"):
        for command in block.splitlines():
            run(command, folder)
    made = {path.stem for path in (folder / "results").glob("*.png")}
    assert {"rosenbrock", "ablation", "sensitivity", "live_view"} <= made


def test_a_study_of_ones_own_and_its_traces(tmp_path: Path) -> None:
    (config,) = blocks(PAGE, "toml")
    (tmp_path / "mine.toml").write_text(small(config))
    run("casmore run mine.toml && casmore report runs/mine", tmp_path)
    for i, code in enumerate(blocks(PAGE, "python")):
        (tmp_path / f"block{i}.py").write_text(code)
        run(f"{sys.executable} block{i}.py", tmp_path)
    assert (tmp_path / "cma.png").stat().st_size > 0
    assert (tmp_path / "run.png").stat().st_size > 0
