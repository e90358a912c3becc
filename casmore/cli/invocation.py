"""Commands as the user can type them again."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def command(*words: str | Path) -> str:
    """Return ``casmore`` with ``words`` as a line for a shell, quoted where needed."""
    return shlex.join([*_program(), *map(str, words)])


def _program() -> list[str]:
    """Return what starts this program: ``casmore``, unless a shell would not find that."""
    started = Path(sys.argv[0])
    if (started.parent.name, started.name) == ("casmore", "__main__.py"):
        return [sys.executable, "-m", "casmore"]
    if started.name == "casmore" and started.exists():
        found = shutil.which("casmore")
        if found is None or not os.path.samefile(found, started):
            return [str(started)]
    return ["casmore"]
