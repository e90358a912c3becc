"""Write tables of finished studies into ``results/``: ``summarise_study.py runs/rosenbrock``.

With ``--partial``, a study on a robot task may be unfinished: the tables are of its finished runs.
"""

import sys
from pathlib import Path

from casmore.reports import ReportError
from casmore.studies.summarise import summarise

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Summarise the runs named on the command line; return the exit code."""
    runs = [argument for argument in sys.argv[1:] if argument != "--partial"]
    for run in runs:
        try:
            for path in summarise(Path(run), RESULTS, partial=len(runs) < len(sys.argv) - 1):
                print(path)
        except ReportError as error:
            print(f"summarise_study: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
