"""Evaluations that known ones save: cold and warm runs to 1e-8 on Rosenbrock's function and f10.

    python benchmarks/warm_start.py [--runs 20]

10 n evaluations are known: either samples of the initial search distribution, or the first ones
of an earlier run from the same start. Printed is the mean number of new evaluations.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import rosen

import casmore

Array = NDArray[np.float64]
Objective = Callable[[Array], float]


def rotated_ellipsoid(n: int) -> Objective:
    """Return f10: condition number 1e6, rotated, minimum at (1, ..., 1)."""
    Q, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((n, n)))
    weights = np.logspace(0, 6, n)
    return lambda x: float(weights @ (Q @ (x - 1)) ** 2)


def known(f: Objective, n: int, kind: str) -> tuple[Array, Array]:
    """Return 10 n points and their values."""
    if kind == "samples":
        X = 0.5 * np.random.default_rng(5).standard_normal((10 * n, n))
        return X, np.array([f(x) for x in X])
    points: list[Array] = []

    def recorded(x: Array) -> float:
        points.append(x)
        return f(x)

    casmore.fmin(recorded, np.zeros(n), 0.5, budget=10 * n, seed=1000)
    return np.array(points), np.array([f(x) for x in points])


def mean_evaluations(f: Objective, n: int, runs: int, lean: bool, kind: str) -> float:
    """Return the mean number of new evaluations to 1e-8 over the runs, all of which succeed."""
    X, y = (None, None) if kind == "none" else known(f, n, kind)
    results = [
        casmore.fmin(
            f, np.zeros(n), 0.5, target=1e-8, seed=seed, lean=lean, x_known=X, y_known=y,
            restarts="ipop",
        )
        for seed in range(runs)
    ]  # fmt: skip
    assert all(result.success for result in results)
    return float(np.mean([result.nfev for result in results]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    print(f"{'function':12} {'n':>3} {'solver':9} {'cold':>7} {'samples':>8} {'earlier run':>12}")
    for n in (5, 10):
        for name, f in (("rosenbrock", rosen), ("f10", rotated_ellipsoid(n))):
            for lean in (False, True):
                cold, samples, earlier = (
                    mean_evaluations(f, n, runs, lean, kind)
                    for kind in ("none", "samples", "earlier run")
                )
                solver = "lean" if lean else "CAS-MORE"
                print(f"{name:12} {n:3} {solver:9} {cold:7.0f} {samples:8.0f} {earlier:12.0f}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
