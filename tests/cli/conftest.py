import shutil
from pathlib import Path

import pytest

from casmore.cli import main
from cli.command_line import SMALL


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with configs/small.toml, which is the current folder."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a complete run of the small config."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(SMALL)
    assert main(["run", str(folder / "small.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def done(project: Path, small_run: Path) -> Path:
    """The project, in which the small config has been run."""
    shutil.copytree(small_run, project / "runs" / "small")
    return project
