"""What can be wrong with a config, and what is said of it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from harness import config, config_data, write_toml

from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import ConfigError, check, load
from casmore.experiments.config.ranges import parse_range

CONFIGS = Path(__file__).parents[3] / "configs"


def _problems(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        check(data)
    return list(caught.value.problems)


def _section(key: str, **changes: Any) -> dict[str, Any]:
    data = config_data()
    data[key] = {**data.get(key, {}), **changes}
    return data


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_configs_that_come_with_the_project_are_right(path: Path) -> None:
    experiment = load(path)
    assert experiment.name == path.stem
    assert len({solver.label for solver in experiment.solvers}) == len(experiment.solvers)


def test_the_papers_experiment_is_complete() -> None:
    experiment = load(CONFIGS / "paper.toml")
    assert isinstance(experiment, Config)
    assert experiment.suite.functions == tuple(range(1, 25))
    assert experiment.suite.dimensions == (2, 3, 5, 10, 20, 40)
    assert experiment.suite.instances == (*range(1, 6), *range(71, 81))
    assert experiment.budget.evaluations_per_dimension == 10_000


def test_defaults() -> None:
    data = config_data()
    del data["run"], data["seed"]
    data["solvers"] = [{"name": "cma"}]
    experiment = check(data)
    assert (experiment.start.lower, experiment.start.upper) == (-4.0, 4.0)
    assert experiment.start.sigma0 == 2.0
    assert experiment.solvers[0].label == "cma"
    assert experiment.solvers[0].restarts == "ipop"
    assert experiment.workers >= 1


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("1-4", (1, 2, 3, 4)),
        ("1,3,8-10", (1, 3, 8, 9, 10)),
        (" 8 - 9, 2", (2, 8, 9)),
        ([3, 1], (1, 3)),
        (7, (7,)),
    ],
)
def test_ranges(value: object, numbers: tuple[int, ...]) -> None:
    assert parse_range(value) == numbers


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("1-24a", "'1-24a' is no number and no range"),
        ("5-1", "'5-1' runs backwards; write '1-5'"),
        ("1-3,2", "2 is named twice"),
        ("0-3", "numbers begin with 1"),
        ("1,,2", "'' is no number"),
        ([], "names nothing"),
        ([1.5], "1.5 is no whole number"),
        ([True], "True is no whole number"),
        (-1, "-1: numbers begin with 1"),
    ],
)
def test_wrong_ranges(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_range(value)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (_section("suite", dimenson=[2]), "suite.dimenson = [2]: .* did you mean 'dimensions'?"),
        (_section("budget", evals=3), "budget.evals = 3: there is no such key"),
        ({**config_data(), "sovlers": []}, "sovlers = []: .* did you mean 'solvers'?"),
        (_section("suite", dimensions=[2, 4]), "suite.dimensions = [2, 4]: .* 4; it has 2, 3, 5,"),
        (_section("suite", functions="1-25"), "suite.functions = '1-25': BBOB has no function 25"),
        (_section("suite", functions="all"), "suite.functions = 'all': .* range '1-24'"),
        (_section("suite", instances="1-3,2,1"), "suite: instance 1 is named twice"),
        (_section("suite", year=2009), "suite: instances and year = 2009 are both given"),
        (_section("suite", year=1999), "suite.year = 1999: .* greater than or equal to 2009"),
        (
            _section("budget", evaluations_per_dimension=0),
            "budget.evaluations_per_dimension = 0: .* greater than or equal to 1",
        ),
        (
            _section("budget", evaluations_per_dimension="many"),
            "budget.evaluations_per_dimension = 'many': .* integer",
        ),
        (_section("start", lower=4.0), "start: lower = 4.0 must be less than upper = 4.0"),
        (_section("start", sigma0=0), "start.sigma0 = 0: .* greater than 0"),
        (_section("run", workers=0), "run.workers = 0: .* greater than or equal to 1"),
        ({**config_data(), "seed": -1}, "seed = -1: .* greater than or equal to 0"),
        ({**config_data(), "name": "a/b"}, "name = 'a/b': use two or more letters, digits"),
        ({**config_data(), "solvers": []}, "solvers = []: give at least one [[solvers]]"),
        ({**config_data(), "suite": 3}, "suite = 3: this is a section with keys (functions, "),
        (
            {k: v for k, v in config_data().items() if k != "budget"},
            "budget: missing",
        ),
    ],
)
def test_wrong_values(data: dict[str, Any], complaint: str) -> None:
    (problem,) = _problems(data)
    for part in complaint.split(".* "):
        assert part in problem


@pytest.mark.parametrize(
    ("solver", "complaint"),
    [
        ({"name": "cmaes"}, "solvers[0].name: unknown solver 'cmaes'; did you mean 'cma'?"),
        ({"name": "odd_solvers:nobody"}, "has no attribute 'nobody'"),
        ({"name": "no_such_module:solver"}, "there is no module 'no_such_module'"),
        ({"name": "cma", "label": "two words"}, "solvers[0].label = 'two words': use two or"),
        (
            {"name": "cma", "restarts": "tripop"},
            "solvers[0].restarts = 'tripop': choose one of none",
        ),
        ({"name": "cma", "restart": "ipop"}, "solvers[0].restart = 'ipop': .* mean 'restarts'?"),
        ({"name": "cma", "population_size": 1}, "solvers[0].population_size = 1: .* equal to 2"),
        (
            {"name": "cma", "settings": {"CMA_no_such_option": 1}},
            "solvers[0]: solver 'cma' does not work with .* 'CMA_no_such_option'",
        ),
        (
            {"name": "odd_solvers:refuses_settings", "settings": {"wrong": [3]}},
            "solvers[0]: .* TypeError: unexpected settings [3]",
        ),
    ],
)
def test_wrong_solvers(solver: dict[str, Any], complaint: str) -> None:
    (problem,) = _problems({**config_data(), "solvers": [solver]})
    for part in complaint.split(".* "):
        assert part in problem


def test_labels_are_folders_so_case_does_not_tell_them_apart() -> None:
    data = config_data()
    data["solvers"] = [{"name": "cma", "label": "CMA"}, {"name": "cma", "label": "cma"}]
    (problem,) = _problems(data)
    assert problem.startswith("solvers[1].label = 'cma': solvers[0] has the same label")


def test_all_problems_are_reported_at_once() -> None:
    data = config_data()
    data["suite"]["dimensions"] = [4]
    data["budget"] = {"evaluation_per_dimension": 10}
    data["solvers"] = [
        {"name": "nobody"},
        {"name": "cma", "label": "ab", "settings": {"CMA_no_such_option": 1}},
        {"name": "cma", "label": "AB"},
    ]
    problems = "\n".join(_problems(data))
    for expected in (
        "suite.dimensions = [4]",
        "budget.evaluation_per_dimension = 10",
        "budget.evaluations_per_dimension: missing",
        "solvers[0].name: unknown solver 'nobody'",
        "solvers[1]: solver 'cma' does not work",
        "solvers[2].label = 'AB': solvers[1] has the same label",
    ):
        assert expected in problems


def test_files_that_are_no_config(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't read it: No such file"):
        load(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = \nseed = 1\n")
    with pytest.raises(
        ConfigError, match=r"broken\.toml can't be run:\n  not valid TOML: .*line 1"
    ):
        load(broken)


def test_a_resolved_config_is_a_config_again() -> None:
    for suite in ({"year": 2009}, {"instances": ""}, {"instances": "3,1"}, {}):
        experiment = config(suite={"functions": "1", "dimensions": [2], **suite})
        again = check(experiment.document())
        assert again.document() == experiment.document()
        assert again.digest == experiment.digest


def test_the_digest_knows_results_and_not_workers(tmp_path: Path) -> None:
    first = load(write_toml(tmp_path / "c.toml", config_data()))
    assert tomllib.loads((tmp_path / "c.toml").read_text()) == config_data()
    assert config(run={"workers": 5}).digest == first.digest
    assert config(seed=8).digest != first.digest
    assert config(pause=0.5).digest != first.digest


def test_a_config_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        config().suite.functions = (1,)
