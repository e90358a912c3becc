"""The Makefile, as far as it goes without installing anything."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def _make(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def test_help_is_the_default_and_names_every_target() -> None:
    done = _make()
    assert done.returncode == 0, done.stderr
    for target in ("bbob", "report", "test", "lint", "help", "clean"):
        assert f"make {target} " in done.stdout


def test_bbob_on_a_fresh_machine_installs_runs_and_reports(checkout: Path) -> None:
    plan = _make("-n", "bbob", cwd=checkout).stdout
    steps = [
        "-m venv .venv",
        "pip install --quiet --editable '.[bbob]'",
        "casmore run configs/quick.toml",
        "casmore report configs/quick.toml",
    ]
    places = [plan.index(step) for step in steps]
    assert places == sorted(places)
    other = _make("-n", "bbob", "CONFIG=configs/paper.toml", cwd=checkout).stdout
    assert "casmore run configs/paper.toml" in other


def test_nothing_is_installed_twice_until_the_project_changes(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv/.ready").touch()
    assert "pip" not in _make("-n", "bbob", cwd=checkout).stdout
    assert "pip" in _make("-n", "-W", "pyproject.toml", "bbob", cwd=checkout).stdout


def test_an_old_python_is_refused_with_what_to_do(checkout: Path) -> None:
    old = checkout / "python3.9"
    old.write_text('#!/bin/sh\ntest "$1" = --version && echo Python 3.9.2 && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = _make("bbob", f"PYTHON={old}", cwd=checkout)
    assert done.returncode != 0
    assert f"casmore needs Python 3.11 or newer; {old} is Python 3.9.2." in done.stdout
    assert "make bbob PYTHON=python3.12" in done.stdout
    assert not (checkout / ".venv").exists()
