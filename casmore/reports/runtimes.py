"""The runtimes in a run's merged COCO data: what every number and figure of ours starts from.

They are read with cocopp, so that they are those of its report.
"""

import contextlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.experiments.store.run_folder import RunFolder
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.errors import ReportError

# the 51 targets of BBOB's ECDFs: target precisions 10^2, 10^1.8, ..., 10^-8
TARGETS: NDArray[np.float64] = 10.0 ** (np.arange(10, -41, -1) / 5)
ERT_TARGETS = (1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7)
FINAL_TARGET = 1e-8

# BBOB's function groups: name, first and last function
GROUPS: dict[str, tuple[int, int]] = {
    "separable": (1, 5),
    "moderate": (6, 9),
    "ill-conditioned": (10, 14),
    "multi-modal": (15, 19),
    "weakly structured": (20, 24),
}

# The same decimal power computed in two ways may differ in its last bits, and a target just below
# its own entry in the data would be answered with the next harder one.
_SLACK = 1 + 1e-9


@dataclass(frozen=True)
class Runtimes:
    """All trials of one solver on one function in one dimension.

    Attributes
    ----------
    solver
        The solver's label.
    function, dimension
        The BBOB problem.
    evaluations
        Evaluations until each target was first reached, shape (51, trials); NaN where it was not.
    ert
        Expected running time to each of ``ERT_TARGETS``, in evaluations; infinite if never reached.
    successes, trials
        How many trials reached the final target, of how many.
    longest
        Evaluations of the longest trial; one that reached the final target ended with that.
    """

    solver: str
    function: int
    dimension: int
    evaluations: NDArray[np.float64]
    ert: tuple[float, ...]
    successes: int
    trials: int
    longest: float

    @property
    def group(self) -> str:
        """Name of the function's group."""
        return group_of(self.function)


def group_of(function: int) -> str:
    """Return the name of the BBOB function group that ``function`` is in."""
    for name, (first, last) in GROUPS.items():
        if first <= function <= last:
            return name
    raise ValueError(f"function {function}: BBOB has functions 1 to 24")


def solver_folders(run: Path) -> list[Path]:
    """Return the run's COCO folders, one a solver, in the order of its config.

    Raises
    ------
    ReportError
        If there are none.
    """
    folders = {path.parent for path in RunFolder(run).data.glob("*/*.info")}
    if not folders:
        reason = "there is no such folder" if not run.is_dir() else "no unit has been merged yet"
        raise ReportError(
            f"{run} has no COCO data ({reason}); "
            "make it with `casmore run CONFIG` or `make bbob`, then report on the folder it names"
        )
    order = [solver.get("label") for solver in config(run).get("solvers", [])]

    def rank(folder: Path) -> tuple[int, str]:
        return (order.index(folder.name) if folder.name in order else len(order), folder.name)

    return sorted(folders, key=rank)


def config(run: Path) -> dict[str, Any]:
    """Return the run's resolved config; empty for COCO data that came without one."""
    path = RunFolder(run).config
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReportError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ReportError(f"{path} holds a {type(content).__name__}, not a config")
    return content


def load(run: Path) -> list[Runtimes]:
    """Read the runtimes of all solvers, ordered by solver, dimension and function.

    Raises
    ------
    ReportError
        If there is no data, or cocopp can't read it.
    """
    return [r for folder in solver_folders(run) for r in _read(folder)]


def _read(folder: Path) -> list[Runtimes]:
    import_cocopp()
    from cocopp.pproc import DataSetList

    said = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said):
        warnings.simplefilter("ignore")  # of fewer than 15 instances, for one
        try:
            data = DataSetList(str(folder))
        except Exception as error:  # cocopp raises whatever its parsers come across
            raise ReportError(
                f"cocopp can't read {folder}: {type(error).__name__}: {error}"
            ) from error
        if not data:
            raise ReportError(f"cocopp finds no data in {folder}; it says: {said.getvalue()}")
        found = [_runtimes(folder.name, data_set) for data_set in data]
    return sorted(found, key=lambda r: (r.dimension, r.function))


def _runtimes(solver: str, data_set: Any) -> Runtimes:
    return Runtimes(
        solver=solver,
        function=int(data_set.funcId),
        dimension=int(data_set.dim),
        evaluations=np.array(data_set.detEvals(TARGETS * _SLACK), dtype=float),
        ert=tuple(float(e) for e in data_set.detERT([t * _SLACK for t in ERT_TARGETS])),
        # raw: cocopp repeats instances with fewer trials than others, these are the trials run
        successes=int(data_set.detSuccesses([FINAL_TARGET * _SLACK], raw_values=True)[0]),
        trials=len(data_set.instancenumbers),
        longest=float(np.max(data_set.maxevals)),
    )


def budgets(run: Path, runtimes: Iterable[Runtimes]) -> dict[int, float]:
    """Return the budget in evaluations per dimension, for each dimension in the data.

    It is the config's. Data without a config gets its longest trial's, which is the budget unless
    every trial reached the final target earlier.
    """
    longest: dict[int, float] = {}
    for r in runtimes:
        longest[r.dimension] = max(longest.get(r.dimension, 0.0), r.longest / r.dimension)
    told = config(run).get("budget", {}).get("evaluations_per_dimension")
    return longest if told is None else dict.fromkeys(longest, float(told))


def dimensions(runtimes: Iterable[Runtimes]) -> list[int]:
    """Return the dimensions in the data, ascending."""
    return sorted({r.dimension for r in runtimes})


def solvers(runtimes: Iterable[Runtimes]) -> list[str]:
    """Return the solvers in the data, in their order."""
    return list(dict.fromkeys(r.solver for r in runtimes))


def comparable(runtimes: Sequence[Runtimes], dimension: int) -> dict[str, list[Runtimes]]:
    """Return each solver's runtimes in one dimension, on the functions that all solvers there have.

    While a run is under way solvers have different functions, and a mean over different functions
    compares nothing.
    """
    found: dict[str, list[Runtimes]] = {}
    for r in runtimes:
        if r.dimension == dimension:
            found.setdefault(r.solver, []).append(r)
    common = set.intersection(*({r.function for r in rs} for rs in found.values()))
    return {solver: [r for r in rs if r.function in common] for solver, rs in found.items()}


_UNIT = re.compile(r"f(\d+)_d(\d+)_i(\d+)_r(\d+)")


@dataclass(frozen=True)
class Effort:
    """What a solver spent on one function in one dimension, over all trials."""

    evaluations: int
    cpu_seconds: float

    @property
    def microseconds_per_evaluation(self) -> float:
        """CPU time per evaluation, the function's own included."""
        return 1e6 * self.cpu_seconds / self.evaluations if self.evaluations else float("nan")


def efforts(run: Path) -> dict[tuple[str, int, int], Effort]:
    """Return the effort by solver, dimension and function, from the units' sidecars.

    Raises
    ------
    ReportError
        If a sidecar lacks what it must say.
    """
    total: dict[tuple[str, int, int], Effort] = {}
    for path in sorted(RunFolder(run).units.glob("*/*/unit.json")):
        match = _UNIT.fullmatch(path.parent.name)
        if match is None:
            continue  # not a unit's folder
        try:
            sidecar = json.loads(path.read_text(encoding="utf-8"))
            evaluations, seconds = int(sidecar["evaluations"]), float(sidecar["cpu_seconds"])
        except (ValueError, KeyError, TypeError) as error:
            raise ReportError(
                f"{path} is not a unit's record ({type(error).__name__}: {error}); "
                "remove the unit's folder and run the experiment again to have it redone"
            ) from error
        key = (path.parent.parent.name, int(match[2]), int(match[1]))
        before = total.get(key, Effort(0, 0.0))
        total[key] = Effort(before.evaluations + evaluations, before.cpu_seconds + seconds)
    return total
