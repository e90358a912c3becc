"""
Parallel and asynchronous evaluation
====================================

Evaluate several points at a time, by iterations or asynchronously, and see what the workers do.
"""

# %%
# The function waits for a random time, as a simulation would compute, and records the time it took.
# Threads are enough for a function that waits. For a function that computes in Python, pass
# ``workers=4``, which evaluates in four processes.

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np

import casmore

durations = np.random.default_rng(1)
records = []


def simulate(x):
    begin = time.perf_counter()
    time.sleep(durations.exponential(0.01))
    records.append((threading.get_ident(), begin, time.perf_counter()))
    return ((x - 1) ** 2).sum()


# %%
# With an executor alone, all points of an iteration are evaluated in parallel, and the run equals
# one without workers. The next iteration begins when the slowest evaluation has ended. With
# ``in_flight=8``, eight evaluations are always in progress, and each value is used as it arrives.

runs = {}
for name, options in {"by iterations": {}, "asynchronously": {"in_flight": 8}}.items():
    records.clear()
    with ThreadPoolExecutor(8) as executor:
        result = casmore.fmin(
            simulate, np.zeros(4), 0.5, budget=240, executor=executor, seed=1, **options
        )
    runs[name] = list(records)
    seconds = max(end for *_, end in records) - min(begin for _, begin, _ in records)
    print(f"{name}: {result.nfev} evaluations in {seconds:.2f} s, best value {result.fun:.1e}")

# %%
# Each line is a worker, each bar an evaluation. The gaps are idle time.

figure, axes = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
for ax, (name, evaluations) in zip(axes, runs.items(), strict=True):
    workers = sorted({worker for worker, *_ in evaluations})
    first = min(begin for _, begin, _ in evaluations)
    for worker, begin, end in evaluations:
        ax.barh(workers.index(worker), end - begin, left=begin - first, edgecolor="white")
    ax.set(title=name, ylabel="worker", yticks=[])
axes[-1].set(xlabel="seconds")
plt.show()

# %%
# An asynchronous run needs more evaluations for the same precision, since each point is sampled
# before the values of the previous ones are known; :doc:`/minimize` and :doc:`/performance` have
# measurements. It pays off when durations differ. The run depends on the order in which evaluations
# end, so that it can't be repeated exactly.
