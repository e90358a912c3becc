"""docs/robot.md, done as it says, with searches made short."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from clones import blocks, clone, run

from casmore.experiments.config.check import check
from casmore.experiments.config.task_study import TaskStudyConfig

PAGE = "docs/robot.md"


def test_a_task_and_a_robot_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "egl")  # as the page says
    for i, code in enumerate(blocks(PAGE, "python")):
        short, found = re.subn(r"budget=\d+", "budget=60", code)
        assert found == 1
        (tmp_path / f"block{i}.py").write_text(short)
        run(f"{sys.executable} block{i}.py", tmp_path)
    for picture in ("film_pusher.png", "pusher.gif", "pusher.png"):
        assert (tmp_path / picture).stat().st_size > 1000


def test_a_study_of_ones_own() -> None:
    (config,) = blocks(PAGE, "toml")
    assert isinstance(check(tomllib.loads(config)), TaskStudyConfig)


@pytest.mark.slow
def test_the_study_and_its_figure(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    config = folder / "configs/hole_reaching.toml"
    text, found = re.subn(r"^runs = \d+", "runs = 2", config.read_text(), flags=re.MULTILINE)
    config.write_text(text.replace("evaluations = 24_000", "evaluations = 600"))
    assert found == 1
    picture = folder / "results/hole_reaching.png"
    picture.unlink()
    _, study = blocks(PAGE, "bash")  # the first is `pip install`
    for command in study.splitlines():
        run(command, folder)
    assert picture.stat().st_size > 10_000
