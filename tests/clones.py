"""A clone of the project in which a page's commands can be run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in a language."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def tracked() -> list[str]:
    """Return the paths of the project's files, relative to its root."""
    if not (ROOT / ".git").exists():  # a source distribution has nothing else
        return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def clone(folder: Path) -> Path:
    """Copy the tracked files, tests left out; this environment serves as the clone's own."""
    for name in tracked():
        if not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    # installing is tested with the Makefile
    (folder / ".venv").mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / part).symlink_to(Path(sys.prefix) / part)
    for stamp in (".ready", ".ready-robot"):
        (folder / ".venv" / stamp).touch()
    return folder


def shrink(config: Path, **changes: str) -> None:
    """Let an experiment have one short trial of each solver, on f1 in 2-D or with other values."""
    values = {
        "functions": '"1"',
        "dimensions": "[2]",
        "instances": '"1"',
        "evaluations_per_dimension": "50",
        **changes,
    }
    text = config.read_text()
    for key, value in values.items():
        text, found = re.subn(rf"^{key} = .*", f"{key} = {value}", text, flags=re.MULTILINE)
        assert found == 1, key
    config.write_text(text)


def run(command: str, folder: Path) -> str:
    """Run a line of shell in the clone; return what it printed."""
    path = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env={**os.environ, "PATH": path, "MPLBACKEND": "Agg"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
