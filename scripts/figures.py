"""Make the figures and tables of the studies and of BBOB from the tables in ``results/``."""

import argparse
import sys
from pathlib import Path

from casmore.reports import ReportError
from casmore.studies import figures

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Make what is named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "figures", nargs="*", help="such as rosenbrock or bbob/scaling; default: all"
    )
    for name in parser.parse_args().figures or figures.names(RESULTS):
        try:
            written = figures.make(name, RESULTS)
        except ReportError as error:
            print(f"figures: {error}", file=sys.stderr)
            return 1
        print(f"{name}: {', '.join(str(path) for path in written)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
