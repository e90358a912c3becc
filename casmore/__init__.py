"""CAS-MORE: black-box optimization with natural gradients, trust regions and entropy control."""

from typing import TYPE_CHECKING

from casmore.algorithms.cas_more import CasMore, CasMoreParameters
from casmore.algorithms.lean_cas_more import LeanCasMore, LeanCasMoreParameters
from casmore.algorithms.stopping import StopReason
from casmore.optimize import fmin, minimize_method
from casmore.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CasMore",
    "CasMoreParameters",
    "LeanCasMore",
    "LeanCasMoreParameters",
    "StopReason",
    "Trace",
    "fmin",
    "minimize_method",
    "plot",
]


def plot(trace: Trace) -> "Figure":
    """Show what a run did: values, step size, axes, condition, evolution path, model.

    ``casmore.plot(casmore.fmin(f, x0, sigma0, trace=True).trace)``

    Parameters
    ----------
    trace
        Of a run, which may be going on.

    Returns
    -------
    matplotlib.figure.Figure
        One of pyplot's: ``matplotlib.pyplot.show()`` opens its window, a notebook shows it by
        itself, ``figure.savefig("run.pdf")`` writes it to a file.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
        # only now: the optimizer itself needs NumPy and SciPy alone
        import matplotlib.pyplot as plt

        from casmore.plotting import run_view, style
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ImportError("casmore.plot needs Matplotlib: pip install 'casmore[plot]'") from error
    with style.paper():
        figure = plt.figure(figsize=run_view.SIZE, layout="constrained")
        run_view.draw(figure, trace)
    return figure
