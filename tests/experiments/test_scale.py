"""What keeps a large run cheap: what a worker is sent, and that nothing is asked twice."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from harness import config

from casmore.experiments.plan import make_plan, schedule
from casmore.experiments.worker import Workplace

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "harness_scale.py"


def _largest_message(solvers: int, instances: str) -> int:
    suite = {"functions": "1-24", "dimensions": [2, 40], "instances": instances}
    named = [{"name": "odd_solvers:RandomSearch", "label": f"S{i:02d}"} for i in range(solvers)]
    experiment = config(suite=suite, solvers=named, budget={"evaluations_per_dimension": 10_000})
    place = Workplace(Path("/runs/scale"), "all", "token")
    batches = schedule(make_plan(experiment), workers=1000)
    return max(len(pickle.dumps((batch, place))) for batch in batches)


def test_what_a_worker_is_sent_does_not_grow_with_the_plan() -> None:
    assert _largest_message(1, "1") < 1500
    assert abs(_largest_message(5, "1-15") - _largest_message(1, "1")) < 20


@pytest.mark.slow
def test_a_thousand_simulated_workers() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--solvers", "1", "--workers", "1000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 solvers, 2160 units, 1000 workers" in done.stdout
    for part in ("status, half done", "merge all", "run again: nothing is left"):
        assert part in done.stdout
