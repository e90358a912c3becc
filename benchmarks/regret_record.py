"""CPU time that the record of regret adds to the trials of a configuration.

    python benchmarks/regret_record.py configs/quick.toml

Each unit runs with and without the record, in turn; the table has the ratio of the sums, and the
median of the ratios, for each solver and dimension.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from casmore.experiments import worker
from casmore.experiments.config.check import load
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Work
from casmore.problems.regret import RegretRecorder


class _Nothing:
    """Takes the place of the recorder."""

    def __init__(self, mean: Any, value_at: Any) -> None: ...

    def add(self, y: Any) -> None: ...

    def end(self) -> None: ...

    def document(self, optimal_value: float) -> dict[str, Any]:
        return {}


def _seconds(work: Work, *, record: bool) -> float:
    recorder = RegretRecorder if record else _Nothing
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(worker, "RegretRecorder", recorder),
    ):
        began = time.process_time()
        outcome = worker.run_unit(work, RunFolder(Path(folder)))
        if outcome.error:
            raise SystemExit(outcome.error)
        return time.process_time() - began


def main() -> None:
    """Print the table."""
    times: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", type=Path, metavar="CONFIG.toml")
    plan = make_plan(load(parser.parse_args().config))
    _seconds(plan[0], record=True)  # the first one imports modules
    for i, work in enumerate(plan):
        with_record = i % 2 == 0
        first, second = (_seconds(work, record=r) for r in (with_record, not with_record))
        pair = (first, second) if with_record else (second, first)
        times[work.unit.label, work.unit.dimension].append(pair)
    print("| solver | dimension | trials | ms without | ratio of sums | median ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (label, dimension), pairs in times.items():
        recorded, without = np.array(pairs).T
        print(
            f"| {label} | {dimension} | {len(pairs)} | {1e3 * np.median(without):.0f} | "
            f"{recorded.sum() / without.sum():.3f} | {np.median(recorded / without):.3f} |"
        )


if __name__ == "__main__":
    main()
