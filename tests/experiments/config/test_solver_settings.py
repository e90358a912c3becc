"""Settings that a solver refuses end in a message about their key, before anything is run."""

import math
from typing import Any

import pytest
from harness import config_data

from casmore.experiments.config.check import ConfigError, check

SMALL = {"functions": "1", "dimensions": [2], "instances": "1"}


def _check(name: str, settings: dict[str, Any]) -> list[str]:
    solver = {"name": name, "label": "SOLVER", "settings": settings}
    try:
        check(config_data(solvers=[solver], suite=SMALL))
    except ConfigError as error:
        return list(error.problems)
    return []


@pytest.mark.parametrize(
    ("name", "setting", "value", "wanted"),
    [
        ("cas-more", "whitening", "false", "True or False"),
        ("cas-more", "minimal_entropy", "x", "a number"),
        ("cas-more", "queue_size", 10.5, "an integer"),
        ("cas-more", "queue_size", True, "an integer"),
        ("cas-more", "epsilon_mean", math.nan, "a number"),
        ("cas-more", "epsilon_mean", -1.0, "positive"),
        ("more", "epsilon", "0.1", "a number"),
        ("xnes", "tolerance_f", -1, "finite, not negative"),
        ("cma", "CMA_active", "false", "what pycma evaluates: True, False"),
        ("cma", "tolx", "1e-11x", "what pycma evaluates"),
        ("cma", "tolfun", math.nan, "a number"),
        ("lq-cma", "CMA_elitist", "yes", "what pycma evaluates"),
        ("pybrain-xnes", "uniformBaseline", "no", "True or False"),
        ("pybrain-xnes", "covLearningRate", "0.1", "a positive number"),
        ("nelder-mead", "adaptive", "false", "True or False"),
        ("nelder-mead", "xatol", "1e-8", "a number that is not negative"),
        ("nelder-mead", "initial_simplex", [[0.0, "x"]], "a matrix of finite numbers"),
        ("powell", "ftol", math.nan, "a number that is not negative"),
        ("l-bfgs-b", "maxcor", 0, "an integer of at least 1"),
        ("l-bfgs-b", "maxls", 2.5, "an integer of at least 1"),
        ("l-bfgs-b", "bounds", [5, -5], "a pair of numbers, the lower one first"),
        ("slsqp", "eps", "small", "a positive number"),
        ("differential-evolution", "strategy", "best", "'best1bin' or"),
        ("differential-evolution", "mutation", [0.5, "1"], "a number in [0, 2), or a pair"),
        ("differential-evolution", "vectorized", "true", "True or False"),
        ("differential-evolution", "updating", "later", "'immediate' or 'deferred'"),
    ],
)
def test_a_setting_of_the_wrong_type_or_range(
    name: str, setting: str, value: Any, wanted: str
) -> None:
    (problem,) = _check(name, {setting: value})
    assert problem.startswith(f"solvers[0].settings.{setting} = {value!r}: must be {wanted}")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("cas-more", {"whitening": False, "maximal_condition": math.inf, "minimal_entropy": -50}),
        ("cma", {"CMA_active": False, "tolfun": "1e-9 * N", "CMA_elitist": "initial", "tolx": 0}),
        ("pybrain-xnes", {"uniformBaseline": False, "covLearningRate": 0.1}),
        ("nelder-mead", {"adaptive": True, "xatol": 0}),
        ("powell", {"direc": [[1, 0], [1, 1]]}),
        ("l-bfgs-b", {"maxcor": 5, "bounds": [-5, math.inf]}),
        ("differential-evolution", {"mutation": [0.5, 1], "init": "sobol", "polish": False}),
    ],
)
def test_right_settings(name: str, settings: dict[str, Any]) -> None:
    assert _check(name, settings) == []


@pytest.mark.parametrize("name", ["cas-more", "cma", "slsqp", "pybrain-xnes"])
def test_a_setting_that_does_not_exist(name: str) -> None:
    (problem,) = _check(name, {"no_such": 1})
    assert problem.startswith(f"solvers[0]: solver '{name}' does not work with")
    assert "no_such" in problem


@pytest.mark.parametrize("argument", ["population_size", "seed", "sigma0", "target", "x0"])
def test_what_the_run_itself_decides_is_no_setting(argument: str) -> None:
    (problem,) = _check("cma", {argument: 1})
    assert problem.startswith(f"solvers[0].settings: {argument} is not a setting: ")
