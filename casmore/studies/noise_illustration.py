"""Runs on Rosenbrock's function with and without noise, and what `noise="auto"` sees and does."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMore
from casmore.plotting import style
from casmore.problems.analytic import Rosenbrock

Array = NDArray[np.float64]

_DIMENSION, _BUDGET, _SEED = 5, 20_000, 1
_F = Rosenbrock(_DIMENSION)
_NEAR = 1e-6  # value at which a run ends
_NOISY_BELOW = 0.6  # as in casmore.algorithms.noise


def _none(rng: np.random.Generator, k: int) -> Array:
    return np.zeros(k)


def _gauss(rng: np.random.Generator, k: int) -> Array:
    return rng.standard_normal(k)


def _cauchy(rng: np.random.Generator, k: int) -> Array:
    """A fifth of the values is disturbed, as in COCO's severe Cauchy noise."""
    noise: Array = (rng.random(k) < 0.2) * rng.standard_cauchy(k)
    return noise


NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "no noise": _none,
    "Gaussian noise": _gauss,
    "Cauchy noise": _cauchy,
}


@dataclass(frozen=True)
class Course:
    """A run, iteration by iteration.

    Attributes
    ----------
    evaluations
        So far.
    explained, linear
        The averaged adjusted R^2, and the reliability of the linear part.
    population
        The population size, in units of the first.
    value
        f at the mean, without noise.
    """

    evaluations: Array
    explained: Array
    linear: Array
    population: Array
    value: Array


@cache
def course(noise: str, handling: str) -> Course:
    """Run CAS-MORE on Rosenbrock's function with this noise, of standard deviation or scale 1."""
    rng = np.random.default_rng(_SEED)
    solver = CasMore(rng.uniform(-4, 4, _DIMENSION), 2.0, seed=_SEED, noise=handling)
    first = solver.population_size
    rows, value = [], np.inf
    while not solver.stop() and solver.evaluations < _BUDGET and value > _NEAR:
        X = solver.ask()
        solver.tell(X, _F.batch(X) + NOISES[noise](rng, len(X)))
        seen, value = solver.noise, float(_F.batch(solver.mean[np.newaxis])[0])
        growth = solver.population_size / first
        rows.append((solver.evaluations, seen.explained, seen.linear, growth, value))
    return Course(*np.array(rows).T)


def noise_signal(results: Path) -> Figure:
    """Return the figure, whose runs are made here."""
    with style.paper():
        figure = Figure(figsize=(style.PAGE, 3.7), layout="constrained")
        ((explained, linear), (population, value)) = figure.subplots(2, 2, sharex=True)
        for i, noise in enumerate(NOISES):
            run, color = course(noise, "auto"), style.line(i)["color"]
            explained.plot(run.evaluations, run.explained, color=color, label=noise)
            linear.plot(run.evaluations, run.linear, color=color)
            population.plot(run.evaluations, run.population, color=color)
            value.plot(run.evaluations, run.value, color=color)
            if noise != "no noise":
                run = course(noise, "none")
                value.plot(run.evaluations, run.value, color=color, linestyle=(0, (1, 1)))
        explained.axhline(_NOISY_BELOW, color=style.MUTED, linewidth=0.8)
        explained.set_title("explained variance (adjusted $R^2$)", loc="left")
        linear.set_title(r"reliability $\rho$ of the linear part", loc="left")
        population.set_title("population size / initial", loc="left")
        value.set_title("f at the mean: with noise='auto', 'none' (dotted)", loc="left")
        value.set_yscale("log")
        value.set_ylim(1e-4, None)
        value.set_xscale("log")
        value.set_xlim(100, _BUDGET)
        for ax in (explained, linear):
            ax.set_ylim(-0.03, 1.05)
        population.set_ylim(0, 8.5)
        figure.supxlabel("evaluations", fontsize=8)
        style.legend_above(figure, explained)
    return figure
