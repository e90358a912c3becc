"""docs/studies.md and docs/at_scale.md, done as they say, with experiments made small."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from clones import ROOT, blocks, clone, run

from casmore.experiments.config import check

PAGE = "docs/studies.md"
AT_SCALE = "docs/at_scale.md"


def small(text: str) -> str:
    """Return a study's config with one short run of each variant."""
    text, runs = re.subn(r"^runs = \d+", "runs = 1", text, flags=re.MULTILINE)
    text, budget = re.subn(r"^evaluations = [\d_]+", "evaluations = 300", text, flags=re.MULTILINE)
    assert runs == budget == 1
    return text


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_run_in_a_clone(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    texts = {path: path.read_text() for path in (folder / "configs").iterdir()}
    studies = [path for path, text in texts.items() if re.search(r"^functions = \[", text, re.M)]
    assert len(studies) == 4
    for path in studies:
        path.write_text(small(path.read_text()))
    for picture in (folder / "results").glob("*.png"):
        picture.unlink()
    for block in blocks(PAGE, "bash"):
        for command in block.splitlines():
            run(command, folder)
    made = {path.stem for path in (folder / "results").glob("*.png")}
    assert {"rosenbrock", "ablation", "sensitivity", "run_view"} <= made


@pytest.mark.slow
def test_a_study_of_ones_own_and_its_traces(tmp_path: Path) -> None:
    (config,) = blocks(PAGE, "toml")
    (tmp_path / "mine.toml").write_text(small(config))
    (tmp_path / "results").symlink_to(ROOT / "results")
    run("casmore run mine.toml && casmore report runs/mine", tmp_path)
    for i, code in enumerate(blocks(PAGE, "python")):
        (tmp_path / f"block{i}.py").write_text(code)
        run(f"{sys.executable} block{i}.py", tmp_path)
    assert (tmp_path / "cma.png").stat().st_size > 0
    assert (tmp_path / "run.png").stat().st_size > 0


def shrink(path: Path) -> None:
    """Let an experiment have one short trial of each solver."""
    text = path.read_text()
    for key, value in (
        ("functions", '"1"'),
        ("dimensions", "[2]"),
        ("instances", '"1"'),
        ("evaluations_per_dimension", "50"),
    ):
        text, found = re.subn(rf"^{key} = .*", f"{key} = {value}", text, flags=re.MULTILINE)
        assert found == 1, key
    path.write_text(text)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_experiment_at_scale(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    shrink(folder / "configs/paper.toml")
    lines = [
        line
        for block in blocks(AT_SCALE, "bash")
        for command in block.splitlines()
        for line in run(command, folder).splitlines()
    ]
    assert lines.count("4 of 4 units done") == 2  # by status, of the run and of its shards
    assert "4 units checked, 0 damaged." in lines
    assert any(line.startswith("4 of 4 units are done.") for line in lines)  # by merge
    run("diff -r shared/paper/data runs/paper/data", folder)  # byte for byte

    shutil.copytree(folder / "shared/paper/data/CMA-ES", folder / "elsewhere/ANOTHER")
    run("casmore report paper --compare elsewhere/ANOTHER", folder)
    tables = folder / "runs/paper/reports/cocopp/comparison/pptables.html"
    assert {"CMA-ES", "ANOTHER"} <= set(re.findall(r"[A-Z-]+", tables.read_text("latin-1")))


def test_settings_of_a_run_at_scale_are_known(tmp_path: Path) -> None:
    paper = (ROOT / "configs/paper.toml").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", (ROOT / AT_SCALE).read_text(), re.MULTILINE)
    backends = {name: re.findall(r"`(.+?)`", settings) for name, settings in rows[1:]}
    assert list(backends) == ["loky", "dask", "slurm"]
    sections = blocks(AT_SCALE, "toml")
    sections += [
        "\n".join(["[run]", f'backend = "{name}"', *settings])
        for name, settings in backends.items()
    ]
    assert len(sections) == 4
    for i, section in enumerate(sections):
        path = tmp_path / f"{i}.toml"
        path.write_text(f"{paper}\n{section}\n")
        assert f'backend = "{check.load(path).run.backend}"' in section
