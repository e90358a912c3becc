"""The harness at scale: 20 solvers x 2160 units on 1000 simulated workers; nothing is evaluated.

    python benchmarks/harness_scale.py [--solvers 20] [--workers 1000] [--out FOLDER]

The session is the real one: plan, schedule, locks, outcomes, progress, merge. Only its backend is
simulated: each of the workers takes a batch, is busy for a time by a clock of its own, and then
publishes units whose files were made up beforehand. What writing those takes is taken off: it is
the workers' time, not the session's.
"""

import argparse
import heapq
import io
import pickle
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from casmore.experiments import backends, runner
from casmore.experiments.backends import Batch
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import check
from casmore.experiments.merge import merge
from casmore.experiments.plan import make_plan, schedule
from casmore.experiments.shard import Shard
from casmore.experiments.status import status, text
from casmore.experiments.store.checksums import write_checksums
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Unit, Work
from casmore.experiments.worker import UnitOutcome, Workplace

_SECONDS_PER_COST = 1e-5  # of a simulated worker, for an evaluation and dimension


def main() -> None:
    """Simulate, and print what the session's part took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--solvers", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="where to work; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.out) as out:
        _simulate(Path(out), options.solvers, options.workers)


def _simulate(out: Path, solvers: int, workers: int) -> None:
    _say("process before the plan", f"{_megabytes():.0f} MB")
    config = _config(solvers)
    plan = _timed("plan", lambda: make_plan(config))
    print(f"  {solvers} solvers, {len(plan)} units, {workers} workers")
    batches = _timed("schedule", lambda: list(schedule(plan, workers)))
    _timed(f"plan and select a shard of {workers}", lambda: Shard(3, workers).of(make_plan(config)))
    place = Workplace(out, "all", "token")
    sizes = [len(pickle.dumps((batch, place))) for batch in batches]
    _say("a worker is sent", f"at most {max(sizes) / 1024:.1f} KiB, for any size of the plan")

    root = out / "run"
    simulated = Simulated(root, looks=Looks(plan))
    wall, cpu = time.perf_counter(), time.process_time()
    with patch.object(backends, "make", lambda run, workers: simulated):
        runner.run(config, root, workers=workers, stream=io.StringIO())
    wall = time.perf_counter() - wall - simulated.wall
    cpu = time.process_time() - cpu - simulated.cpu
    _say("session, merge included, workers' part taken off", f"{wall:.1f} s ({cpu:.1f} s of CPU)")
    _say("  of it, CPU time per unit", f"{1e3 * cpu / len(plan):.2f} ms")
    best = sum(work.cost for work in plan) * _SECONDS_PER_COST / workers
    _say("simulated time of the run", f"{simulated.now:.0f} s; {best:.0f} s if none were ever idle")

    folder = RunFolder(root)
    units = [work.unit for work in plan]
    _timed("run again: nothing is left", lambda: _run_again(config, root, workers))
    _timed("status, all done", lambda: text(status(folder, plan)))
    folder.merged.unlink()
    _timed("merge all", lambda: merge(folder, units))
    _timed("merge again: nothing has changed", lambda: merge(folder, units))
    _say("session's process at its largest", f"{_megabytes():.0f} MB")


def _run_again(config: Config, root: Path, workers: int) -> None:
    with patch.object(backends, "make", lambda run, workers: None):
        runner.run(config, root, workers=workers, stream=io.StringIO())


class Looks:
    """Looks at the status while the session is at work, as a person would beside it."""

    def __init__(self, plan: tuple[Work, ...]) -> None:
        self._plan, self._when = plan, len(plan) // 2

    def __call__(self, folder: RunFolder, published: int) -> None:
        """Look once, when half of the units are done."""
        if published >= self._when:
            self._when = len(self._plan) + 1
            what = "status, half done, session at work"
            _timed(what, lambda: text(status(folder, self._plan)))


class Simulated:
    """A backend whose workers have a clock of their own.

    Attributes
    ----------
    now
        The simulated time, in seconds.
    wall, cpu
        What the workers' part has really taken: making the units' files.
    """

    def __init__(self, root: Path, looks: Looks) -> None:
        self._folder, self._looks = RunFolder(root), looks
        self.now = self.wall = self.cpu = 0.0
        self._published = 0
        self._made: set[Path] = set()

    def run(
        self, batches: Iterable[Batch], place: Workplace, *, workers: int, tick: Callable[[], None]
    ) -> Iterator[UnitOutcome]:
        """Let each worker take a batch when it is free."""
        queue = iter(batches)
        busy: list[tuple[float, int, Batch]] = []
        for worker, batch in zip(range(workers), queue, strict=False):
            heapq.heappush(busy, (self._takes(batch), worker, batch))
        while busy:
            self.now, worker, batch = heapq.heappop(busy)
            for work in batch:
                self._publish(work)
                yield UnitOutcome(work.unit, work.cost * _SECONDS_PER_COST, work.budget)
            tick()
            self._looks(self._folder, self._published)
            following = next(queue, None)
            if following is not None:
                heapq.heappush(busy, (self.now + self._takes(following), worker, following))

    @staticmethod
    def _takes(batch: Batch) -> float:
        return sum(work.cost for work in batch) * _SECONDS_PER_COST

    def _publish(self, work: Work) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        target = self._folder.unit(work.unit)
        if target.parent not in self._made:
            target.parent.mkdir(parents=True)
            self._made.add(target.parent)
        _make_up(target, work.unit, work.budget)
        self._published += 1
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


def _make_up(target: Path, unit: Unit, evaluations: int) -> None:
    """Write the files of a unit, of the size they have after a short run."""
    data = target / f"data_f{unit.function}"
    data.mkdir(parents=True)
    stem = f"bbobexp_f{unit.function}"
    row = "{} 0 +1.234567890e+00 +1.234567890e+01 +1.234567890e+01\n"
    rows = "% f evaluations | ...\n" + "".join(row.format(i) for i in range(1, 40))
    for kind in ("dat", "tdat", "rdat", "mdat"):
        (data / f"{stem}_DIM{unit.dimension}.{kind}").write_text(rows)
    (target / f"{stem}.info").write_text(
        f"suite = 'bbob', funcId = {unit.function}, DIM = {unit.dimension}, Precision = 1.000e-08, "
        f"algId = '{unit.label}'\n% simulated\n"
        f"data_f{unit.function}/{stem}_DIM{unit.dimension}.dat, "
        f"{unit.instance}:{evaluations}|1.2e+00"
    )
    (target / "unit.json").write_text(
        f'{{"evaluations": {evaluations}, "wall_seconds": 1.0, "cpu_seconds": 1.0}}\n'
    )
    write_checksums(target)


def _config(solvers: int) -> Config:
    config = check(
        {
            "name": "scale",
            "suite": {"functions": "1-24", "dimensions": [2, 3, 5, 10, 20, 40]},
            "budget": {"evaluations_per_dimension": 10_000},
            "solvers": [
                {"name": "random-search", "label": f"SOLVER-{i:02d}"} for i in range(solvers)
            ],
        },
        try_solvers=False,
    )
    assert isinstance(config, Config)
    return config


_T = TypeVar("_T")


def _timed(what: str, do: Callable[[], _T]) -> _T:
    wall, cpu = time.perf_counter(), time.process_time()
    result = do()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    _say(what, f"{wall:.2f} s ({cpu:.2f} s of CPU time)")
    return result


def _say(what: str, number: str) -> None:
    print(f"{what:52} {number}", flush=True)


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
