"""The restart policy around a solver whose stops are under the test's control."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers import registry
from casmore.solvers.protocol import Solver
from casmore.solvers.restarts import Restarting, RestartPolicy, UniformStart

Array = NDArray[np.float64]


class Clockwork:
    """Stops after three iterations, or at its target."""

    def __init__(
        self,
        x0: Array,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Any = None,
        target: float | None = None,
        **settings: Any,
    ) -> None:
        self.mean = np.array(x0)
        self.sigma0 = sigma0
        self.population_size = population_size or 4
        self.rng = np.random.default_rng(seed)
        self.target = target
        self.evaluations = 0
        self.best_x, self.best_y = self.mean, np.inf
        self.iterations = 0

    def ask(self) -> Array:
        return self.mean + self.rng.standard_normal((self.population_size, len(self.mean)))

    def tell(self, X: Array, y: Array) -> None:
        self.evaluations += len(y)
        self.iterations += 1
        if y.min() < self.best_y:
            self.best_x, self.best_y = X[y.argmin()].copy(), float(y.min())

    def stop(self) -> dict[StopReason, float]:
        if self.target is not None and self.best_y <= self.target:
            return {StopReason.TARGET: self.best_y}
        return {StopReason.NO_PROGRESS: 3.0} if self.iterations == 3 else {}


def drive(solver: Restarting, iterations: int) -> tuple[list[Array], list[float]]:
    batches, values = [], []
    for _ in range(iterations):
        X = solver.ask()
        y = (X**2).sum(axis=1)
        solver.tell(X, y)
        batches.append(X)
        values.extend(y.tolist())
    return batches, values


def test_ipop_doubles_the_population_at_each_restart_and_keeps_the_best() -> None:
    solver = Restarting(Clockwork, UniformStart(2), 2.0, seed=1)
    batches, values = drive(solver, 12)
    assert [len(X) for X in batches] == [4] * 3 + [8] * 3 + [16] * 3 + [32] * 3
    assert solver.restarts == 3
    assert solver.evaluations == len(values) == 180
    assert solver.best_y == min(values)
    assert (solver.best_x**2).sum() == pytest.approx(min(values))
    assert solver.ended == [{StopReason.NO_PROGRESS: 3.0}] * 3
    assert solver.stop() == {}


class Single(Clockwork):
    """Has no population."""

    def __init__(self, x0: Array, sigma0: float, **arguments: Any) -> None:
        assert arguments["population_size"] is None
        super().__init__(x0, sigma0, **arguments)
        self.population_size = 0

    def ask(self) -> Array:
        return np.atleast_2d(self.mean)


@pytest.mark.parametrize("policy", [RestartPolicy.IPOP, RestartPolicy.BIPOP])
def test_a_solver_without_population_is_just_started_again(policy: RestartPolicy) -> None:
    solver = Restarting(Single, UniformStart(2), 2.0, policy=policy, seed=1)
    batches, _ = drive(solver, 12)
    assert solver.restarts == 3
    assert {float(X.sum()) for X in batches} == {float(X.sum()) for X in batches[::3]}
    assert len({float(X.sum()) for X in batches}) == 4
    assert isinstance(solver.solver, Single)
    assert solver.solver.sigma0 == 2.0


def test_bipop_keeps_the_balance_of_its_two_regimes() -> None:
    solver = Restarting(Clockwork, UniformStart(2), 2.0, policy=RestartPolicy.BIPOP, seed=5)
    runs: list[tuple[int, float, int]] = []
    while len(runs) < 60:
        X = solver.ask()
        current = solver.solver
        assert isinstance(current, Clockwork)
        solver.tell(X, (X**2).sum(axis=1))
        if solver.restarts == len(runs):
            runs.append((current.population_size, current.sigma0, 0))
        runs[-1] = (*runs[-1][:2], current.evaluations)
        if current.population_size > 1000:
            break
    assert runs[0] == (4, 2.0, 12)
    # by hand, from Hansen 2009: the regime that has spent less, the large one first
    spent = {"large": 0, "small": 0}
    large, last_large = 4, 12
    regimes = []
    for population, sigma0, evaluations in runs[1:-1]:
        if spent["large"] <= spent["small"]:
            regimes.append("large")
            large *= 2
            assert (population, sigma0) == (large, 2.0)
            assert evaluations == 3 * population
            last_large = evaluations
        else:
            regimes.append("small")
            assert 4 <= population <= large / 2
            assert 0.02 <= sigma0 <= 2.0
            # ends with the iteration that spends half of the last large run
            assert evaluations < last_large / 2 + population
        spent[regimes[-1]] += evaluations
    assert regimes[0] == "large"
    assert regimes.count("small") > regimes.count("large") > 4
    assert solver.evaluations == sum(evaluations for _, _, evaluations in runs)


class NoEnd(Clockwork):
    """Goes on for ever with a small step size."""

    def stop(self) -> dict[StopReason, float]:
        return {} if self.sigma0 < 2 else super().stop()


def test_bipop_cuts_small_runs_at_half_of_the_last_large_one() -> None:
    solver = Restarting(NoEnd, UniformStart(2), 2.0, policy=RestartPolicy.BIPOP, seed=5)
    drive(solver, 14)
    assert solver.restarts >= 3
    assert solver.ended[1] == {StopReason.NO_PROGRESS: 3.0}  # the large one, of 3 x 8
    assert solver.ended[2] == {StopReason.BUDGET: 12.0}


@pytest.mark.parametrize(
    ("name", "settings"),
    [("cma", {}), ("nelder-mead", {}), ("differential-evolution", {"maxiter": 3})],
)
def test_with_a_function_at_hand_it_is_the_same_run(name: str, settings: dict[str, Any]) -> None:
    def make() -> Restarting:
        return Restarting(
            registry.factory(name),
            UniformStart(2),
            2.0,
            policy=RestartPolicy.BIPOP,
            seed=3,
            settings=settings,
        )

    asked, told = make(), make()
    reference = np.concatenate(drive(told, 1500)[0])
    points = [np.empty((0, 2))]

    def evaluate(X: Array) -> Array | None:
        points.append(X)
        return None if sum(map(len, points)) >= len(reference) else (X**2).sum(axis=1)

    while sum(map(len, points)) < len(reference):
        asked.advance(evaluate)
    assert np.array_equal(np.concatenate(points), reference)
    assert told.restarts >= 1
    assert asked.restarts == told.restarts


def test_none_ends_with_the_solvers_reasons() -> None:
    solver = Restarting(Clockwork, UniformStart(2), 2.0, policy=RestartPolicy.NONE, seed=1)
    drive(solver, 3)
    assert solver.stop() == {StopReason.NO_PROGRESS: 3.0}
    assert solver.restarts == 0


def test_the_target_ends_the_whole() -> None:
    solver = Restarting(Clockwork, UniformStart(2), 2.0, seed=1, target=1e9)
    drive(solver, 1)
    assert StopReason.TARGET in solver.stop()


def test_starts_are_fresh_and_uniform() -> None:
    start = UniformStart(3)
    rng = np.random.default_rng(0)
    points = np.array([start(rng) for _ in range(4000)])
    assert points.min() >= -4
    assert points.max() <= 4
    assert points.mean() == pytest.approx(0, abs=0.1)
    assert points.var() == pytest.approx(64 / 12, rel=0.05)
    with pytest.raises(ValueError, match="empty"):
        UniformStart(2, 1.0, 1.0)


@pytest.mark.parametrize("policy", [RestartPolicy.IPOP, RestartPolicy.BIPOP])
@pytest.mark.parametrize("name", ["cas-more", "cma", "xnes-as", "nelder-mead"])
def test_real_solvers_restart_reproducibly_and_survive_pickling(
    name: str, policy: RestartPolicy
) -> None:
    def make(seed: int = 3) -> Restarting:
        return Restarting(registry.factory(name), UniformStart(2), 2.0, policy=policy, seed=seed)

    whole, part, other = make(), make(), make(seed=4)
    batches, _ = drive(whole, 300)
    before, _ = drive(part, 60)
    part = pickle.loads(pickle.dumps(part))
    after, _ = drive(part, 240)
    assert whole.restarts >= 1
    for ours, theirs in zip(batches, before + after, strict=True):
        assert (ours == theirs).all()
    assert (drive(other, 1)[0][0] != batches[0]).all()
    assert isinstance(whole, Solver)
    assert isinstance(whole.solver, Solver)
