"""The analytic functions against COCO's own, and against values by hand."""

import math

import cocoex
import numpy as np
import pytest

from casmore.problems.analytic import (
    FUNCTIONS,
    AttractiveSector,
    Rosenbrock,
    RotatedEllipsoid,
    Sphere,
    oscillate,
)


@pytest.mark.parametrize("number", FUNCTIONS)
@pytest.mark.parametrize("dimension", [2, 3, 5, 10, 40])
def test_the_values_are_cocos(number: int, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    suite = cocoex.Suite("bbob", "", f"dimensions:{dimension} function_indices:{number}")
    for problem in suite:
        instance = problem.id_instance
        if instance > 3:
            continue
        ours = FUNCTIONS[number](dimension, instance)
        offset = problem(ours.x_opt)
        X = np.vstack(
            [rng.uniform(-5, 5, (20, dimension)), ours.x_opt + rng.normal(0, 0.1, (5, dimension))]
        )
        theirs = np.array([problem(x) for x in X]) - offset
        assert ours.batch(X) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        assert ours(X[0]) == pytest.approx(theirs[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("number", FUNCTIONS)
@pytest.mark.parametrize("dimension", [2, 15])
def test_the_optimum_has_the_value_0(number: int, dimension: int) -> None:
    f = FUNCTIONS[number](dimension, instance=4)
    assert f(f.x_opt) == pytest.approx(0, abs=1e-20)
    assert (np.abs(f.x_opt) <= 4).all()
    around = f.x_opt + np.random.default_rng(1).normal(0, 1e-3, (50, dimension))
    assert (f.batch(around) > 0).all()


def test_rosenbrock_by_hand() -> None:
    # in 15-D: the scale is 1, since sqrt(15) / 8 < 1
    f = Rosenbrock(15)
    z = np.ones(15)
    z[0], z[1] = 3.0, 2.0
    # 100 (9 - 2)^2 + (3 - 1)^2, then 100 (4 - 1)^2 + (2 - 1)^2
    assert f(z - 1 + f.x_opt) == pytest.approx(4900 + 4 + 900 + 1)


def test_rosenbrock_in_high_dimension_is_scaled() -> None:
    f = Rosenbrock(256)
    step = np.zeros(256)
    step[-1] = 0.5  # z_n = 1 + 2 / 2, since sqrt(256) / 8 = 2
    assert f(f.x_opt + step) == pytest.approx(100.0)


def test_the_sphere_by_hand() -> None:
    f = Sphere(2)
    assert f(f.x_opt + np.array([3.0, 4.0])) == pytest.approx(25.0)


def test_the_attractive_sector_is_steep_on_one_side() -> None:
    f = AttractiveSector(15)
    step = np.linalg.solve(f._map, np.eye(15)[0]) * np.sign(f.x_opt[0])
    # against the optimum's sign z = -1: T_osz(1) = 1; along it 100^2, T_osz and the power 0.9
    assert f(f.x_opt - step) == pytest.approx(1.0)
    assert f(f.x_opt + step) == pytest.approx(float(oscillate(np.array([1e4]))[0]) ** 0.9)


def test_the_ellipsoid_is_conditioned() -> None:
    f = RotatedEllipsoid(3)
    along_last = np.linalg.solve(f._map, np.eye(3)[2])
    assert f(f.x_opt + along_last) == pytest.approx(1e6)


def test_oscillation_by_hand() -> None:
    assert oscillate(np.array([0.0, 1.0, -1.0])) == pytest.approx([0.0, 1.0, -1.0])
    bent = math.exp(1 + 0.049 * (math.sin(10) + math.sin(7.9)))
    assert oscillate(np.array([math.e]))[0] == pytest.approx(bent)
    bent = -math.exp(1 + 0.049 * (math.sin(5.5) + math.sin(3.1)))
    assert oscillate(np.array([-math.e]))[0] == pytest.approx(bent)


def test_too_few_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 dimensions, not 1"):
        Rosenbrock(1)
