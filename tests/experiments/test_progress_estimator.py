"""The time left, worked out by hand from what a few units have taken."""

import pytest
from harness import config

from casmore.experiments.plan import make_plan
from casmore.experiments.progress_estimator import ProgressEstimator, group_of

SOLVERS = [{"name": "odd_solvers:RandomSearch", "label": label} for label in ("A1", "B1")]
SUITE = {"functions": "1", "dimensions": [2, 5, 10], "instances": "1"}
# a unit's budget and the time of an evaluation both grow with n, so a unit's cost does with n^2
PLAN = make_plan(config(solvers=SOLVERS, suite=SUITE))


def test_nothing_is_known_before_a_unit_has_ended_or_while_none_is_run() -> None:
    estimator = ProgressEstimator(PLAN)
    assert estimator.seconds_left({("A1", 2): 1}, 1) is None
    estimator.add(("A1", 2), 3.0)
    assert estimator.seconds_left({("A1", 2): 1}, 0) is None


def test_each_solver_has_its_own_mean_in_each_dimension() -> None:
    estimator = ProgressEstimator(PLAN)
    for group, seconds in (
        (("A1", 2), 3.0),
        (("A1", 2), 5.0),
        (("B1", 2), 100.0),
        (("A1", 10), 7.0),
    ):
        estimator.add(group, seconds)
    left = {("A1", 2): 3, ("B1", 2): 1, ("A1", 10): 2}
    assert estimator.seconds_left(left, 1) == pytest.approx(3 * 4.0 + 100.0 + 2 * 7.0)
    assert estimator.seconds_left(left, 4) == pytest.approx((3 * 4.0 + 100.0 + 2 * 7.0) / 4)


def test_of_an_unknown_group_the_nearest_is_scaled_with_the_expected_cost() -> None:
    estimator = ProgressEstimator(PLAN)
    estimator.add(("A1", 2), 8.0)
    assert estimator.seconds_left({("A1", 5): 1}, 1) == pytest.approx(8.0 * 25 / 4)
    assert estimator.seconds_left({("B1", 5): 1}, 1) == pytest.approx(8.0 * 25 / 4)
    estimator.add(("B1", 10), 50.0)
    # the dimension counts more than the solver: 5 is nearer to 2 than to 10
    assert estimator.seconds_left({("B1", 5): 1}, 1) == pytest.approx(8.0 * 25 / 4)
    # at the same distance, the solver
    estimator.add(("B1", 2), 80.0)
    assert estimator.seconds_left({("B1", 5): 1}, 1) == pytest.approx(80.0 * 25 / 4)


def test_units_are_grouped_by_solver_and_dimension() -> None:
    assert [group_of(work.unit) for work in PLAN] == [
        *(("A1", 2), ("A1", 5), ("A1", 10)),
        *(("B1", 2), ("B1", 5), ("B1", 10)),
    ]
