"""Commands in a form that the user can type again."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def command(*words: str | Path) -> str:
    """Return ``casmore`` with ``words`` as a shell command, quoted where needed."""
    return shlex.join([*_program(), *map(str, words)])


def _program() -> list[str]:
    """Return the command that starts this program: ``casmore``, if the shell can find it."""
    started = Path(sys.argv[0])
    if (started.parent.name, started.name) == ("casmore", "__main__.py"):
        return [sys.executable, "-m", "casmore"]
    if started.name == "casmore" and started.exists():
        found = shutil.which("casmore")
        if found is None or not os.path.samefile(found, started):
            return [str(started)]
    return ["casmore"]
