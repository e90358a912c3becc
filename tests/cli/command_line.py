"""What the tests of the command line share: the command in a process of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

SMALL = """
name = "small"
[suite]
functions = "1"
dimensions = [2]
instances = "1-2"
[budget]
evaluations_per_dimension = 50
[[solvers]]
name = "cas-more"
label = "CAS-MORE"
[run]
workers = 1
"""


def casmore(
    *arguments: str | Path, code: str = "", python: tuple[str, ...] = (), **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, after ``code``, with options for Python and ``subprocess``."""
    program = f"{code}\nimport sys; from casmore.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, *python, "-c", program, *map(str, arguments)],
        **{"capture_output": True, "text": True, "check": False, **how},
    )
