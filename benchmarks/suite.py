"""Time of a whole experiment with one and with two workers, and the memory of a worker.

    python benchmarks/suite.py [CONFIG] [--workers 1 2] [--repeats 1]

Runs CONFIG (default: configs/quick.toml) from nothing in temporary folders, the numbers of workers
taking turns. The parallel efficiency is the speed-up over one worker divided by their number. Peak
memory is that of the largest process, as the operating system counts it.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path


def run(config: str, workers: int) -> tuple[float, int]:
    """Return seconds and evaluations of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", config, "--out", folder, "--workers", str(workers)]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "casmore", *command], check=True)
        seconds = time.perf_counter() - start
        records = Path(folder).glob("units/*/*/unit.json")
        return seconds, sum(json.loads(path.read_text())["evaluations"] for path in records)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", nargs="?", default="configs/quick.toml")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    times: dict[int, list[float]] = defaultdict(list)
    for _ in range(options.repeats):
        for workers in options.workers:
            seconds, evaluations = run(options.config, workers)
            times[workers].append(seconds)
            print(f"{workers} workers: {seconds:.1f} s, {evaluations / seconds:,.0f} evaluations/s")
    base = options.workers[0]
    for workers in options.workers[1:]:
        speed_up = statistics.median(times[base]) / statistics.median(times[workers])
        print(f"{workers} workers do {speed_up:.2f} times the work of {base}", end="")
        print(f" (parallel efficiency {speed_up * base / workers:.0%})")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {largest:.0f} MiB")


if __name__ == "__main__":
    main()
