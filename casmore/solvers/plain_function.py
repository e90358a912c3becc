"""Optimizers that are plain functions, ``my_fmin(f, x0, budget, rng)``, as solvers.

Most people's optimizers look like that. `adapt` makes a solver of one, with nothing to be written:
the function calls ``f``, and what it returns does not matter, since all points and values pass
through the bridge.
"""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge, Objective
from casmore.solvers.protocol import Seed, SolverFactory

# where nobody knows the budget, as in a check of the contract; in evaluations per dimension
_DEFAULT_BUDGET = 10_000


@dataclass(frozen=True)
class PlainFunction:
    """A factory of solvers that run a plain function.

    Attributes
    ----------
    function
        Called as ``function(f, x0, budget, rng, **settings)``: the objective, which takes a point,
        shape (n,), and returns its value; the start; the number of evaluations of the trial; a
        ``numpy.random.Generator``. When the budget is spent, or the target reached, the call is
        ended from within ``f``. If it returns before, the solver has ended, and may be restarted.
    budget
        The number of evaluations; None: 10000 n.
    """

    function: Callable[..., Any]
    budget: int | None = None

    def __call__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        **settings: Any,
    ) -> Bridge:
        """Build a solver; ``sigma0`` is checked, and not used.

        Raises
        ------
        ValueError
            If a population size is given, which the function would not learn of.
        """
        if population_size is not None:
            name = getattr(self.function, "__name__", self.function)
            raise ValueError(f"{name} is a plain function; give its population size in settings")
        start = np.array(x0, dtype=float)
        budget = _DEFAULT_BUDGET * start.size if self.budget is None else self.budget
        run = partial(
            _run, self.function, start, budget, np.random.default_rng(copy.deepcopy(seed)), settings
        )
        return Bridge(run, start, sigma0, target=target)


def adapt(made: Any, name: str) -> SolverFactory:
    """Return a solver's factory as it is, and a plain function as a factory.

    Parameters
    ----------
    made
        A class or function of somebody else.
    name
        What to call it in messages.

    Raises
    ------
    TypeError
        If it can be called neither way; the message says which two ways there are.
    """
    if _takes(made, 0, 0, population_size=None, seed=None, target=None):
        return cast("SolverFactory", made)
    if not inspect.isclass(made) and _takes(made, 0, 0, 0, 0):
        return cast("SolverFactory", PlainFunction(made))
    raise TypeError(
        f"{name} is no solver: it must be a class (or function) that takes (x0, sigma0, *, "
        "population_size, seed, target), or a function that takes (f, x0, budget, rng) and "
        "minimizes f"
    )


def with_budget(factory: SolverFactory, budget: int) -> SolverFactory:
    """Tell a plain function its budget; other factories are returned as they are."""
    if isinstance(factory, PlainFunction):
        return cast("SolverFactory", replace(factory, budget=budget))
    return factory


def _takes(made: Any, *arguments: Any, **keywords: Any) -> bool:
    try:
        signature = inspect.signature(made)
        settings = {  # those that have to be given are in the config
            parameter.name: None
            for parameter in signature.parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        }
        signature.bind(*arguments, **{**settings, **keywords})
    except TypeError:
        return False
    except ValueError:  # compiled code may have no signature; calling it will tell
        return True
    return True


def _run(
    function: Callable[..., Any],
    x0: NDArray[np.float64],
    budget: int,
    rng: np.random.Generator,
    settings: dict[str, Any],
    objective: Objective,
) -> dict[StopReason, float]:
    called = False

    def f(x: ArrayLike) -> Any:
        nonlocal called
        called = True
        return objective(x)

    # copies: should the run be repeated, it is from the same start and the same random numbers
    function(f, x0.copy(), budget, copy.deepcopy(rng), **copy.deepcopy(settings))
    if not called:
        name = getattr(function, "__name__", function)
        raise RuntimeError(f"{name} has returned without calling f once")
    return {StopReason.NO_PROGRESS: 0.0}
