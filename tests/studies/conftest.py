"""Tiny studies, run once for all tests of their tables and figures."""

from pathlib import Path

import pytest

from casmore.experiments.agreement import agree_on_config
from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import run_unit
from casmore.studies.convergence import ABLATION, ROSENBROCK
from casmore.studies.summarize import summarize

VARIED = ("epsilon_mean", "queue_size")


def _solver(name: str, label: str) -> dict[str, object]:
    return {"name": name, "label": label, "restarts": "none"}


STUDIES = {
    "rosenbrock": {
        "functions": [8],
        "solvers": [_solver("cma" if k == "CMA-ES" else "more", k) for k in ROSENBROCK],
    },
    "ablation": {"functions": [6, 8], "solvers": [_solver("cas-more", k) for k in ABLATION]},
    "rosenbrock_grid": {
        "functions": [8],
        "grids": [{"name": "more", "label": "MORE", "values": {"epsilon": [0.1, 0.5]}}],
    },
    "sensitivity": {
        "functions": [1, 8],
        "variations": [{"label": "default", "defaults": list(VARIED), "factors": [0.5, 2]}],
    },
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny studies in ``runs/``, their tables in ``results/``."""
    root = tmp_path_factory.mktemp("studies")
    for name, parts in STUDIES.items():
        shape = {"functions": parts["functions"], "dimension": 3, "runs": 3, "evaluations": 300}
        rest = {key: value for key, value in parts.items() if key != "functions"}
        config = check({"name": name, "study": shape, **rest})
        run = RunFolder(root / "runs" / name)
        run.root.mkdir(parents=True)
        agree_on_config(run, config)
        for work in make_plan(config):
            assert run_unit(work, run).error is None
        summarize(run.root, root / "results")
    return root
