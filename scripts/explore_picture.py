"""Make ``results/explore.png``, a picture of the page to explore a report; needs Chromium.

The page shows the stored trials of CAS-MORE and CMA-ES.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from casmore.reports import league, references
from casmore.reports.explore import page
from casmore.reports.runtimes import dimensions

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "results" / "explore.png"
SIZE = (1250, 1320)
CHOICES = "dimension=5&functions=f8"


def main() -> None:
    """Write the page to a temporary folder, and its picture to ``results``."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    runtimes = references.peers()
    runs = Path(references.__file__).parent / "reference_data" / "peers_runs.json"
    (run,) = json.loads(runs.read_text(encoding="utf-8"))
    budget = float(run["config"]["budget"]["evaluations_per_dimension"])
    with tempfile.TemporaryDirectory() as folder:
        budgets = dict.fromkeys(dimensions(runtimes), budget)
        page.write(Path(folder), "BBOB", runtimes, budgets, league.standings(runtimes))
        subprocess.run(
            [
                "chromium",
                "--headless=new",
                "--no-sandbox",
                "--hide-scrollbars",
                "--virtual-time-budget=20000",  # ms of the page's own time
                f"--window-size={SIZE[0]},{SIZE[1]}",
                f"--screenshot={PICTURE}",
                f"{(Path(folder) / page.PAGE).as_uri()}#{CHOICES}",
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
    print(PICTURE)


if __name__ == "__main__":
    main()
