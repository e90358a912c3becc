"""The packaged data of others, beside cocopp's own, and beside published numbers."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from casmore.problems.suites import (
    BBOB,
    BEST_2009,
    BEST_2016,
    BEST_2019,
    LARGESCALE,
    NOISY,
    Suite,
)
from casmore.reports import references
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS


@pytest.mark.parametrize(
    ("suite", "name", "file"),
    [
        (BBOB, BEST_2009, "best2009-bbob"),
        (NOISY, BEST_2009, "best2009-bbob-noisy"),
        (NOISY, BEST_2016, "best09-16-bbob-noisy"),
        (LARGESCALE, BEST_2019, "best2019-bbob-largescale"),
    ],
)
def test_the_virtual_best_solvers_are_cocopps(
    suite: Suite, name: str, file: str, tmp_path: Path
) -> None:
    cocopp = import_cocopp()
    from cocopp import bestalg

    source = Path(str(cocopp.__file__)).parent / f"refalgs/{file}.tar.gz"
    copy = shutil.copy2(source, tmp_path)
    cocopp.testbedsettings.load_current_testbed(suite.name, cocopp.pproc.TargetValues)
    truth = bestalg.load_reference_algorithm(copy, force=True, relative_load=False)
    assert name in suite.best
    ours = references.best(suite, name)
    assert ours.keys() == truth.keys()
    assert len(ours) == len(suite.dimensions) * len(suite.functions)
    for key, ert in ours.items():
        np.testing.assert_allclose(ert[ERT_ROWS], truth[key].detERT(list(ERT_TARGETS)), rtol=1e-9)


def test_the_best_of_more_years_is_no_worse_in_most_places() -> None:
    older, newer = (references.best(BBOB, name) for name in (BEST_2009, BEST_2016))
    assert older.keys() == newer.keys()
    worse = [np.mean(newer[key] > older[key] * 1.5) for key in older]
    assert np.mean(worse) < 0.1


def test_the_archive_has_the_algorithms_of_all_years() -> None:
    archive = references.archive()
    assert {n: len(algorithms) for n, algorithms in archive.items()} == {
        **{2: 242, 3: 233, 5: 242},
        **{10: 233, 20: 240, 40: 143},
    }


def test_the_best_of_2009_is_the_smallest_ert_of_that_years_algorithms() -> None:
    archive, best = references.archive(), references.best(BBOB, BEST_2009)
    agree = []
    for (n, f), ert in best.items():
        of_2009 = [
            own[f] for name, own in archive[n].items() if name.startswith("2009") if f in own
        ]
        smallest = np.min(of_2009, axis=0)
        agree.extend(np.isclose(smallest, ert[ERT_ROWS], rtol=0.05))
    # two sources, published years apart: some algorithms' data were corrected in between
    assert np.mean(agree) > 0.9
