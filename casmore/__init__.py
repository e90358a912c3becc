"""CAS-MORE: black-box optimization with natural gradients, trust regions and entropy control.

- ``fmin`` minimizes a function with CAS-MORE; ``minimize`` does so without a choice of algorithm;
  ``minimize_method`` is a method for ``scipy.optimize.minimize``.
- ``CasMore`` and ``LeanCasMore`` are the algorithms, with an ask-and-tell interface;
  ``CasMoreParameters`` and ``LeanCasMoreParameters`` are their settings; ``BoundedSolver`` adds
  bounds; ``StopReason`` says why a run has ended.
- ``Trace`` records a run, iteration by iteration; ``plot`` shows it.

These names are imported on first use, so that the command line can show its help and complete
words without NumPy and SciPy.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from casmore.algorithms.cas_more import CasMore, CasMoreParameters
    from casmore.algorithms.lean_cas_more import LeanCasMore, LeanCasMoreParameters
    from casmore.algorithms.stopping import StopReason
    from casmore.optimize import fmin, minimize, minimize_method
    from casmore.plotting.run_figure import plot
    from casmore.solvers.bounded_solver import BoundedSolver
    from casmore.trace import Trace

    __version__: str

__all__ = [
    "BoundedSolver",
    "CasMore",
    "CasMoreParameters",
    "LeanCasMore",
    "LeanCasMoreParameters",
    "StopReason",
    "Trace",
    "fmin",
    "minimize",
    "minimize_method",
    "plot",
]

_MODULES = {
    "BoundedSolver": "solvers.bounded_solver",
    "CasMore": "algorithms.cas_more",
    "CasMoreParameters": "algorithms.cas_more",
    "LeanCasMore": "algorithms.lean_cas_more",
    "LeanCasMoreParameters": "algorithms.lean_cas_more",
    "StopReason": "algorithms.stopping",
    "Trace": "trace",
    "fmin": "optimize",
    "minimize": "optimize",
    "minimize_method": "optimize",
    "plot": "plotting.run_figure",
}

if not TYPE_CHECKING:  # to a type checker this would make any attribute of the package valid

    def __getattr__(name: str) -> Any:
        """Import a name of ``__all__``, or look up the version, on first use (PEP 562)."""
        if name == "__version__":
            from importlib import metadata

            value = metadata.version("casmore")
        elif name in _MODULES:
            value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
