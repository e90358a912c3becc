"""Write tables of finished studies into ``results/``."""

import argparse
import sys
from pathlib import Path

from casmore.atomic_io import DamagedFileError
from casmore.experiments.store.coco_files import BrokenDataError
from casmore.reports import ReportError
from casmore.studies.summarize import summarize

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Summarize the runs named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders, such as runs/rosenbrock")
    parser.add_argument(
        "--partial",
        action="store_true",
        help="a study on a robot task may be unfinished: the tables are of its finished runs",
    )
    arguments = parser.parse_args()
    for run in arguments.runs:
        try:
            for path in summarize(run, RESULTS, partial=arguments.partial):
                print(path)
        except (ReportError, BrokenDataError, DamagedFileError) as error:
            print(f"summarize_study: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
