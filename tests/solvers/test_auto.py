"""The composed solver: which part runs when, on functions that need each of them."""

import pickle
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
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


def cosh(x: Array) -> float:
    """An additive function."""
    return float(np.cosh(x - 1).sum())


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

    names = [name for name, _ in drive(make(3, quasi_newton_factor=0.5), slow, 60)]
    # it knows the value of its start; a gradient that began is finished
    assert 23 <= names.count("Bridge") <= 0.5 * 3 * 16 + 3


def ripples(x: Array) -> float:
    """A quadratic function with ripples, which end SLSQP at once."""
    z = x - 1.3
    return float(z @ z + 0.2 * z.sum() ** 2 - np.cos(40 * z[0] + 28 * z[1]) * np.cos(28 * z[0]))


def peaks(x: Array) -> float:
    """40 narrow smooth peaks, one twice as high as the others."""
    centers = np.random.default_rng(5).uniform(-4, 4, (40, 2))
    heights = np.exp(-10 * ((x - centers) ** 2).sum(axis=1))
    heights[0] *= 2
    return float(-heights.max())


@pytest.mark.parametrize("single_linkage", [False, True])
@pytest.mark.parametrize("f", [ripples, peaks])
def test_restarts_go_to_slsqp_or_lean_by_what_they_have_spent_and_found(
    f: F, single_linkage: bool
) -> None:
    solver = make(2, seed=4, single_linkage=single_linkage)
    spent, best, leader = {"Bridge": 0, "Restarting": 0}, np.inf, ""
    choices = set()
    before: tuple[str, int] | None = None  # the part that ran, and the restarts by then
    while solver.evaluations < 2000:
        part, X = type(solver.part).__name__, solver.ask()
        part = "Bridge" if part == "SingleLinkage" else part  # its points are those of SLSQP
        now = (part, solver.restarts)
        if spent["Restarting"] and now != before:  # a restart
            weight = 2 if leader == "Bridge" else 0.5
            is_behind = spent["Bridge"] < weight * spent["Restarting"]
            assert part == ("Bridge" if is_behind else "Restarting")
            choices.add((part, leader))
        before = now
        y = np.array([f(x) for x in X])
        if part != "CoordinateSearch":
            spent[part] += len(y)
        if y.min() < best:
            best, leader = y.min(), part
        solver.tell(X, y)
    assert len(choices) >= 2
    without = make(2, seed=4, local_restarts=False)
    assert parts(drive(without, f, 1500)) == ["CoordinateSearch", "Bridge", "Restarting"]


def test_slsqp_restarts_where_single_linkage_says() -> None:
    asked = drive(make(2, seed=4, single_linkage=True), peaks, 3000)
    runs = [np.array([x for _, x in group]) for _, group in groupby(asked, itemgetter(0))]
    names = parts(asked)
    rounds = [i for i, name in enumerate(names) if name == "SingleLinkage"]
    assert len(rounds) > 5
    for i in rounds:
        assert names[i - 1] != "CoordinateSearch"
        assert names[i + 1] == "Bridge"
        assert len(runs[i]) == 15
    # the first evaluation is one of the finite differences at the best point of the round
    start = min(runs[rounds[0]], key=peaks)
    assert runs[rounds[0] + 1][0] == pytest.approx(start, abs=1e-8)
    assert names.count("Bridge") == len(rounds) + 1


def test_a_run_that_converges_to_a_worse_value_ends_early() -> None:
    def runs(early_end: bool) -> list[Array]:
        """Return the values of each run."""
        solver, values, key = make(4, seed=3, early_end=early_end), [], None
        while solver.evaluations < 2500:
            part, X = solver.part, solver.ask()
            if key != (part, solver.restarts):
                key = (part, solver.restarts)
                values.append(np.empty(0))
            y = np.array([two_valleys(x) for x in X])
            values[-1] = np.append(values[-1], y)
            solver.tell(X, y)
        return values

    early, late = runs(True), runs(False)
    i = next(i for i, (a, b) in enumerate(zip(early, late, strict=False)) if len(a) != len(b))
    assert len(early[i]) < 0.7 * len(late[i])
    assert np.array_equal(early[i], late[i][: len(early[i])])
    # it converged to the minimum of 0.5, and the other one, of 0, was known
    assert min(map(min, early[:i])) < 1e-9
    assert 0.5 <= early[i].min() < early[i][-40:].max() < 0.55
    assert late[i].min() == pytest.approx(0.5, abs=1e-6)


def test_slsqp_ends_when_it_finds_nothing_better() -> None:
    def values(early_end: bool) -> list[float]:
        rng = np.random.default_rng(1)
        solver = make(5, coordinate_search=False, early_end=early_end)
        found: list[float] = []
        while isinstance(solver.part, Bridge):
            X = solver.ask()
            found += (y := [float(x @ x + rng.uniform()) for x in X])
            solver.tell(X, np.array(y))
        return found

    early, late = values(True), values(False)
    idle = len(early) - 1 - int(np.argmin(early))
    assert 30 <= idle < 36  # a gradient that began is finished
    assert early == late[: len(early)] != late


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


@pytest.mark.parametrize("part", ["CoordinateSearch", "Bridge", "Restarting", "SingleLinkage"])
def test_pickled_in_any_part_it_continues_the_run(part: str) -> None:
    f: F = {"CoordinateSearch": cosh, "SingleLinkage": two_valleys}.get(part, rotated_sphere)
    asked = drive(make(3, single_linkage=True), f, 1500)
    solver = make(3, single_linkage=True)
    first = next(i for i, (name, _) in enumerate(asked) if name == part)
    done = drive(solver, f, first if part == "SingleLinkage" else first + 6)
    assert type(solver.part).__name__ == part
    end = len(done) + 100
    rest = drive(pickle.loads(pickle.dumps(solver)), f, 100)
    points = np.array([x for _, x in done + rest])[:end]
    assert np.array_equal(points, np.array([x for _, x in asked])[:end])


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
    with pytest.raises(ValueError, match=r"population_factor = inf must be positive and finite"):
        make(population_factor=np.inf)
    for size in (-3, 0, 1):
        with pytest.raises(ValueError, match=f"population_size = {size} must be at least"):
            make(population_size=size)
    with pytest.raises(ValueError, match="restarts = 'ipopp' must be"):
        make(restarts="ipopp")
    with pytest.raises(ValueError, match="unknown solver 'lean-cas-moar'"):
        make(search="lean-cas-moar")
