"""The effect of each deviation from the paper's text on the number of evaluations.

    python benchmarks/deviations.py [--seeds 10] [--out benchmarks/deviations.txt]

CAS-MORE as it is beside CAS-MORE with one deviation undone, or one open number changed, on f1, f2,
f8, f10 and f13 of BBOB in 5 and 10-D, from U(-4, 4)^n with sigma0 = 2 to the target 1e-8. Seeds are
fixed. Shown are the geometric mean over the ten functions of the expected running time (ERT), and
its ratio to that of the default with a 95 % bootstrap interval over the runs. Both start from the
same points with the same seeds, so that runs are resampled in pairs.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.evolution_path import EvolutionPath
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import Reliability
from casmore.algorithms.surrogate import DirectFit
from casmore.problems.analytic import FUNCTIONS

Array = NDArray[np.float64]

NUMBERS = (1, 2, 8, 10, 13)
DIMENSIONS = (5, 10)
BUDGET = 10_000  # evaluations a dimension
RESAMPLES = 2000


class PathFromRichestModel(CasMore):
    """The path begins with the first richest model, as in the authors' code."""

    def _fitted(
        self, targets: Array, complexity: Complexity, reliability: Reliability | None = None
    ) -> Model:
        if self.complexity is not self.parameters.richest_model:
            p, n = self.parameters, self.distribution.dimension
            self.path = EvolutionPath(
                n, p.path_smoothing, p.epsilon_mean, p.path_gain, p.desired_angle
            )
        return super()._fitted(targets, complexity, reliability)


class UnboundedPath(EvolutionPath):
    """``delta = alpha (1 - |p| / |p_des|)``, whatever its size."""

    def entropy_decrease(self) -> float:
        """Return ``delta``, in nats."""
        return self._gain * (1 - self.length / self.desired_length)


class WithoutClip(CasMore):
    """No bound on the growth of the entropy, as in the paper's text."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        p, n = self.parameters, self.distribution.dimension
        self.path = UnboundedPath(n, p.path_smoothing, p.epsilon_mean, p.path_gain, p.desired_angle)


class WhitenedFit(DirectFit):
    """All models are fitted in coordinates whitened by the samples' covariance."""

    def _coordinates(
        self, X: Array, complexity: Complexity, distribution: SearchDistribution
    ) -> tuple[Array, Array, Array]:
        return super()._coordinates(X, Complexity.FULL, distribution)


class WhitenedSimpleModels(CasMore):
    """Linear and diagonal models in whitened coordinates too, as in the paper's text."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        p, n = self.parameters, self.distribution.dimension
        self.fit = WhitenedFit(n, p.queue_size, p.ridge)


class EntropyControlFromTheStart(CasMore):
    """The path controls the entropy whatever the model, as in the paper's text."""

    def _update(self, X: Array, y: Array) -> None:
        before = self.distribution
        super()._update(X, y)
        if self.distribution is before or self.complexity is self.parameters.richest_model:
            return
        assert self.model is not None
        n = before.dimension
        sigma = math.exp(-self._entropy_decrease(np.ones(n)) / n)
        self.distribution = self.distribution.updated(
            np.zeros(n), self.model.basis, np.full(n, sigma)
        )


def paper_queue_size(n: int) -> int:
    """Return the paper's queue size, which does not depend on the population."""
    return max(math.ceil(1.5 * (1 + n + n * (n + 1) / 2)), 8 * (n + 1))


@dataclass(frozen=True)
class Variant:
    """A change of the algorithm, and what it is compared with (empty: the default)."""

    name: str
    make: Callable[..., CasMore] = CasMore
    settings: Callable[[int], dict[str, Any]] = lambda n: {}
    reference: str = ""
    sigma0: float = 2.0


def _growing(n: int) -> dict[str, Any]:
    # with the default a run from so small a step size stops once that has grown 10000-fold
    return {"maximal_step_growth": 1e8}


def _large(n: int) -> dict[str, Any]:
    # restarts double the population; from here on the paper's queue is below two iterations
    return {"population_size": 32 if n == 5 else 64}


VARIANTS = (
    Variant("default"),
    Variant("path from the first full model", PathFromRichestModel),
    Variant("no clip of the entropy's growth", WithoutClip),
    Variant("sigma0 = 0.002", settings=_growing, sigma0=0.002),
    Variant(
        "sigma0 = 0.002, no clip",
        WithoutClip,
        settings=_growing,
        reference="sigma0 = 0.002",
        sigma0=0.002,
    ),
    Variant("simpler models whitened", WhitenedSimpleModels),
    Variant("entropy control from the start", EntropyControlFromTheStart),
    Variant("large population, default queue", settings=_large),
    Variant(
        "large population, the paper's queue",
        settings=lambda n: {**_large(n), "queue_size": paper_queue_size(n)},
        reference="large population, default queue",
    ),
    Variant("ridge 0", settings=lambda n: {"ridge": 0.0}),
    Variant("ridge 1e-6", settings=lambda n: {"ridge": 1e-6}),
    Variant("ridge 1e-3", settings=lambda n: {"ridge": 1e-3}),
    Variant(
        "c_sigma = 1 / (2 + n^0.7), the authors' code",
        settings=lambda n: {"path_smoothing": 1 / (2 + n**0.7)},
    ),
)


@dataclass(frozen=True)
class Measured:
    """Evaluations and successes, shape (functions, seeds)."""

    spent: Array
    reached: Array

    def log_ert(self, counts: Array) -> Array:
        """Return the mean of log ERT with runs counted so often, shape (..., functions, seeds)."""
        with np.errstate(divide="ignore"):
            ert = (counts * self.spent).sum(-1) / (counts * self.reached).sum(-1)
        mean: Array = np.log(ert).mean(-1)
        return mean


def measure(variant: Variant, seeds: int) -> Measured:
    """Run a variant on all functions."""
    rows = [
        [_run(variant, number, n, seed) for seed in range(seeds)]
        for n in DIMENSIONS
        for number in NUMBERS
    ]
    spent, reached = np.moveaxis(np.array(rows, dtype=float), -1, 0)
    return Measured(spent, reached)


def _run(variant: Variant, number: int, n: int, seed: int) -> tuple[int, bool]:
    f = FUNCTIONS[number](n)
    x0 = np.random.default_rng([number, n, seed]).uniform(-4, 4, n)
    solver = variant.make(x0, variant.sigma0, seed=seed, target=1e-8, **variant.settings(n))
    while not solver.stop() and solver.evaluations < BUDGET * n:
        X = solver.ask()
        solver.tell(X, f.batch(X))
    return solver.evaluations, solver.best_y <= 1e-8


def table(seeds: int) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is known."""
    yield f"{'variant':46} {'ERT':>6} {'ratio':>6} {'95 % interval':>16} {'successes':>10}"
    known: dict[str, Measured] = {}
    rng = np.random.default_rng(1)
    once = np.ones((1, seeds))
    for variant in VARIANTS:
        known[variant.name] = ours = measure(variant, seeds)
        reference = known[variant.reference or "default"]
        shape = (RESAMPLES, len(ours.spent))
        counts = rng.multinomial(seeds, np.full(seeds, 1 / seeds), shape).astype(float)
        ratios = np.exp(ours.log_ert(counts) - reference.log_ert(counts))
        low, high = np.quantile(ratios, (0.025, 0.975), method="inverted_cdf")
        mean = float(ours.log_ert(once))
        ratio = math.exp(mean - float(reference.log_ert(once)))
        interval = "" if ours is reference else f"{low:7.3f} to {high:.3f}"
        yield (
            f"{variant.name:46} {math.exp(mean):6.0f} {ratio:6.3f} {interval:>16} "
            f"{ours.reached.sum():6.0f}/{ours.reached.size}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the deviations from the paper.")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each (default 10)")
    parser.add_argument("--out", type=Path, help="a file for the table as well")
    options = parser.parse_args()
    lines = []
    for line in table(options.seeds):
        print(line, flush=True)
        lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
