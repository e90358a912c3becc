"""Write tables of finished studies into ``results/``: ``summarise_study.py runs/rosenbrock``."""

import sys
from pathlib import Path

from casmore.reports import ReportError
from casmore.studies.summarise import summarise

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Summarise the runs named on the command line; return the exit code."""
    for run in sys.argv[1:]:
        try:
            for path in summarise(Path(run), RESULTS):
                print(path)
        except ReportError as error:
            print(f"summarise_study: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
