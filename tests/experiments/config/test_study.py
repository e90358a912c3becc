"""Studies: their configs, plans and units, and that they resume."""

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import tree

from casmore import cli
from casmore.algorithms.cas_more import CasMoreParameters
from casmore.algorithms.stopping import StopReason
from casmore.atomic_io import read_json
from casmore.experiments import runner, study_trial
from casmore.experiments.config.check import ConfigError, check, load
from casmore.experiments.config.study import StudyConfig
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import TracedWork
from casmore.problems.analytic import Rosenbrock
from casmore.solvers import registry
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart
from casmore.trace import Trace

CONFIGS = Path(__file__).parents[3] / "configs"
STUDY = {"functions": [1, 8], "dimension": 3, "runs": 2, "evaluations": 300}


def study(**sections: Any) -> dict[str, Any]:
    return {
        "name": "tiny",
        "seed": 3,
        "study": STUDY,
        "solvers": [{"name": "cas-more", "label": "CAS", "restarts": "none"}],
        **sections,
    }


def checked(**sections: Any) -> StudyConfig:
    config = check(study(**sections))
    assert isinstance(config, StudyConfig)
    return config


def test_a_grid_is_all_combinations() -> None:
    grid = {
        "name": "more",
        "label": "MORE",
        "values": {"epsilon": [0.1, 0.5], "entropy_decrease": [0.1, 0.2, 0.3]},
    }
    config = checked(solvers=[], grids=[grid])
    found = {(s.settings["epsilon"], s.settings["entropy_decrease"]) for s in config.solvers}
    assert found == {(e, d) for e in (0.1, 0.5) for d in (0.1, 0.2, 0.3)}
    assert len({s.label for s in config.solvers}) == 6
    assert all(s.restarts is RestartPolicy.NONE for s in config.solvers)


def test_a_variation_multiplies_the_defaults_of_the_code() -> None:
    variation = {
        "label": "default",
        "defaults": ["epsilon_mean", "population_size", "queue_size"],
        "factors": [0.5, 2],
    }
    config = checked(solvers=[], variations=[variation])
    defaults = CasMoreParameters.default(3)
    by_label = {s.label: s for s in config.solvers}
    assert by_label["default"].settings == {}
    assert by_label["default_epsilon_mean_x0.5"].settings == {"epsilon_mean": 0.25}
    assert by_label["default_queue_size_x2"].settings == {"queue_size": 2 * defaults.queue_size}
    doubled = by_label["default_population_size_x2"]
    assert (doubled.population_size, doubled.settings) == (2 * defaults.population_size, {})
    assert len(by_label) == 7


def test_any_value_in_a_grid_makes_a_label() -> None:
    values = [math.inf, True, "a b/c", date(2024, 2, 29), [1, 2]]
    config = StudyConfig.model_validate(
        study(solvers=[], grids=[{"name": "more", "label": "M1", "values": {"any": values}}])
    )
    assert [s.settings["any"] for s in config.solvers] == values
    assert len({s.label for s in config.solvers}) == len(values)


def test_the_document_is_a_config_of_its_own() -> None:
    grid = {"name": "more", "label": "MORE", "values": {"epsilon": [0.1, 0.5]}}
    config = checked(grids=[grid])
    again = check(config.document())
    assert again.document() == config.document()
    assert again.digest == config.digest


def test_the_plan_has_each_run_once_with_its_own_seed() -> None:
    plan = make_plan(checked())
    assert len(plan) == len({work.unit for work in plan}) == len({work.entropy for work in plan})
    assert len(plan) == 4
    assert all(isinstance(work, TracedWork) and work.target == 1e-8 for work in plan)
    assert {work.budget for work in plan} == {300}


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ({"study": {"functions": [3], "dimension": 3, "runs": 1, "evaluations": 9}}, "function 3"),
        ({"study": {"functions": [8], "dimension": 1, "runs": 1, "evaluations": 9}}, "dimension"),
        ({"solvers": []}, "give at least one of"),
        ({"grids": [{"name": "more", "label": "M1", "value": {}}]}, "did you mean 'values'"),
        (
            {"variations": [{"label": "d1", "defaults": ["epsilom"], "factors": [2]}]},
            "no setting 'epsilom'",
        ),
        (
            {"grids": [{"name": "more", "label": "M1", "values": {"epsilon": [-1.0]}}]},
            "epsilon = -1.0: must be positive",
        ),
        ({"study": {**STUDY, "target": math.inf}}, "study.target = inf: .* finite"),
        ({"study": {**STUDY, "runs": 10**9}}, "000000000 units; at most 1000000"),
        ({"grids": {"name": "more", "label": "M1"}}, r"grids: write \[\[grids\]\]"),
        ({"variations": {"label": "d1"}}, r"variations: write \[\[variations\]\]"),
        (
            {"variations": [{"label": "d1", "defaults": ["queue_size"], "factors": [math.inf]}]},
            r"variations\[0\]\.factors\[0\] = inf: .* finite",
        ),
        (
            {"variations": [{"label": "d1", "defaults": ["queue_size"], "factors": [-1]}]},
            r"variations\[0\]\.factors\[0\] = -1: .* greater than 0",
        ),
        (
            {"grids": [{"name": "more", "label": "M1", "values": {"epsilon": []}}]},
            r"grids\[0\]\.values\.epsilon = \[\]: .* at least 1 item",
        ),
        (
            {"grids": [{"name": "more", "label": "M1", "values": {"epsilon": ["x" * 99]}}]},
            r"label = 'M1_epsilon-xxx.* 2 to 100 characters",
        ),
        (
            {"grids": [{"name": "more", "label": "M1", "values": {c: [0] * 99 for c in "abcd"}}]},
            "96059601 units",
        ),
    ],
)
def test_what_is_wrong_is_said(sections: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check(study(**sections))


@pytest.mark.parametrize("name", ["rosenbrock", "rosenbrock_grid", "ablation", "sensitivity"])
def test_the_papers_studies_are_valid(name: str) -> None:
    config = load(CONFIGS / f"{name}.toml")
    assert isinstance(config, StudyConfig)
    assert config.name == name


def test_a_study_runs_and_resumes_to_the_same_traces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = checked()
    whole, parts = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "parts")
    summary = runner.run(config, whole.root, workers=2)
    assert (summary.published, summary.failures) == (4, {})
    runner.run(config, parts.root, workers=1)
    gone = make_plan(config)[1].unit
    for path in parts.unit(gone).iterdir():
        path.unlink()
    parts.unit(gone).rmdir()
    assert runner.run(config, parts.root, workers=1).published == 4
    for work in make_plan(config):
        traces = [Trace.load(f.unit(work.unit) / study_trial.FILE) for f in (whole, parts)]
        assert np.array_equal(traces[0]["f_mean"], traces[1]["f_mean"])
        record = read_json(whole.sidecar(work.unit))
        assert record["evaluations"] == traces[0]["evaluations"][-1] <= 300
        assert record["final_target_hit"] == (traces[0]["f_mean"][-1] <= 1e-8)
    # its report is its tables; there is nothing to merge
    assert cli.main(["report", str(whole.root)]) == 0
    assert (whole.root / "reports" / "tiny_runs.csv").is_file()
    assert cli.main(["merge", str(whole.root)]) == 2
    assert "holds a study" in capsys.readouterr().err
    # a damaged trace is not summarized, but found and computed again
    trace = parts.unit(gone) / study_trial.FILE
    sound = tree(trace.parent)["trace.npz"]
    trace.write_bytes(b"")
    assert cli.main(["report", str(parts.root)]) == 1
    assert f"{trace} has changed since it was written; `casmore verify" in capsys.readouterr().err
    assert cli.main(["verify", str(parts.root)]) == 1
    assert f"{gone}: {trace} has changed" in capsys.readouterr().out
    assert runner.run(config, parts.root, workers=1).published == 4
    assert tree(trace.parent)["trace.npz"] == sound


def restarting(seed: int) -> Restarting:
    return Restarting(
        registry.factory("cas-more"),
        UniformStart(3),
        2.0,
        policy=RestartPolicy.NONE,
        seed=seed,
    )


def test_a_run_is_over_at_the_target() -> None:
    trace, reasons = study_trial.minimize(restarting(1), Rosenbrock(3), budget=20_000, target=1e-3)
    assert reasons[StopReason.TARGET] == trace["f_mean"][-1] <= 1e-3
    assert (trace["f_mean"][:-1] > 1e-3).all()


def test_a_run_keeps_to_its_budget() -> None:
    solver = restarting(1)
    trace, reasons = study_trial.minimize(solver, Rosenbrock(3), budget=101, target=1e-8)
    assert solver.evaluations == trace["evaluations"][-1] == 101
    assert reasons == {StopReason.BUDGET: 101.0}


def test_the_trace_is_of_the_solver() -> None:
    f, solver = Rosenbrock(3), restarting(2)
    trace, _ = study_trial.minimize(solver, f, budget=500, target=1e-8)
    assert trace["f_mean"][-1] == f(solver.mean)
    assert trace["f_best"][-1] == solver.best_y
    assert trace["evaluations"][0] == 0
    assert trace["step_size"][0] == pytest.approx(2.0)
