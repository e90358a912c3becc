"""Every command and code block of README.md and CONTRIBUTING.md, run as a newcomer would.

``make lint`` and ``make test`` are what CI itself calls; here it is checked that it does.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md")
TINY = """
name = "quick"
[suite]
functions = "1"
dimensions = [2, 3]
instances = "1-2"
[budget]
evaluations_per_dimension = 50
[[solvers]]
name = "cas-more"
label = "CAS-MORE"
[[solvers]]
name = "cma"
label = "CMA-ES"
"""
RUN_BY_CI = ("make lint", "make test")


def blocks(language: str) -> list[str]:
    text = "\n".join((ROOT / page).read_text() for page in PAGES)
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return list(dict.fromkeys(line for block in blocks("bash") for line in block.splitlines()))


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.split("\n")[-2][:40])
def test_a_block_of_python_runs_by_itself(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_ci_runs_the_commands_that_check() -> None:
    script = (ROOT / ".ci/run").read_text().splitlines()
    for command in RUN_BY_CI:
        assert command in script
        assert command in commands()


@pytest.mark.timeout(600)
def test_the_other_commands_run_in_a_clone(tmp_path: Path) -> None:
    """In the order of the pages, with the quick experiment made small."""
    clone = tmp_path / "clone"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in tracked.stdout.split("\0"):
        if name and not name.startswith(("tests/", "results/")) and (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    (clone / "configs/quick.toml").write_text(TINY)
    # this environment serves as the clone's own: installing it is tested with the Makefile
    environment = Path(sys.prefix)
    (clone / ".venv").mkdir()
    (clone / ".venv/bin").symlink_to(environment / "bin")
    (clone / ".venv/.ready").touch()
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    printed = ""
    for command in commands():
        if command in RUN_BY_CI:
            continue
        done = subprocess.run(
            command, shell=True, cwd=clone, env={**os.environ, "PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        printed += done.stdout
    assert "CAS-MORE" in printed
    assert (clone / "runs/quick/reports/index.html").is_file()
    assert (clone / "runs/quick/data/CAS-MORE").is_dir()


def test_the_picture_is_there() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
            assert (ROOT / target).exists(), f"{page} points at {target}"
