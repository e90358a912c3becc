"""The composed solver: which part runs when, on functions that need each of them."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from casmore.algorithms.coordinate_search import CoordinateSearch
from casmore.algorithms.lean_cas_more import LeanCasMore
from casmore.algorithms.stopping import StopReason
from casmore.solvers.auto import Auto
from casmore.solvers.bridge import Bridge
from casmore.solvers.conformance import check_solver
from casmore.solvers.restarts import Restarting

Array = NDArray[np.float64]
F = Callable[[Array], float]


def make(n: int = 3, seed: int = 1, **settings: Any) -> Auto:
    return Auto(np.full(n, 2.0), 2.0, seed=seed, **{"lower": -5.0, "upper": 5.0, **settings})


def drive(solver: Auto, f: F, evaluations: int, target: float = -np.inf) -> list[tuple[str, Array]]:
    """Return all points asked for, with the name of the part that asked."""
    asked: list[tuple[str, Array]] = []
    while len(asked) < evaluations and not solver.stop() and solver.best_y > target:
        part, X = type(solver.part).__name__, solver.ask()
        solver.tell(X, np.array([f(x) for x in X]))
        asked += [(part, x) for x in X]
    return asked


def parts(asked: list[tuple[str, Array]]) -> list[str]:
    """Return the parts in their order, each run once."""
    names = [name for name, _ in asked]
    return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]


def rotated_sphere(x: Array) -> float:
    """An ellipsoid that is not aligned with the coordinates."""
    z = x - 1.234
    return float(z @ z + 100 * z.sum() ** 2)


def two_valleys(x: Array) -> float:
    """Two coupled quadratic minima, the narrow one better."""
    a, b = x - 3.1, x + 2.2
    return float(min(a @ a + a.sum() ** 2 + 0.5, 4 * (b @ b) + b.sum() ** 2))


def test_an_additive_function_is_solved_by_the_coordinate_search_alone() -> None:
    solver = make(5, target=1e-8)
    asked = drive(solver, lambda x: float((np.abs(x - 1.1) ** 3 + (x - 1.1) ** 2).sum()), 200)
    assert parts(asked) == ["CoordinateSearch"]
    assert StopReason.TARGET in solver.stop()


def test_the_quasi_newton_part_is_scipy_s_slsqp_from_the_best_of_four_points() -> None:
    asked = drive(make(4), rotated_sphere, 400)
    assert parts(asked)[:3] == ["CoordinateSearch", "Bridge", "Restarting"]
    first = np.array([x for name, x in asked if name == "CoordinateSearch"])
    assert len(first) == 4
    start = min(first, key=rotated_sphere)
    theirs: list[Array] = []

    def recorded(x: Array) -> float:
        theirs.append(x.copy())
        return rotated_sphere(x)

    optimize.minimize(
        recorded, start, method="SLSQP", options={"maxiter": 1000, "eps": 2e-9, "ftol": 1e-10}
    )
    ours = [x for name, x in asked if name == "Bridge"][: len(theirs) - 1]
    # its first evaluation is at the start, whose value is known
    assert np.array_equal(ours, theirs[1:])


def test_lean_cas_more_starts_as_if_there_were_no_quasi_newton_part() -> None:
    def of_lean(quasi_newton: bool) -> Array:
        asked = drive(make(4, quasi_newton=quasi_newton), rotated_sphere, 300)
        return np.array([x for name, x in asked if name == "Restarting"])[:60]

    assert np.array_equal(of_lean(True), of_lean(False))


def test_a_run_of_slsqp_has_a_limit() -> None:
    def slow(x: Array) -> float:  # SLSQP does not converge on it
        return float(optimize.rosen(x) ** 0.1 + 1e-3 * abs(x).sum())

    names = [name for name, _ in drive(make(3, quasi_newton_factor=2.0), slow, 80)]
    # a gradient that began is finished
    assert 20 <= names.count("Bridge") <= 2 * 3 * 8 + 3


def test_local_searches_and_lean_runs_share_the_restarts() -> None:
    f: F = lambda x: float(np.cos(3 * x).prod() + 0.01 * x @ x)  # noqa: E731
    solver = make(2, seed=3)
    asked = drive(solver, f, 4000)
    names = [name for name, _ in asked]
    # after the first run of lean CAS-MORE each run is a restart
    runs = parts(asked)
    assert solver.restarts >= runs[runs.index("Restarting") + 1 :].count("Bridge") > 0
    share = names.count("Bridge") / names.count("Restarting")
    assert 0.5 < share <= 1.05
    without = make(2, seed=3, local_restarts=False)
    assert parts(drive(without, f, 1500)) == ["CoordinateSearch", "Bridge", "Restarting"]


def test_restarts_find_the_better_of_two_minima() -> None:
    for seed in range(3):
        solver = make(4, seed=seed)
        drive(solver, two_valleys, 5000, target=1e-8)
        assert solver.best_x == pytest.approx(np.full(4, -2.2), abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"coordinate_search": False}, ["Bridge", "Restarting"]),
        ({"quasi_newton": False}, ["CoordinateSearch", "Restarting"]),
        ({"coordinate_search": False, "quasi_newton": False}, ["Restarting"]),
    ],
)
def test_each_part_can_be_switched_off(settings: dict[str, bool], expected: list[str]) -> None:
    asked = drive(make(4, **settings, local_restarts=False), rotated_sphere, 200)
    assert parts(asked) == expected


def test_another_solver_can_take_the_place_of_lean_cas_more() -> None:
    solver = make(3, coordinate_search=False, quasi_newton=False, search="xnes")
    drive(solver, rotated_sphere, 50)
    assert isinstance(solver.part, Restarting)
    assert type(solver.part.solver).__name__ == "Xnes"


def test_without_restarts_it_stops_with_the_run_of_lean_cas_more() -> None:
    solver = make(2, restarts="none")
    drive(solver, rotated_sphere, 5000)
    assert set(solver.stop()) & {StopReason.NO_PROGRESS, StopReason.STEP_TOO_SMALL}
    assert solver.restarts == 0


def test_the_center_comes_first_only_within_bounds() -> None:
    assert (make(3).ask()[0] == 0).all()
    assert (make(3, center_first=False).ask()[0] == 2).all()
    assert (Auto(np.full(3, 2.0), 1.0, seed=1).ask()[0] == 2).all()
    mixed = Auto(np.full(2, 2.0), 1.0, seed=1, lower=[-5.0, -np.inf], upper=[6.0, 9.0])
    assert mixed.ask()[0].tolist() == [0.5, 2.0]


@pytest.mark.parametrize("part", ["CoordinateSearch", "Bridge", "Restarting"])
def test_pickled_in_any_part_it_continues_the_run(part: str) -> None:
    f = rotated_sphere if part != "CoordinateSearch" else lambda x: float(np.cosh(x - 1).sum())
    whole = make(3)
    asked = drive(whole, f, 150)
    solver = make(3)
    before = [next(i for i, (name, _) in enumerate(asked) if name == part) + 6]
    done = drive(solver, f, before[0])
    assert type(solver.part).__name__ == part
    rest = drive(pickle.loads(pickle.dumps(solver)), f, 150 - len(done))
    points = np.array([x for _, x in done + rest])[:150]
    assert np.array_equal(points, np.array([x for _, x in asked])[:150])


def test_the_parts_other_than_the_first_keep_the_contract_as_well() -> None:
    for settings in (
        {"coordinate_search": False},
        {"coordinate_search": False, "quasi_newton": False},
    ):
        assert not [f for f in check_solver(Auto, settings) if f.broken]


def test_the_last_gaussian_search_is_at_hand_at_any_time() -> None:
    solver = make(3)
    assert isinstance(solver.part, CoordinateSearch)
    assert isinstance(solver.solver, LeanCasMore)
    drive(solver, rotated_sphere, 10)
    assert isinstance(solver.part, Bridge)
    assert (solver.solver.mean == solver.best_x).all()
    drive(solver, rotated_sphere, 300)
    assert isinstance(solver.solver, LeanCasMore)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(TypeError, match="auto has no setting 'quasi_newtn'; did you mean 'quasi_n"):
        make(quasi_newtn=False)
    with pytest.raises(ValueError, match=r"quasi_newton_factor = 0\.0 must be positive"):
        make(quasi_newton_factor=0.0)
    with pytest.raises(ValueError, match="restarts = 'ipopp' must be"):
        make(restarts="ipopp")
    with pytest.raises(ValueError, match="unknown solver 'lean-cas-moar'"):
        make(search="lean-cas-moar")
