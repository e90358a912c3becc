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


@pytest.mark.parametrize("name", ["cas-more", "cma"])
def test_real_solvers_restart_reproducibly_and_survive_pickling(name: str) -> None:
    def make() -> Restarting:
        return Restarting(registry.factory(name), UniformStart(2), 2.0, seed=3)

    whole, part, other = make(), make(), Restarting(
        registry.factory(name), UniformStart(2), 2.0, seed=4
    )  # fmt: skip
    batches, _ = drive(whole, 150)
    before, _ = drive(part, 60)
    part = pickle.loads(pickle.dumps(part))
    after, _ = drive(part, 90)
    assert whole.restarts >= 1
    assert len({len(X) for X in batches}) == whole.restarts + 1
    for ours, theirs in zip(batches, before + after, strict=True):
        assert (ours == theirs).all()
    assert (drive(other, 1)[0][0] != batches[0]).all()
    assert isinstance(whole, Solver)
    assert isinstance(whole.solver, Solver)
