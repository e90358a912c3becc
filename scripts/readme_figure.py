"""Make a picture of the README, ECDFs of all targets, from the data of a run.

usage: python scripts/readme_figure.py RUN [FILE.png]

FILE.png is where to put it instead of ``results/ecdf.png``. A run in several dimensions gets a
panel for each of them, a run in one dimension a panel for each group of functions.
"""

import sys
from pathlib import Path

from casmore.plotting import style
from casmore.reports import ReportError, ecdf, run_data

PICTURE = Path(__file__).resolve().parents[1] / "results" / "ecdf.png"


def main(run: Path, picture: Path = PICTURE) -> None:
    """Draw the run's ECDFs."""
    data = run_data.load(run)
    budgets = run_data.budgets(run, data)
    if len(budgets) == 1:
        ((dimension, budget),) = budgets.items()
        figure = ecdf.by_group(data, dimension, budget)
    else:
        figure = ecdf.by_dimension(data, budgets)
    png, pdf = style.save(figure, picture.with_suffix(""))
    pdf.unlink()  # the README shows the picture; the vector figure is in the run's report
    print(png)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(*map(Path, sys.argv[1:]))
    except ReportError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
