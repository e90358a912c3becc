"""All figures and tables of the studies and of the results on COCO's suites, by name."""

import difflib
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from casmore.plotting import style
from casmore.reports.bbob import catalogue
from casmore.reports.report_error import ReportError
from casmore.studies.claims import write_claims
from casmore.studies.convergence import ablation, rosenbrock
from casmore.studies.episodic.task_figures import TASK_FIGURES
from casmore.studies.episodic.task_pictures import SHOWN, TASK_PICTURES
from casmore.studies.grid_search import write_table
from casmore.studies.hyper_parameters import write_tables
from casmore.studies.noise_illustration import noise_signal
from casmore.studies.normalization_illustration import robust_normalization
from casmore.studies.path_illustration import evolution_path
from casmore.studies.run_view_illustration import run_view
from casmore.studies.sensitivity import sensitivity

# each with the function that draws it from the tables in a folder
FIGURES: dict[str, Callable[[Path], Figure]] = {
    "rosenbrock": rosenbrock,
    "ablation": ablation,
    "robust_normalization": robust_normalization,
    "evolution_path": evolution_path,
    "sensitivity": sensitivity,
    "run_view": run_view,
    "noise_signal": noise_signal,
}
TABLES: dict[str, Callable[[Path], list[Path]]] = {
    "hyper_parameters": write_tables,
    "rosenbrock_grid": write_table,
    "claims": write_claims,
}


def names(results: Path) -> list[str]:
    """Return the names of all figures and tables that can be made from ``results``."""
    of_tasks = [name for name in TASK_FIGURES if _has(results, f"{name}_curves.csv")]
    pictures = [
        name for name in TASK_PICTURES if _has(results, f"{SHOWN.get(name, '*')}_solution.csv")
    ]
    return [*FIGURES, *of_tasks, *TABLES, *catalogue.names(results), *pictures]


def _has(results: Path, pattern: str) -> bool:
    return any(results.glob(pattern))


def make(name: str, results: Path) -> list[Path]:
    """Make one figure (PDF and PNG) or table; return its files.

    Parameters
    ----------
    name
        One of `FIGURES`, `TABLES`, the figures and pictures of robot tasks, or a name that
        `casmore.reports.bbob.catalogue` knows.
    results
        The folder with the studies' tables, which is also the output folder.

    Raises
    ------
    ReportError
        If there is no such figure, or its data are missing; the message says what to do.
    """
    if draw := {**FIGURES, **TASK_FIGURES, **TASK_PICTURES}.get(name):
        return list(style.save(draw(results), results / name))
    if name in TABLES:
        return TABLES[name](results)
    if catalogue.is_known(name):
        return catalogue.make(name, results)
    known = names(results)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ReportError(f"there is no figure {name!r}{hint} (known: {', '.join(known)})")
