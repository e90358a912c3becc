"""The bridge: foreign solvers by ask and tell, exactly as they run by themselves."""

import gc
import math
import pickle
import subprocess
import sys
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from wrapped import coordinate_search, forgetful, in_batches, raises, swallows

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge

Array = NDArray[np.float64]


def f(X: Array) -> Array:
    values: Array = ((X - 0.3) ** 2) @ np.arange(1.0, X.shape[1] + 1)
    return values


def searching(steps: int = 40) -> Bridge:
    return Bridge(partial(coordinate_search, [1.0, -2.0], steps), [1.0, -2.0], 1.0)


def drive(solver: Bridge, asks: int = 10**6) -> list[Array]:
    asked: list[Array] = []
    while not solver.stop() and len(asked) < asks:
        X = solver.ask()
        solver.tell(X, f(X))
        asked.append(X)
    return asked


def threads() -> int:
    gc.collect()
    return sum(thread.name == "casmore-bridge" for thread in threading.enumerate())


def test_the_run_is_the_foreign_solvers_own() -> None:
    seen: list[Array] = []

    def direct(x: Any, /) -> float:
        seen.append(np.array(x))
        return float(f(np.atleast_2d(x))[0])

    reasons = coordinate_search([1.0, -2.0], 40, direct)
    solver = searching()
    asked = drive(solver)
    assert np.array_equal(np.concatenate(asked), np.array(seen))
    assert solver.stop() == reasons
    assert solver.evaluations == len(seen)
    values = f(np.array(seen))
    assert solver.best_y == values.min()
    assert (solver.best_x == np.array(seen)[values.argmin()]).all()
    assert (solver.mean == solver.best_x).all()


def test_after_its_end_it_has_nothing_to_ask_and_leaves_no_thread() -> None:
    solver = searching()
    drive(solver)
    with pytest.raises(RuntimeError, match="has ended"):
        solver.ask()
    solver.tell([[0.0, 0.0]], [-1.0])
    assert solver.best_y == -1
    assert threads() == 0


def test_batches_may_be_told_bit_by_bit_in_any_order_among_others() -> None:
    def make() -> Bridge:
        return Bridge(partial(in_batches, 2), [0.0, 0.0], 1.0)

    at_once, bit_by_bit = make(), make()
    for k in range(1, 6):
        X = at_once.ask()
        at_once.tell(X, f(X))
        V = bit_by_bit.ask()
        assert V.shape == (k, 2)
        assert np.array_equal(X, V)
        for x in V[::-1]:
            assert x in bit_by_bit.ask()
            foreign = x + 1e-9
            bit_by_bit.tell(foreign[np.newaxis], [-7.0])
            bit_by_bit.tell(x[np.newaxis], f(x[np.newaxis]))
    assert at_once.evaluations == 15
    assert bit_by_bit.evaluations == 30
    assert bit_by_bit.best_y == -7


@pytest.mark.parametrize("at", [0, 1, 13, 10**6])
def test_pickled_anywhere_it_goes_on_as_the_uninterrupted_one(at: int) -> None:
    whole = drive(searching())
    solver = searching()
    before = drive(solver, at)
    if at == 13:
        solver.ask()  # between ask and tell, too
    copy = pickle.loads(pickle.dumps(solver))
    after = drive(copy)
    assert np.array_equal(np.concatenate(before + after), np.concatenate(whole))
    assert copy.evaluations == len(whole)
    assert copy.stop()
    # the original is not disturbed
    assert np.array_equal(np.concatenate(before + drive(solver)), np.concatenate(whole))


@pytest.mark.parametrize("left_at", [0, 13, 10**6])
def test_run_in_this_thread_it_is_the_same_run_and_can_be_gone_on_with(left_at: int) -> None:
    whole = searching()
    reference = np.concatenate(drive(whole))
    solver = searching()
    asked: list[Array] = []

    def evaluate(X: Array) -> Array | None:
        if len(asked) == left_at:
            return None
        asked.append(X)
        return f(X)

    before = threading.active_count()
    solver.run_through(evaluate)
    assert threading.active_count() == before
    copy = pickle.loads(pickle.dumps(solver))
    for which in (solver, copy):
        after = drive(which)
        assert np.array_equal(np.concatenate(asked + after), reference)
        assert (which.evaluations, which.best_y) == (whole.evaluations, whole.best_y)
        assert which.stop() == whole.stop()
    with pytest.raises(RuntimeError, match="has begun already"):
        solver.run_through(evaluate)


def test_run_in_this_thread_errors_of_the_objective_are_not_the_solvers() -> None:
    def broken(X: Array) -> Array:
        raise ValueError("of the objective")

    with pytest.raises(ValueError, match="of the objective"):
        searching().run_through(broken)
    solver = Bridge(partial(raises, ValueError, 2), [0.0, 0.0], 1.0)
    solver.run_through(f)
    assert solver.stop() == {StopReason.UPDATE_FAILED: 2.0}
    solver = Bridge(partial(coordinate_search, [1.0, -2.0], 99), [1.0, -2.0], 1.0, target=0.5)
    solver.run_through(f)
    assert StopReason.TARGET in solver.stop()


def test_a_solver_that_does_not_repeat_itself_is_found_out() -> None:
    solver = Bridge(partial(forgetful, 0.0), [0.0, 0.0], 1.0)
    drive(solver, 5)
    with pytest.raises(RuntimeError, match="did not repeat its run"):
        pickle.loads(pickle.dumps(solver)).ask()


def test_dropped_it_ends_its_thread_even_one_that_swallows_exceptions() -> None:
    log: list[str] = []
    solver = Bridge(partial(swallows, log), [0.0, 0.0], 1.0)
    drive(solver, 3)
    assert threads() == 1
    del solver
    assert threads() == 0
    assert log == ["end"]


def test_thousands_of_problems_leave_no_threads() -> None:
    before = threading.active_count()
    for _ in range(2000):
        drive(searching(), 2)
    assert threading.active_count() == before


def test_an_unfinished_run_does_not_hold_up_the_end_of_the_process() -> None:
    program = """
import numpy as np
from casmore.solvers import registry
kept = registry.factory("nelder-mead")(
    np.ones(3), 1.0, population_size=None, seed=1, target=None)
print(kept.ask().shape)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("(1, 3)\n", "")


def test_failing_over_values_ends_the_run_and_other_errors_are_raised() -> None:
    over_values = Bridge(partial(raises, ValueError, 2), [0.0, 0.0], 1.0)
    drive(over_values)
    assert over_values.stop() == {StopReason.UPDATE_FAILED: 2.0}
    with pytest.raises(KeyError, match="as asked for"):
        drive(Bridge(partial(raises, KeyError, 2), [0.0, 0.0], 1.0))
    with pytest.raises(ValueError, match="as asked for"):  # at once: it was started wrongly
        Bridge(partial(raises, ValueError, 0), [0.0, 0.0], 1.0).ask()
    assert threads() == 0


def test_values_that_are_not_finite_are_told_as_infinity() -> None:
    told: list[float] = []

    def run(objective: Any) -> dict[StopReason, float]:
        told.extend(objective(np.zeros(2)) for _ in range(3))
        return {StopReason.NO_PROGRESS: 0.0}

    solver = Bridge(run, [0.0, 0.0], 1.0)
    for value in (math.nan, math.inf, -math.inf):
        solver.tell(solver.ask(), [value])
    assert told == [math.inf, math.inf, -math.inf]


def test_the_target_is_a_reason_to_stop() -> None:
    solver = Bridge(partial(coordinate_search, [1.0, -2.0], 99), [1.0, -2.0], 1.0, target=0.5)
    drive(solver)
    assert StopReason.TARGET in solver.stop()
    assert solver.best_y <= 0.5
