"""The public interface: `fmin`, `minimize`, and the method for ``scipy.optimize.minimize``.

`fmin` consists of thin layers around a solver: the search space maps the solver's coordinates to
the user's, an evaluator calls f in this process or in workers, and a loop asks and tells.
"""

from casmore.optimize.automatic import minimize
from casmore.optimize.minimizer import fmin
from casmore.optimize.scipy_method import minimize_method

__all__ = ["fmin", "minimize", "minimize_method"]
