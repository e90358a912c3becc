"""An example of `casmore.plot`: CAS-MORE on the Rosenbrock function."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from casmore.optimize import fmin
from casmore.plotting import run_view as view
from casmore.plotting import style
from casmore.problems.analytic import Rosenbrock


def run_view(results: Path) -> Figure:
    """Return the view of a run on the 10-D Rosenbrock function; it needs no results."""
    f = Rosenbrock(10)
    x0 = np.random.default_rng(1).uniform(-4, 4, 10)
    run = fmin(f.batch, x0, 2.0, target=1e-8, seed=1, trace=True, vectorized=True)
    with style.paper():
        figure = Figure(figsize=view.SIZE, layout="constrained")
        view.draw(figure, run.trace)
    return figure
