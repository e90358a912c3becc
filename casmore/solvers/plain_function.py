"""Adapter for optimizers that are plain functions, ``my_fmin(f, x0, budget, rng)``.

Many optimizers have this form. `adapt` makes a solver from such a function. The function calls
``f``, and its return value is ignored, since all points and values pass through the bridge.
"""

import copy
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.bridge import Bridge, Objective
from casmore.solvers.protocol import Seed, SolverFactory

# used if the budget is unknown, as in a check of the contract; in evaluations per dimension
_DEFAULT_BUDGET = 10_000


@dataclass(frozen=True)
class PlainFunction:
    """A factory of solvers that run a plain function.

    Attributes
    ----------
    function
        Called as ``function(f, x0, budget, rng, **settings)``: the objective, which takes a point,
        shape (n,), and returns its value; the starting point; the number of evaluations of the
        trial; a ``numpy.random.Generator``. When the budget is spent or the target is reached,
        ``f`` ends the call. If the function returns earlier, the solver has ended and may be
        restarted.
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
            If a population size is given, since it can't be passed to the function.
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
    """Return a solver factory unchanged, and a plain function as a factory.

    Parameters
    ----------
    made
        A class or function given by the user.
    name
        Its name in messages.

    Raises
    ------
    TypeError
        If it has neither of the two signatures; the message describes both.
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
    """Pass the budget to a plain function; other factories are returned unchanged."""
    if isinstance(factory, PlainFunction):
        return cast("SolverFactory", replace(factory, budget=budget))
    return factory


def _takes(made: Any, *arguments: Any, **keywords: Any) -> bool:
    try:
        signature = inspect.signature(made)
        settings = {  # required ones are in the config
            parameter.name: None
            for parameter in signature.parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        }
        signature.bind(*arguments, **{**settings, **keywords})
    except TypeError:
        return False
    except ValueError:  # compiled code may have no signature; an error would show in the call
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

    name = getattr(function, "__name__", function)
    try:
        # copies: a repeated run uses the same starting point and the same random numbers
        function(f, x0.copy(), budget, copy.deepcopy(rng), **copy.deepcopy(settings))
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        # may be a mistake in the function, but only ends the run, see `Bridge`
        warnings.warn(f"{name} raised {type(error).__name__}: {error}", stacklevel=2)
        raise
    if not called:
        raise RuntimeError(f"{name} has returned without calling f once")
    return {StopReason.NO_PROGRESS: 0.0}
