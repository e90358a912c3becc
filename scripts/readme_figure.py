"""Make the README's picture, ``results/ecdf.png``, from the data of a run.

usage: python scripts/readme_figure.py RUN [FOLDER]

FOLDER is where to put it instead of ``results/``.
"""

import sys
from pathlib import Path

from casmore.reports import ReportError, ecdf, runtimes, style

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(run: Path, folder: Path = RESULTS) -> None:
    """Draw the run's ECDFs, a panel for each dimension."""
    data = runtimes.load(run)
    png, pdf = style.save(ecdf.by_dimension(data, runtimes.budgets(run, data)), folder / "ecdf")
    pdf.unlink()  # the README shows the picture; the vector figure is in the run's report
    print(png)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(*map(Path, sys.argv[1:]))
    except ReportError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
