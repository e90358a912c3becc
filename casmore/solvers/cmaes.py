"""Adapter for the package cmaes: CMA-ES, separable, with learning rate adaptation; DX-NES-IC.

Nomura and Shibata, "cmaes: A simple yet practical Python library for CMA-ES", 2024. The updates,
the samples and the decision to stop are the library's. The adapter reads the distribution from
private attributes, since the library has no public ones.
"""

from functools import partial
from typing import Any

import cmaes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import known_settings, valid_start
from casmore.algorithms.gaussian import DiagonalDistribution, SearchDistribution
from casmore.algorithms.gaussian_search import GaussianSearch, SearchParameters
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.termination import degenerate
from casmore.solvers.protocol import Seed

Array = NDArray[np.float64]

# The library asserts that points are below this
_LARGEST = 1e32
# The library's own stopping criteria, to find out which one is met
_SMALLEST_STEP, _LARGEST_STEP, _LARGEST_CONDITION = 1e-12, 1e4, 1e14


class CmaesSolver(GaussianSearch):
    """Adapter for an optimizer of cmaes, which stops when the optimizer's ``should_stop`` says so.

    NaN and infinity rank last. Any number of any points can be told; they count as the samples of
    an iteration. An error inside the library ends the run with `StopReason.UPDATE_FAILED`.

    Parameters
    ----------
    kind
        The name of the class in cmaes.
    x0
        Initial mean, shape (n,), smaller than 1e32.
    sigma0
        Initial step size.
    population_size
        Number of samples per iteration; default: the library's, ``4 + floor(3 log n)``.
    seed
        Determines the seed of the library's generator, see `library_seed`.
    target
        Stop once a value is at most this.
    lr_adapt
        Whether the learning rates adapt to the signal-to-noise ratio (LRA-CMA-ES; Nomura, Akimoto
        and Ono, "CMA-ES with learning rate adaptation", GECCO 2023); only for ``kind="CMA"``.
    settings
        None are known; refused with a message.

    Raises
    ------
    ValueError
        If an argument is out of the range that the library supports.
    TypeError
        If ``lr_adapt`` is not a bool, or there is no such setting.
    """

    def __init__(
        self,
        kind: str,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        lr_adapt: bool | None = None,
        **settings: Any,
    ) -> None:
        mean = valid_start(x0, sigma0)
        known = ("lr_adapt",) if kind == "CMA" else ()
        given = settings if lr_adapt is None else {"lr_adapt": lr_adapt, **settings}
        known_settings(given, known, f"{kind} of cmaes")
        if lr_adapt is not None and not isinstance(lr_adapt, bool):
            raise TypeError(f"lr_adapt = {lr_adapt!r} must be True or False")
        _check(kind, mean, population_size)
        self._kind = kind
        self._optimizer = getattr(cmaes, kind)(
            mean=mean.copy(),
            sigma=float(sigma0),
            seed=library_seed(seed),
            population_size=population_size,
            **given,
        )
        if kind == "DXNESIC":
            self._optimizer._d_gamma = _ScalarFactor(self._optimizer._d_gamma)
        size = int(self._optimizer.population_size)
        parameters = SearchParameters(population_size=size, maximal_failures=1)
        super().__init__(mean, sigma0, parameters, seed, target)
        self.distribution = self._distribution()

    def __getstate__(self) -> dict[str, Any]:
        # the library pickles neither its generator nor all digits of the covariance
        return {**self.__dict__, "_optimizer": dict(vars(self._optimizer))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._optimizer = object.__new__(getattr(cmaes, self._kind))
        vars(self._optimizer).update(state["_optimizer"])

    def ask(self, count: int | None = None) -> Array:
        """Sample the search distribution, one point after the other as the library does.

        Parameters
        ----------
        count
            Number of points; default: the population size.

        Returns
        -------
        ndarray
            Shape (count, n).
        """
        count = self.population_size if count is None else count
        points = [self._optimizer.ask() for _ in range(count)]
        return np.array(points).reshape(count, len(self._best_x))

    def _update(self, X: Array, y: Array) -> None:
        if np.abs(X).max() >= _LARGEST:
            raise np.linalg.LinAlgError(f"a point is not below {_LARGEST:g}")
        try:
            # the library subtracts infinite values; the difference is below no tolerance
            with np.errstate(all="ignore"):
                self._optimizer.tell(list(zip(X, y.tolist(), strict=True)))
                self.distribution = self._distribution()
        except (AssertionError, ValueError, OverflowError) as error:
            raise np.linalg.LinAlgError(str(error)) from error

    def _reasons_to_stop(self, y: Array) -> dict[StopReason, float]:
        if self._failures:
            return {StopReason.UPDATE_FAILED: float(self._failures)}
        with np.errstate(all="ignore"):
            if not self._optimizer.should_stop():
                return {}
        found = degenerate(
            self.distribution,
            shortest_step=_SMALLEST_STEP * self._sigma0,
            longest_step=_LARGEST_STEP,
            maximal_condition=_LARGEST_CONDITION,
        )
        return found or {StopReason.NO_PROGRESS: float(np.ptp(y))}

    def _distribution(self) -> SearchDistribution:
        strategy = self._optimizer
        mean, sigma = strategy._mean, strategy._sigma
        if self._kind == "DXNESIC":
            return SearchDistribution(mean, sigma * strategy._B)
        # the library uses the same decomposition for its next samples
        if self._kind == "SepCMA":
            return DiagonalDistribution(mean, sigma * strategy._eigen_decomposition())
        directions, lengths = strategy._eigen_decomposition()
        return SearchDistribution(mean, directions * (sigma * lengths))


class _ScalarFactor(float):
    """A factor of arrays of one element, whose product is a float.

    DX-NES-IC takes the square root of a product with such an array by `math.sqrt`, which NumPy 2.4
    and later refuse.
    """

    def __mul__(self, other: Any) -> float:
        return float(self) * float(np.asarray(other).item())


def library_seed(seed: Seed) -> int:
    """Return the seed of the library's generator, an integer below 2^32, for any kind of seed."""
    return int(np.random.default_rng(seed).integers(2**32))


def _check(kind: str, mean: Array, population_size: int | None) -> None:
    """Raise a ValueError for what the library only asserts, or fails on."""
    if kind != "CMA" and len(mean) < 2:
        raise ValueError(f"{kind} of cmaes needs at least two dimensions; x0 has one")
    if np.abs(mean).max() >= _LARGEST:
        raise ValueError(f"x0 must be smaller than {_LARGEST:g}, not {mean}")
    if population_size is not None and population_size < 4:
        raise ValueError(f"population_size must be at least 4, not {population_size}")


make_cma = partial(CmaesSolver, "CMA")
make_separable = partial(CmaesSolver, "SepCMA")
make_dx_nes_ic = partial(CmaesSolver, "DXNESIC")
