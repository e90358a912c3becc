"""What can be wrong with a config, and what is said of it."""

import math
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import odd_solvers
import pytest
from harness import config, config_data, write_toml

from casmore.experiments.config.base import StartConfig
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import ConfigError, check, load
from casmore.experiments.config.ranges import parse_range
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import run_unit

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
    instances: dict[tuple[str, int], int] = Counter()
    for name in ("paper", "paper_lean", "paper_40d", "paper_40d_five"):
        experiment = load(CONFIGS / f"{name}.toml")
        assert isinstance(experiment, Config)
        assert experiment.suite.functions == tuple(range(1, 25))
        assert experiment.budget.evaluations_per_dimension == 10_000
        for solver in experiment.solvers:
            for n in experiment.suite.dimensions:
                instances[solver.label, n] += len(experiment.suite.trials)
    dimensions = (2, 3, 5, 10, 20, 40)
    labels = ("CAS-MORE", "CMA-ES", "MORE", "xNESas", "Lean-CAS-MORE")
    expected = {(label, n): 15 for label in labels for n in dimensions}
    expected |= {(label, 40): 5 for label in labels[2:]}
    assert instances == expected


def test_defaults() -> None:
    data = config_data()
    del data["run"], data["seed"]
    data["solvers"] = [{"name": "cma"}]
    experiment = check(data)
    assert experiment.start == StartConfig(lower=-4.0, upper=4.0, sigma0=2.0)
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
        ("1-24a", "'1-24a' is neither a number nor a range"),
        ("5-1", "'5-1' is a reversed range; write '1-5'"),
        ("1-3,2", "2 is given twice"),
        ("0-3", "numbers start at 1"),
        ("1,,2", "'' is neither a number"),
        ([], "give at least one number"),
        ([1.5], "1.5 is not a whole number"),
        ([True], "True is not a whole number"),
        ("99999999999", "'99999999999': numbers end at 100000"),
        ("1-1000000000", "'1-1000000000': numbers end at 100000"),
        ("9" * 10_000, "is neither a number nor a range"),
        ([10**5000], "numbers end at 100000"),
        (-1, "-1: numbers start at 1"),
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
        (_section("suite", functions="1-25"), "suite.functions = '1-25': bbob has no function 25"),
        (_section("suite", functions="all"), "suite.functions = 'all': .* range '1-24'"),
        (_section("suite", instances="1-3,2,1"), "suite: instance 1 is given twice"),
        (_section("suite", year=2009), "suite: instances and year = 2009 are both given"),
        (_section("suite", year=1999), "suite.year = 1999: .* bbob has instances of 2009 and la"),
        (
            _section("suite", name="bbob-noisy", functions="101-102,1"),
            "suite.functions = '101-102,1': bbob-noisy has no function 1; it has 101 to 130",
        ),
        (
            _section("suite", name="bbob-largescale"),
            "suite.dimensions = [2, 3]: bbob-largescale has no dimension 2, 3; it has 20, 40, 80,",
        ),
        (
            _section("suite", name="bbob-boxed", instances="", year=2024),
            "suite.year = 2024: year 2024: bbob-boxed has instances of 2023",
        ),
        (
            _section("suite", name="bbob_noisy"),
            "suite.name = 'bbob_noisy': there is no suite 'bbob_noisy'; did you mean 'bbob-noisy'?",
        ),
        (_section("suite", name=3), "suite.name = 3: there is no suite 3 (known: bbob, bbob-no"),
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
        (_section("start", sigma0=math.inf), "start.sigma0 = inf: .* finite"),
        (_section("start", lower=-math.inf), "start.lower = -inf: .* finite"),
        (_section("start", upper=math.nan), "start.upper = nan: .* finite"),
        (_section("start", upper=10**400), "start.upper = 1000.* valid number"),
        (_section("start", upper=True), "start.upper = True: .* valid number"),
        (_section("start", lower=-1e308, upper=1e308), "start: .* further apart than"),
        (_section("suite", instances="99999999999"), "suite.instances = '99999999999': .* 100000"),
        (
            _section("suite", instances="1-1000000000"),
            "suite.instances = .* numbers end at 100000",
        ),
        (
            _section("suite", functions="1-1000000000"),
            "suite.functions = .* numbers end at 100000",
        ),
        (_section("suite", instances="1-100000", functions="1-24"), "4800000 units; at most"),
        (
            _section("budget", evaluations_per_dimension=10**12),
            "budget.evaluations_per_dimension = 1000000000000: .* less than or equal to 1000000000",
        ),
        (_section("run", unit_timeout=math.inf), "run.unit_timeout = inf: .* finite"),
        (_section("run", unit_timeout=1e-9), "run.unit_timeout = 1e-09: .* or equal to 0.1"),
        (_section("run", unit_timeout=1e10), "run.unit_timeout = 10000000000.0: .* less than"),
        (_section("run", memory_gib=math.inf), "run.memory_gib = inf: .* finite"),
        (_section("run", memory_gib=1e-4), "run.memory_gib = 0.0001: .* or equal to 0.25"),
        (_section("run", memory_gib=1e9), "run.memory_gib = 1000000000.0: .* less than"),
        (_section("run", workers=10**6), "run.workers = 1000000: .* less than or equal to 10000"),
        ({**config_data(), "seed": 2**64}, "seed = 18446744073709551616: .* less than"),
        ({**config_data(), "name": "a" * 101}, "name = 'aaa.* 2 to 100 characters"),
        (
            {**config_data(), "solvers": [{"name": "cma", "label": "A" * 41}]},
            "the label 'AAAA.* too long for COCO; use at most 40",
        ),
        ({**config_data(), "solvers": {"name": "cma"}}, "solvers: write [[solvers]], with two"),
        (
            {**config_data(), "suite": [config_data()["suite"]]},
            "suite: write [suite], with one bracket on each side, once",
        ),
        ({**config_data(), "seed": -1}, "seed = -1: .* greater than or equal to 0"),
        (
            {**config_data(), "name": "a/b"},
            "name = 'a/b': use 2 to 100 characters: letters, digits",
        ),
        ({**config_data(), "solvers": []}, "solvers = []: give at least one [[solvers]]"),
        ({**config_data(), "suite": 3}, "suite = 3: this is a section with keys (name, fun"),
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
        ({"name": "mor"}, "solvers[0].name: unknown solver 'mor'; did you mean 'more'?"),
        ({"name": "odd_solvers:nobody"}, "has no attribute 'nobody'"),
        ({"name": "no_such_module:solver"}, "there is no module 'no_such_module'"),
        ({"name": "cma", "label": "two words"}, "solvers[0].label = 'two words': use 2 to 100"),
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
        ({"name": "broken_module:solver"}, "importing it fails: .* ZeroDivisionError: division"),
        ({"name": "cma", "population_size": 10**9}, "population_size = 1000000000: .* less than"),
        ({"name": "cma", "settings": {"big": 2**64}}, "0x10000000000000000 has more than 64 bits"),
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


def test_a_solver_is_tried_as_it_is_run() -> None:
    """In the config's dimensions, from its start."""
    corners = {"initial_simplex": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]}
    solver = {"name": "nelder-mead", "settings": corners}
    suite = {"functions": "1", "dimensions": [2]}
    assert config(solvers=[solver], suite=suite).solvers[0].settings == corners
    (problem,) = _problems(config_data(solvers=[solver], suite={**suite, "dimensions": [2, 3]}))
    assert "nelder-mead' does not work with" in problem
    assert "in 3-D: ValueError" in problem


def test_the_longest_label_and_name_of_a_solver_fit_into_cocos_options(tmp_path: Path) -> None:
    name = "odd_solvers:" + "S" * 100
    setattr(odd_solvers, "S" * 100, odd_solvers.RandomSearch)
    solver = {"name": name, "label": "L" * 40, "restarts": "bipop"}
    work = make_plan(config(solvers=[solver]))[0]
    root = tmp_path / "run"
    if len(str(root)) < 60:  # the longest path that COCO is given as it is
        root = tmp_path / ("r" * (59 - len(str(tmp_path))))
    assert run_unit(work, RunFolder(root)).error is None


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""], ids=["byte-order mark", "none"])
def test_a_byte_order_mark_is_no_part_of_a_config(start: bytes, tmp_path: Path) -> None:
    file = write_toml(tmp_path / "c.toml", config_data())
    file.write_bytes(start + file.read_bytes())
    assert load(file).digest == config().digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('name = "x"'.encode("utf-16"), "not encoded in UTF-8"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a = " + b"1" * 5000, "not valid TOML: Exceeds the limit"),
        (b"", "suite: missing"),
    ],
    ids=["UTF-16", "nested", "long number", "empty"],
)
def test_odd_files(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load(file)


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
    assert config(gate="elsewhere").digest != first.digest


def test_a_config_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        config().suite.functions = (1,)
