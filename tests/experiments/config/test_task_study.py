"""Studies on episodic tasks: their configs, and units that resume to the same traces."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from casmore.experiments import runner, study_trial
from casmore.experiments.config.check import ConfigError, check, load
from casmore.experiments.config.task_study import TaskStudyConfig
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import TaskWork
from casmore.problems.episodic import TASKS
from casmore.solvers import registry
from casmore.solvers.restarts import FixedStart, Restarting, RestartPolicy
from casmore.trace import Trace

CONFIGS = Path(__file__).parents[3] / "configs"
NOISY = "casmore/HoleReaching-Noisy-v0"


def study(**sections: Any) -> dict[str, Any]:
    return {
        "name": "tiny",
        "seed": 3,
        "study": {"task": NOISY, "runs": 2, "evaluations": 130, "episodes_at_mean": 3},
        "solvers": [
            {"name": "cas-more", "label": "CAS", "restarts": "none"},
            {"name": "cma", "label": "CMA", "restarts": "none", "population_size": 20},
        ],
        **sections,
    }


def checked(**sections: Any) -> TaskStudyConfig:
    config = check(study(**sections))
    assert isinstance(config, TaskStudyConfig)
    return config


def test_the_start_is_the_tasks_unless_given() -> None:
    task = TASKS[NOISY]
    assert checked().start.model_dump() == {"mean": task.mean, "sigma0": task.sigma0}
    mine = checked(start={"mean": [0.5] * 15}).start
    assert mine.model_dump() == {"mean": (0.5,) * 15, "sigma0": task.sigma0}
    assert check(checked().document()) == checked()
    assert checked(start={"sigma0": 2.0}).digest != checked().digest


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        (
            {"study": {"task": "casmore/HoleReaching", "runs": 1, "evaluations": 9}},
            "did you mean 'casmore/HoleReaching-v0'",
        ),
        ({"study": {"task": NOISY, "runs": 1, "evaluation": 9}}, "did you mean 'evaluations'"),
        ({"study": {"task": "math:pi", "runs": 1, "evaluations": 9}}, "is no casmore Task"),
        ({"start": {"mean": [0.0] * 14}}, "the task has 15 weights, not 14"),
        ({"start": {"lower": -4.0}}, "start.lower = -4.0: there is no such key"),
    ],
)
def test_what_is_wrong_is_said(sections: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check(study(**sections))


@pytest.mark.parametrize(
    ("task", "error"),
    [
        ("no_such_module:TASK", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("broken_module:TASK", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_task_that_cannot_be_imported(task: str, error: str) -> None:
    with pytest.raises(ConfigError, match=rf"study.task = '{task}': {error}"):
        check(study(study={"task": task, "runs": 1, "evaluations": 16}))


@pytest.mark.parametrize("name", ["hole_reaching", "hole_reaching_noisy", "hole_reaching_penalty"])
def test_the_papers_studies_are_valid(name: str) -> None:
    config = load(CONFIGS / f"{name}.toml")
    assert isinstance(config, TaskStudyConfig)
    assert config.name == name
    assert config.study.runs == 20


def test_a_study_runs_and_resumes_to_the_same_traces(tmp_path: Path) -> None:
    config = checked()
    plan = make_plan(config)
    assert len({work.entropy for work in plan}) == len(plan) == 4
    whole, parts = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "parts")
    summary = runner.run(config, whole.root, workers=2)
    assert (summary.published, summary.failures) == (4, {})
    runner.run(config, parts.root, workers=1)
    shutil.rmtree(parts.unit(plan[1].unit))
    assert runner.run(config, parts.root, workers=1).published == 4
    for work in plan:
        first, again = (Trace.load(f.unit(work.unit) / study_trial.FILE) for f in (whole, parts))
        for column in ("f_mean", "f_samples", "success_samples", "collision_mean"):
            assert np.array_equal(first[column], again[column], equal_nan=True)
            assert len(first[column]) == len(first)
        assert first["evaluations"][-1] == 130


def test_the_trace_tells_the_expected_return_of_the_mean(tmp_path: Path) -> None:
    config = checked()
    folder = RunFolder(tmp_path)
    runner.run(config, folder.root, workers=1)
    work = make_plan(config)[0]
    trace = Trace.load(folder.unit(work.unit) / study_trial.FILE)
    # without the harness: the start, and the first population
    assert isinstance(work, TaskWork)
    of_samples, of_mean = work.noise.spawn(2)
    task = TASKS[NOISY]
    objective = task.objective(seed=of_samples)
    seeds = [int(seed >> 1) for seed in of_mean.generate_state(3)]
    at_start = objective.run([task.mean] * 3, seeds)
    assert trace["f_mean"][0] == pytest.approx(-at_start.returns.mean(), rel=1e-6)
    solver = Restarting(
        registry.factory("cas-more"),
        FixedStart(task.mean),
        task.sigma0,
        policy=RestartPolicy.NONE,
        seed=work.seed,
    )
    y = objective.batch(solver.ask())
    assert trace["f_samples"][1] == pytest.approx(y.mean(), rel=1e-6)
    assert objective.latest is not None
    assert trace["collision_samples"][1] == pytest.approx(objective.latest.collision.mean())
    assert np.isnan(trace["f_samples"][0])


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    config = checked(study={"task": "odd_tasks:REACHER", "runs": 1, "evaluations": 16})
    assert config.dimension == 4
    summary = runner.run(config, tmp_path, workers=1)
    assert (summary.published, summary.failures) == (2, {})
    trace = Trace.load(RunFolder(tmp_path).unit(make_plan(config)[0].unit) / study_trial.FILE)
    assert trace["f_mean"][-1] > 0
    assert np.isnan(trace["success_samples"]).all()  # Reacher does not tell
