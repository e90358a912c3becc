"""Reference results on COCO's suites: the virtual best solvers, and the algorithms of the archive.

The numbers are in ``reference_data``, whose README names their sources.
"""

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from casmore.problems.suites import Suite
from casmore.reports import compressed_table, trial_table
from casmore.reports.runtimes import ERT_TARGETS, TARGETS, Runtimes

PEERS = "peers.csv.gz"


@cache
def best(suite: Suite, name: str) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Return the ERT of a virtual best solver, by dimension and function.

    Parameters
    ----------
    suite
        A suite.
    name
        One of ``suite.best``: for each target the smallest ERT of any algorithm of the BBOB
        workshops of these years.

    Returns
    -------
    dict
        ERT to the 51 targets in evaluations, shape (51,); infinite where nobody reached it.
    """
    return {
        (int(row[2]), int(row[3])): _numbers(row[4:], len(TARGETS))
        for row in _rows("best_ert.csv.gz")
        if row[:2] == [suite.name, name]
    }


@cache
def archive() -> dict[int, dict[str, dict[int, NDArray[np.float64]]]]:
    """Return the ERT of the algorithms in COCO's data archive on the suite bbob.

    Returns
    -------
    dict
        By dimension, algorithm (with the year of its workshop) and function: the ERT to
        `ERT_TARGETS` in evaluations, shape (7,); infinite where it was not reached.
    """
    table: dict[int, dict[str, dict[int, NDArray[np.float64]]]] = {}
    for algorithm, dimension, function, *ert in _rows("archive_ert.csv.gz"):
        functions = table.setdefault(int(dimension), {}).setdefault(algorithm, {})
        functions[int(function)] = _numbers(ert, len(ERT_TARGETS))
    return table


@cache
def peers() -> tuple[Runtimes, ...]:
    """Return the stored trials of CAS-MORE and CMA-ES (pycma) on the suite bbob.

    They are those of ``configs/paper.toml`` and ``configs/paper_40d.toml``: COCO's 15 default
    instances, 10000 n evaluations, IPOP restarts.
    """
    file = resources.files("casmore.reports").joinpath("reference_data", PEERS)
    with resources.as_file(file) as path:
        return tuple(trial_table.read(path)) if path.exists() else ()


def _rows(name: str) -> list[list[str]]:
    file = resources.files("casmore.reports").joinpath("reference_data", name)
    with resources.as_file(file) as path:
        return compressed_table.read(path)[1:]


def _numbers(cells: list[str], count: int) -> NDArray[np.float64]:
    assert len(cells) == count
    return np.array([cell or "inf" for cell in cells], dtype=float)
