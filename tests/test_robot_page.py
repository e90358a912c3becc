"""docs/robot.md, done as it says, with searches made short."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from clones import blocks, run

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
