"""Make a picture of the README, ECDFs of all targets, from the data of a run.

A run in several dimensions gets a panel for each of them, a run in one dimension a panel for each
group of functions.
"""

import argparse
import sys
from pathlib import Path

from casmore.plotting import style
from casmore.reports import ReportError, ecdf, run_data

PICTURE = Path(__file__).resolve().parents[1] / "results" / "ecdf.png"


def main() -> int:
    """Draw the run's ECDFs; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument(
        "picture", type=Path, nargs="?", default=PICTURE, help="default: results/ecdf.png"
    )
    arguments = parser.parse_args()
    try:
        draw(arguments.run, arguments.picture)
    except ReportError as error:
        print(f"readme_figure: {error}", file=sys.stderr)
        return 1
    return 0


def draw(run: Path, picture: Path) -> None:
    """Draw the ECDFs of a run."""
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
    sys.exit(main())
