"""BBOB through cocoex: what is evaluated, what is logged, when it ends."""

import tempfile
from pathlib import Path
from typing import Any

import cocoex
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.problems import bbob
from casmore.problems.bbob import ObservedProblem, minimize
from casmore.solvers.protocol import Seed
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart


class Scripted:
    """Asks for points from a list, in batches of four, and stops after three batches."""

    def __init__(
        self,
        x0: NDArray[np.float64],
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        **settings: Any,
    ) -> None:
        self._points: list[NDArray[np.float64]] = settings["points"]
        self._told = 0
        self.mean = self.best_x = x0
        self.best_y = np.inf
        self.population_size = 4
        self.evaluations = 0

    def ask(self) -> NDArray[np.float64]:
        batch = [self._points.pop(0) for _ in range(4)]
        return np.array(batch)

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        self.evaluations += len(X)
        self._told += 1

    def stop(self) -> dict[StopReason, float]:
        return {StopReason.NO_PROGRESS: 3.0} if self._told >= 3 else {}


def _solver(
    points: list[NDArray[np.float64]], policy: RestartPolicy = RestartPolicy.IPOP
) -> Restarting:
    start = UniformStart(2)
    return Restarting(Scripted, start, 1.0, policy=policy, settings={"points": points}, seed=0)


def _problem(folder: Path, *, function: int = 1, dimension: int = 2) -> ObservedProblem:
    return ObservedProblem(
        function,
        dimension,
        1,
        outer_folder=folder,
        algorithm_name="TEST",
        algorithm_info="scripted",
    )


def _rows(folder: Path, ending: str) -> list[list[str]]:
    (path,) = folder.glob(f"*/*/*.{ending}")
    return [line.split() for line in path.read_text().splitlines() if line[0] != "%"]


def _random_points(count: int) -> list[NDArray[np.float64]]:
    return list(np.random.default_rng(1).uniform(-4, 4, (count, 2)))


def test_values_are_those_of_an_unobserved_problem(tmp_path: Path) -> None:
    points = _random_points(5)
    with _problem(tmp_path, function=10) as problem:
        values, noise_free = problem.evaluate(np.array(points))
        assert problem.evaluations == 5
        assert problem.best_value == min(values)
        assert np.array_equal(values, noise_free)
    suite = cocoex.Suite("bbob", "instances:1", "dimensions:2 function_indices:10")
    with suite.get_problem(0) as plain:
        assert values.tolist() == [plain(x) for x in points]


@pytest.mark.parametrize("budget", [3, 4, 10, 11])
def test_the_budget_is_met_to_the_point(budget: int, tmp_path: Path) -> None:
    points = _random_points(20)
    with _problem(tmp_path) as problem:
        reasons = minimize(_solver(list(points)), problem, budget)
        assert problem.evaluations == budget
    assert reasons == {StopReason.BUDGET: float(budget)}
    # the log has the solver's points and nothing before, between or after them
    logged = _rows(tmp_path, "tdat")
    assert int(logged[-1][0]) == budget
    for row in logged[:3]:
        x = points[int(row[0]) - 1]
        assert [float(value) for value in row[5:]] == pytest.approx(list(x), abs=1e-4)


def test_the_folder_may_have_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 10)
    folder.mkdir(parents=True)
    with _problem(folder) as problem:
        problem.evaluate(np.zeros((1, 2)))
    assert _rows(folder, "tdat")


def test_a_run_ends_at_the_evaluation_that_hits_the_final_target(tmp_path: Path) -> None:
    optimum = _optimum_of_the_sphere()
    points = [*_random_points(5), optimum, *_random_points(6)]
    with _problem(tmp_path) as problem:
        solver = _solver(points)
        reasons = minimize(solver, problem, 100)
        assert problem.evaluations == 6
        assert problem.final_target_hit
        assert reasons == {StopReason.TARGET: problem.best_value}
    assert solver.restarts == 0
    (info,) = tmp_path.glob("*/*.info")
    assert "1:6|" in info.read_text()


def _optimum_of_the_sphere() -> NDArray[np.float64]:
    """Solve |x - x*|^2 + c = f for x* from three points: a system of linear equations."""
    suite = cocoex.Suite("bbob", "instances:1", "dimensions:2 function_indices:1")
    with suite.get_problem(0) as f:
        at_0, at_1, at_2 = f([0, 0]), f([1, 0]), f([0, 1])
    return np.array([(1 - at_1 + at_0) / 2, (1 - at_2 + at_0) / 2])


def test_restarts_are_logged(tmp_path: Path) -> None:
    with _problem(tmp_path) as problem:
        solver = _solver(_random_points(40))
        minimize(solver, problem, 30)
    assert solver.restarts == 2  # three batches of four a run
    # COCO logs a restart with the first evaluation after it
    assert [int(row[0]) for row in _rows(tmp_path, "rdat")] == [13, 25]


def test_without_restarts_the_solvers_reason_is_the_end(tmp_path: Path) -> None:
    with _problem(tmp_path) as problem:
        solver = _solver(_random_points(40), policy=RestartPolicy.NONE)
        assert minimize(solver, problem, 30) == {StopReason.NO_PROGRESS: 3.0}
        assert problem.evaluations == 12
    assert _rows(tmp_path, "rdat") == []


def test_a_solver_that_asks_for_nothing_is_an_error(tmp_path: Path) -> None:
    class Empty(Scripted):
        def ask(self) -> NDArray[np.float64]:
            return np.empty((0, 2))

    solver = Restarting(Empty, UniformStart(2), 1.0, settings={"points": []})
    with (
        _problem(tmp_path) as problem,
        pytest.raises(ValueError, match="with k at least 1"),
    ):
        minimize(solver, problem, 30)


def test_problems_follow_one_another_in_one_process(tmp_path: Path) -> None:
    # also after an error: a second observed problem beside a first would end the process
    def fail(dimension: int) -> None:
        with _problem(tmp_path, dimension=dimension) as problem:
            problem.evaluate(np.zeros((1, dimension)))
            problem.evaluate(np.zeros((1, dimension + 1)))

    for dimension in (2, 3, 5):
        with pytest.raises(ValueError, match="does not match the problem dimension"):
            fail(dimension)
    assert len(list(tmp_path.glob("unit*/*.info"))) == 3


@pytest.mark.parametrize("place", ["my temporary files", "für_alle", "x" * 150])
def test_any_folder_of_temporary_files_will_do(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no paths of open folders."""
    monkeypatch.setattr(bbob, "_DESCRIPTORS", tmp_path / "none")
    (tmp_path / place).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / place))
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    with _problem(folder) as problem:
        problem.evaluate(np.zeros((1, 2)))
    assert _rows(folder, "tdat")


@pytest.mark.parametrize("name", ["with space", "ümläut", "comma,colon:", "plain"])
def test_any_path_will_do(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"  # a worker that is killed would leave its files there
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    outer = tmp_path / name
    outer.mkdir()
    with _problem(outer) as problem:
        problem.evaluate(np.zeros((1, 2)))
        assert list(temporary.iterdir()) == []
    assert problem.folder.parent == outer
    assert (problem.folder / "bbobexp_f1.info").read_text().endswith("1:1|1.4e+00")


@pytest.mark.parametrize("name", ["two words", "a:b", "x", ""])
def test_names_that_coco_would_misread_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"COCO would misread '{name}'"):
        ObservedProblem(1, 2, 1, outer_folder=tmp_path, algorithm_name=name, algorithm_info="ok")
