"""``casmore.plot``: the figure of a run; imports Matplotlib only when it draws."""

from typing import TYPE_CHECKING

from casmore.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(trace: Trace) -> "Figure":
    """Show what a run did: values, step size, axes, condition, evolution path, model.

    ``casmore.plot(casmore.fmin(f, x0, sigma0, trace=True).trace)``

    Parameters
    ----------
    trace
        Trace of a run, which may still be under way.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of pyplot: ``matplotlib.pyplot.show()`` opens its window, a notebook displays it,
        ``figure.savefig("run.pdf")`` writes it to a file.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
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
