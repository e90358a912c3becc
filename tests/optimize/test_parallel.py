"""Evaluation in workers and executors, by iterations and asynchronously."""

import concurrent.futures
import multiprocessing.pool
import os
import pickle
import signal
import threading
import time
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import casmore
from casmore.optimize import worker_pool
from casmore.optimize.pool_evaluation import EvaluationFailedWarning

Array = NDArray[np.float64]
START = np.zeros(3)


def sphere(x: Array) -> float:
    return float(((x - 1) ** 2).sum())


def process_of(x: Array) -> float:
    time.sleep(0.001)
    return float(os.getpid())


def dies(x: Array) -> float:
    if x[0] > 0.5:
        os._exit(3)
    return sphere(x)


def raises(x: Array) -> float:
    if x[0] > 0.5:
        raise ValueError("the robot fell")
    return sphere(x)


def hangs(x: Array) -> float:
    if x[0] > 0.5:
        time.sleep(1000)
    return sphere(x)


def sleeps(x: Array) -> float:
    time.sleep(1000)
    return 0.0


def nothing(x: Array) -> None:
    pass


@pytest.fixture(scope="module")
def serial() -> Any:
    return casmore.fmin(sphere, START, 0.5, budget=300, seed=1)


def test_workers_give_the_same_run_as_one_process(serial: Any) -> None:
    for workers in (1, 2, map):
        result = casmore.fmin(sphere, START, 0.5, budget=300, seed=1, workers=workers)
        assert (result.x == serial.x).all()
        assert (result.mean == serial.mean).all()
    with multiprocessing.pool.ThreadPool(2) as pool:
        result = casmore.fmin(sphere, START, 0.5, budget=300, seed=1, workers=pool.map)
    assert (result.x == serial.x).all()
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        result = casmore.fmin(sphere, START, 0.5, budget=300, seed=1, executor=executor)
    assert (result.x == serial.x).all()


def test_the_evaluations_are_in_other_processes() -> None:
    values: set[float] = set()
    casmore.fmin(
        process_of, START, 0.5, budget=40, seed=1, workers=2,
        callback=lambda result: values.add(result.fun),
    )  # fmt: skip
    assert values
    assert os.getpid() not in values


@pytest.mark.parametrize(
    ("f", "message"), [(dies, "exit code 3"), (raises, "ValueError: the robot fell")]
)
@pytest.mark.parametrize("in_flight", [None, 2])
def test_what_fails_in_a_worker_is_a_value(f: Any, message: str, in_flight: int | None) -> None:
    with pytest.warns(EvaluationFailedWarning, match=message):
        result = casmore.fmin(
            f, START, 0.5, budget=60, seed=1, workers=2, in_flight=in_flight, restarts="ipop"
        )
    assert result.nfev == 60
    assert result.failures > 0
    assert result.x[0] <= 0.5
    assert sphere(result.x) == result.fun


@pytest.mark.parametrize("in_flight", [None, 2])
def test_f_at_the_mean_is_evaluated_in_a_worker_too(in_flight: int | None) -> None:
    result = casmore.fmin(
        process_of, START, 0.5, budget=14, seed=1, workers=2, in_flight=in_flight, trace=True
    )
    assert len(result.trace) >= 3
    assert os.getpid() not in result.trace["f_mean"]
    assert np.isfinite(result.trace["f_mean"]).all()


def test_the_asynchronous_loop_does_not_wait_for_f_at_the_mean() -> None:
    """The search ends although no value at the mean arrives until then."""
    seen: list[tuple[float, ...]] = []
    searched = threading.Event()

    def f(x: Array) -> float:
        at_mean = threading.current_thread().name.startswith("mean")
        if at_mean:
            searched.wait()
        seen.append(tuple(x))
        return sphere(x)

    class Executor(concurrent.futures.ThreadPoolExecutor):
        """Has a thread of its own for the means, which `ask` has not returned."""

        def submit(self, call: Any, x: Array) -> Any:  # type: ignore[override]
            if len(means) > 1 and any(np.array_equal(x, mean) for mean in means):
                return beside.submit(call, x)
            return super().submit(call, x)

    means = [START.copy()]

    def note(result: Any) -> bool:
        means.append(result.mean.copy())
        if result.nfev >= 60:
            searched.set()
        return False

    with (
        Executor(3) as executor,
        concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="mean") as beside,
    ):
        result = casmore.fmin(
            f, START, 0.5, budget=60, seed=1, executor=executor, in_flight=20, trace=True,
            callback=note,
        )  # fmt: skip
    assert result.nfev == 60
    assert len(seen) == 60 + len(result.trace)
    # after each iteration the callback has seen the mean
    assert result.trace["f_mean"] == pytest.approx([sphere(mean) for mean in means])


@pytest.mark.parametrize("in_flight", [None, 2])
def test_what_hangs_in_a_worker_is_a_value(in_flight: int | None) -> None:
    with pytest.warns(EvaluationFailedWarning, match=r"took more than 0.5 s"):
        result = casmore.fmin(
            hangs, START, 0.5, budget=14, seed=1, workers=2, in_flight=in_flight, timeout=0.5
        )
    assert result.nfev == 14
    assert 0 < result.failures < 14
    assert sphere(result.x) == result.fun


@pytest.mark.parametrize("in_flight", [None, 2])
def test_evaluations_in_workers_do_not_outlast_the_time(in_flight: int | None) -> None:
    began = time.monotonic()
    result = casmore.fmin(
        sleeps, START, 0.5, seed=1, workers=2, in_flight=in_flight, max_seconds=0.2
    )
    assert time.monotonic() - began < 1000 / 2
    assert list(result.stop) == [casmore.StopReason.TIME]
    assert result.nfev == 0
    assert multiprocessing.active_children() == []


def ends_late(x: Array) -> float:
    time.sleep(0.02 if x[0] == START[0] else 0.5)  # the mean's value arrives at once
    return sphere(x)


def test_abandoned_evaluations_are_not_taken_for_f_at_the_mean() -> None:
    result = casmore.fmin(ends_late, START, 0.5, seed=1, workers=4, trace=True, max_seconds=0.7)
    assert list(result.stop) == [casmore.StopReason.TIME]
    assert result.nfev < 7  # the others were under way
    first, *later = result.trace["f_mean"]
    assert first == sphere(np.array(START))
    assert np.isnan(later).all()


def test_no_process_is_left_behind() -> None:
    casmore.fmin(sphere, START, 0.5, budget=50, seed=1, workers=2)
    with pytest.raises(KeyboardInterrupt):
        casmore.fmin(sphere, START, 0.5, seed=1, workers=2, in_flight=2, callback=interrupt)
    assert multiprocessing.active_children() == []


def test_workers_end_though_the_caller_handles_sigterm() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        casmore.fmin(sphere, START, 0.5, budget=20, seed=1, workers=2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert multiprocessing.active_children() == []


def test_a_worker_that_dies_while_it_is_idle_costs_no_value() -> None:
    pool = worker_pool.WorkerPool(np.sum, 1, None)
    try:
        for key in range(2):
            pool.submit(key, np.ones(3))
            assert pool.wait(None) == [(key, 3.0, None)]
            ((process, _),) = pool._idle
            process.kill()
            process.join()
    finally:
        pool.close()


def test_an_idle_worker_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parent of a worker may be a fork server, the default from Python 3.14 on."""
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    method: Any = "forkserver" if has_server else "spawn"
    monkeypatch.setattr(worker_pool, "multiprocessing", multiprocessing.get_context(method))
    pool = worker_pool.WorkerPool(np.sum, 1, None)
    try:
        for key in range(2):
            pool.submit(key, np.ones(3))
            assert pool.wait(None) == [(key, 3.0, None)]
            (process, _) = pool._idle[0]
            process.join(1.1 * worker_pool._SECONDS_BETWEEN_LOOKS if key == 0 else 0)
            assert process.is_alive()
    finally:
        pool.close()


def interrupt(result: Any) -> None:
    raise KeyboardInterrupt


def test_a_forgotten_return_in_a_worker_is_an_error() -> None:
    with pytest.raises(TypeError, match="f returned None"):
        casmore.fmin(nothing, START, 0.5, workers=2)


def test_a_function_that_can_not_be_sent_is_named_at_once() -> None:
    with pytest.raises(TypeError, match="define it at the top of a module"):
        casmore.fmin(lambda x: 0.0, START, 0.5, workers=2)
    with (
        concurrent.futures.ProcessPoolExecutor(1) as executor,
        pytest.raises(TypeError, match="define it at the top of a module"),
    ):
        casmore.fmin(lambda x: 0.0, START, 0.5, executor=executor)


class Counting:
    """Counts the evaluations under way in threads."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()
        self._random = np.random.default_rng(1)

    def __call__(self, x: Array) -> float:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            pause = self._random.exponential(0.001)
        time.sleep(pause)
        with self._lock:
            self.now -= 1
        return sphere(x)


@pytest.mark.parametrize("restarts", ["none", "ipop"])
def test_the_asynchronous_loop_keeps_evaluations_under_way(restarts: str) -> None:
    f = Counting()
    with concurrent.futures.ThreadPoolExecutor(8) as executor:
        result = casmore.fmin(
            f, START, 0.5, target=1e-6, seed=1, executor=executor, in_flight=4, restarts=restarts
        )
    assert f.most == 4
    assert result.success
    assert sphere(result.x) == result.fun


def test_the_asynchronous_loop_keeps_its_budget() -> None:
    calls: list[float] = []

    def f(x: Array) -> float:
        calls.append(sphere(x))
        return calls[-1]

    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        result = casmore.fmin(
            f, START, 0.5, budget=123, seed=1, executor=executor, in_flight=5, target=-1.0,
            restarts="ipop",
        )  # fmt: skip
    assert len(calls) == result.nfev == 123
    assert result.fun == min(calls)


def test_a_value_after_the_restart_belongs_to_the_old_run() -> None:
    """Runs that end at once, and restart with evaluations under way, lose none of them."""
    with concurrent.futures.ThreadPoolExecutor(4) as executor, warnings.catch_warnings():
        warnings.simplefilter("error")
        result = casmore.fmin(
            lambda x: 1.0, START, 0.5, budget=2000, seed=1, executor=executor, in_flight=4,
            restarts="ipop", target=0.0,
        )  # fmt: skip
    assert result.nfev == 2000
    assert result.restarts > 0


class Pending(Future[Any]):
    """A future that is not waited for."""

    def result(self, timeout: float | None = None) -> Any:
        assert self.done()
        return super().result(timeout)


class ByHand:
    """An executor whose evaluations end when the test says so."""

    def __init__(self) -> None:
        self.futures: list[Pending] = []

    def submit(self, call: Any, x: Array) -> Pending:
        self.futures.append(Pending())
        self.futures[-1].set_running_or_notify_cancel()
        return self.futures[-1]


def test_an_abandoned_evaluation_does_not_hold_up_a_later_one_with_its_key() -> None:
    executor = ByHand()
    pool = worker_pool.ExecutorPool(sphere, executor, 1, timeout=0.01)
    pool.submit(0, START)
    outcomes = pool.wait(None)
    pool.submit(0, START)
    executor.futures[0].set_result(7.0)  # too late
    outcomes += pool.wait(None)
    assert [(o.key, o.failure) for o in outcomes] == [(0, "it took more than 0.01 s")] * 2


def test_points_under_way_are_resumed_with_fewer_workers(tmp_path: Path) -> None:
    path = tmp_path / "run.pkl"
    seen: list[Array] = []

    def f(x: Array) -> float:
        seen.append(x)
        return sphere(x)

    def one_iteration(in_flight: int) -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            casmore.fmin(
                f, START, 0.5, seed=1, executor=executor, in_flight=in_flight, checkpoint=path,
                callback=lambda result: True,
            )  # fmt: skip

    one_iteration(30)
    under_way = pickle.loads(path.read_bytes())["run"].under_way
    assert len(under_way) >= 20
    seen.clear()
    for _ in range(6):
        one_iteration(1)
    evaluated = {x.tobytes() for x in seen}
    assert {u.tobytes() for u in under_way} <= evaluated


def test_a_dask_client_is_an_executor() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        result = casmore.fmin(sphere, START, 0.5, target=1e-3, seed=1, executor=client, in_flight=2)
    assert result.success
