"""Make the figures and tables of the studies and of BBOB from the tables in ``results/``.

``python scripts/figures.py`` makes all, ``python scripts/figures.py rosenbrock bbob/scaling`` some.
"""

import sys
from pathlib import Path

from casmore.reports import ReportError
from casmore.studies import figures

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Make what is named on the command line; return the exit code."""
    for name in sys.argv[1:] or figures.names(RESULTS):
        try:
            written = figures.make(name, RESULTS)
        except ReportError as error:
            print(f"figures: {error}", file=sys.stderr)
            return 1
        print(f"{name}: {', '.join(str(path) for path in written)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
