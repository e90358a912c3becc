"""Make ``casmore/reports/reference_data`` anew.

The ERTs of the virtual best solvers are taken from the data that cocopp ships. Those of the
archive's algorithms are taken from ARCHIVE, if it is given.
"""

import argparse
import csv
import gzip
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from casmore.problems.suites import BBOB, BEST_2009, BEST_2016, BEST_2019, LARGESCALE, NOISY
from casmore.reports import compressed_table, references
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.runtimes import ERT_TARGETS, TARGETS
from casmore.reports.trial_table import TARGET_COLUMNS

FOLDER = Path(references.__file__).parent / "reference_data"
SHIPPED = {
    (BBOB, BEST_2009): "best2009-bbob",
    (BBOB, BEST_2016): "best09-16-bbob",
    (NOISY, BEST_2009): "best2009-bbob-noisy",
    (NOISY, BEST_2016): "best09-16-bbob-noisy",
    (LARGESCALE, BEST_2019): "best2019-bbob-largescale",
}


def best() -> Iterator[list[object]]:
    """Yield the ERT of the virtual best solvers, a row for each dimension and function."""
    yield ["suite", "reference", "dimension", "function", *TARGET_COLUMNS]
    with tempfile.TemporaryDirectory() as folder:
        cocopp = import_cocopp(Path(folder))
        from cocopp import bestalg

        for (suite, name), file in SHIPPED.items():
            cocopp.testbedsettings.load_current_testbed(suite.name, cocopp.pproc.TargetValues)
            archive = Path(str(cocopp.__file__)).parent / "refalgs" / f"{file}.tar.gz"
            copy = shutil.copy2(archive, folder)  # cocopp unpacks it beside it
            data = bestalg.load_reference_algorithm(copy, force=True, relative_load=False)
            for (dimension, function), own in sorted(data.items()):
                ert = own.detERT(list(TARGETS * (1 + 1e-9)))
                yield [suite.name, name, dimension, function, *(_cell(float(e)) for e in ert)]


def archive(path: Path) -> Iterator[list[object]]:
    """Yield the ERT of the archive's algorithms, a row for each dimension and function."""
    columns = [f"1e{round(math.log10(target))}" for target in ERT_TARGETS]
    yield ["algorithm", "dimension", "function", *columns]
    rows: dict[tuple[str, int, int], dict[str, str]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = f"{row['year']} {row['alg']}".removesuffix(" noiseless")
            key = (name, int(row["dim"]), int(row["f"]))
            rows.setdefault(key, {})[row["target"]] = row["ert"]
    for key, ert in sorted(rows.items()):
        yield [*key, *(_cell(float(ert.get(c) or "inf")) for c in columns)]


def _cell(ert: float) -> str:
    return f"{ert:.10g}" if math.isfinite(ert) else ""


def _write(path: Path, rows: Iterable[list[object]]) -> None:
    compressed_table.write(path, rows)
    print(path, f"{path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "archive",
        type=Path,
        nargs="?",
        help="a compressed CSV table with the columns year, alg, f, dim, target, ert, read from "
        "the archive's published pages",
    )
    table = parser.parse_args().archive
    _write(FOLDER / "best_ert.csv.gz", best())
    if table is not None:
        _write(FOLDER / "archive_ert.csv.gz", archive(table))


if __name__ == "__main__":
    main()
