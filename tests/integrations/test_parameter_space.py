"""The map between parameters and the unit cube, beside Optuna's own and counting."""

from collections import Counter

import numpy as np
import pytest
from optuna._transform import _SearchSpaceTransform
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from casmore.integrations.parameter_space import ParameterSpace, value_at

DISTRIBUTIONS: dict[str, BaseDistribution] = {
    "float": FloatDistribution(-3.0, 5.0),
    "log": FloatDistribution(1e-7, 10.0, log=True),
    "step": FloatDistribution(-1.0, 2.0, step=0.25),
    "int": IntDistribution(3, 9),
    "int step": IntDistribution(-10, 10, step=5),
    "int log": IntDistribution(1, 100, log=True),
}


def test_points_and_values_are_those_of_optuna() -> None:
    space = ParameterSpace(DISTRIBUTIONS)
    theirs = _SearchSpaceTransform(DISTRIBUTIONS, transform_0_1=True)
    for x in np.random.default_rng(1).uniform(size=(200, len(DISTRIBUTIONS))):
        values = space.to_values(x)
        assert values == pytest.approx(theirs.untransform(x), rel=1e-12)
        point = space.to_point(values)
        assert point == pytest.approx(theirs.transform(dict(values)), abs=1e-12)
        assert [type(v) for v in values.values()] == [float, float, float, int, int, int]


def test_all_values_of_a_parameter_with_steps_have_cells_of_the_same_size() -> None:
    space = ParameterSpace({"k": IntDistribution(2, 11, step=3)})
    values = [space.to_values(np.array([x]))["k"] for x in np.linspace(0, 1, 401)[:-1]]
    assert Counter(values) == {2: 100, 5: 100, 8: 100, 11: 100}


def test_values_that_are_missing_or_out_of_range_have_no_point() -> None:
    space = ParameterSpace(DISTRIBUTIONS)
    values = space.to_values(np.full(6, 0.5))
    assert space.to_point({**values, "other": "x"}) is not None
    assert space.to_point({**values, "log": 11.0}) is None
    assert space.to_point({**values, "log": -1.0}) is None
    assert space.to_point({k: v for k, v in values.items() if k != "int"}) is None


def test_the_value_of_one_parameter() -> None:
    assert value_at(FloatDistribution(1e-4, 1.0, log=True), 0.25) == pytest.approx(1e-3)
    assert value_at(IntDistribution(5, 5), 0.9) == 5


def test_a_categorical_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="parameter 'kernel' is not numerical"):
        ParameterSpace({"kernel": CategoricalDistribution(["a", "b"])})
