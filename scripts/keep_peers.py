"""Keep the trials of CAS-MORE and CMA-ES in the package, for ``casmore bench``."""

import argparse
from pathlib import Path

from casmore.atomic_io import write_bytes
from casmore.reports import references, trial_table

ROOT = Path(__file__).resolve().parents[1]
SOLVERS = ("CAS-MORE", "CMA-ES")


def main() -> None:
    """Write ``casmore/reports/reference_data/peers.csv.gz``, and beside it how it came about."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=ROOT / "results" / "bbob",
        help="one that `casmore export` has written; default: results/bbob",
    )
    folder = parser.parse_args().folder
    runtimes = trial_table.read(folder / trial_table.FILE)
    target = Path(references.__file__).parent / "reference_data" / references.PEERS
    trial_table.write(target, [r for r in runtimes if r.solver in SOLVERS])
    write_bytes(target.with_name("peers_runs.json"), (folder / "runs.json").read_bytes())
    print(target, f"{target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
