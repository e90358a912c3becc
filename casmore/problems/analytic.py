"""Functions of the BBOB suite in NumPy, for dimensions that COCO's suite does not have.

Hansen et al. (2009), "Real-Parameter Black-Box Optimization Benchmarking 2009: Noiseless Functions
Definitions". Instances use the same random numbers as COCO, so that values agree in COCO's
dimensions. The offset of the values is omitted: the optimal value is 0, and precisions of 1e-8 keep
all their digits.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class AnalyticFunction(ABC):
    """An instance of a function of the suite, in any dimension.

    Parameters
    ----------
    dimension
        The dimension n.
    instance
        COCO's number of the instance, which determines the optimum and the rotations.

    Attributes
    ----------
    x_opt
        The minimum, shape (n,), where the value is 0.
    """

    number: ClassVar[int]
    name: ClassVar[str]
    smallest_dimension: ClassVar[int] = 1

    def __init__(self, dimension: int, instance: int = 1) -> None:
        if dimension < self.smallest_dimension:
            raise ValueError(
                f"{self.name} needs at least {self.smallest_dimension} dimensions, not {dimension}"
            )
        self.dimension = dimension
        self._seed = self.number + 10_000 * instance
        self.x_opt = _optimum(dimension, self._seed)
        # 0 for the first coordinate, 1 for the last one
        self._ramp = np.arange(dimension) / max(dimension - 1, 1)
        self._prepare()

    def __call__(self, x: Array) -> float:
        """Evaluate one point, shape (n,)."""
        return float(self.batch(x[np.newaxis])[0])

    @abstractmethod
    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""

    def _prepare(self) -> None:  # noqa: B027 - not all have something to do
        """Compute what the instance needs beyond its optimum."""

    def _rotation(self, which: int) -> Array:
        """Return the first (R) or second (Q) rotation of the instance."""
        return _rotation(self.dimension, self._seed + (1_000_000 if which == 1 else 0))


class Sphere(AnalyticFunction):
    """Sphere, f1: the squared distance to the optimum."""

    number, name = 1, "Sphere"

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        return _squares(X - self.x_opt)


class SeparableEllipsoid(AnalyticFunction):
    """Separable ellipsoid, f2: condition number 1e6 along the axes, with local irregularities."""

    number, name = 2, "Ellipsoid separable"

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        Z = oscillate(X - self.x_opt)
        values: Array = Z**2 @ 10.0 ** (6 * self._ramp)
        return values


class AttractiveSector(AnalyticFunction):
    """Attractive sector, f6: steep except in one sector; the optimum is at a corner of it."""

    number, name = 6, "Attractive Sector"

    def _prepare(self) -> None:
        scales = np.sqrt(10.0) ** self._ramp
        self._map = self._rotation(1) @ (scales[:, np.newaxis] * self._rotation(2))

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        Z = (X - self.x_opt) @ self._map.T
        steep = np.where(Z * self.x_opt > 0, 100.0, 1.0)
        values: Array = oscillate(_squares(steep * Z)) ** 0.9
        return values


class Rosenbrock(AnalyticFunction):
    """Rosenbrock's function, f8: a long curved valley that leads to the optimum."""

    number, name = 8, "Rosenbrock"
    smallest_dimension = 2

    def _prepare(self) -> None:
        self.x_opt = 0.75 * self.x_opt
        self._scale = max(1.0, math.sqrt(self.dimension) / 8)

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        Z = self._scale * (X - self.x_opt) + 1
        return 100 * _squares(Z[:, :-1] ** 2 - Z[:, 1:]) + _squares(Z[:, :-1] - 1)


class RotatedEllipsoid(AnalyticFunction):
    """Rotated ellipsoid, f10: condition number 1e6, rotated, with local irregularities."""

    number, name = 10, "Ellipsoid"
    log10_condition: ClassVar[float] = 6.0

    def _prepare(self) -> None:
        self._map = self._rotation(1)

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        Z = oscillate((X - self.x_opt) @ self._map.T)
        values: Array = Z**2 @ 10.0 ** (self.log10_condition * self._ramp)
        return values


class SharpRidge(AnalyticFunction):
    """Sharp ridge, f13: a long ridge that leads to the optimum, with steep sides."""

    number, name = 13, "Sharp Ridge"

    def _prepare(self) -> None:
        scales = np.sqrt(10.0) ** self._ramp
        self._map = self._rotation(1) @ (scales[:, np.newaxis] * self._rotation(2))

    def batch(self, X: Array) -> Array:
        """Evaluate points, shape (k, n) -> (k,)."""
        Z = (X - self.x_opt) @ self._map.T
        values: Array = Z[:, 0] ** 2 + 100 * np.sqrt(_squares(Z[:, 1:]))
        return values


FUNCTIONS: dict[int, type[AnalyticFunction]] = {
    kind.number: kind
    for kind in (
        Sphere,
        SeparableEllipsoid,
        AttractiveSector,
        Rosenbrock,
        RotatedEllipsoid,
        SharpRidge,
    )
}


def oscillate(values: Array) -> Array:
    """Apply ``T_osz`` to each value: smooth, monotonic, local irregularities (BBOB, notation)."""
    size = np.abs(values)
    logarithm = np.log(np.where(size > 0, size, 1.0))
    first, second = np.where(values > 0, 10.0, 5.5), np.where(values > 0, 7.9, 3.1)
    bent = logarithm + 0.049 * (np.sin(first * logarithm) + np.sin(second * logarithm))
    oscillated: Array = np.sign(values) * np.exp(bent)
    return oscillated


def _squares(Z: Array) -> Array:
    squares: Array = (Z * Z).sum(axis=1)
    return squares


def _optimum(n: int, seed: int) -> Array:
    """Return a point in [-4, 4]^n on a grid of steps 0.0008, never with a coordinate 0."""
    x = 8 * np.floor(1e4 * _uniform(n, seed)) / 1e4 - 4
    x[x == 0] = -1e-5
    return x


def _rotation(n: int, seed: int) -> Array:
    """Return an orthogonal matrix: Gram-Schmidt's method on columns of normal numbers."""
    B = _normal(n * n, seed).reshape(n, n).T.copy()
    for i in range(n):
        for j in range(i):
            B[:, i] -= (B[:, i] @ B[:, j]) * B[:, j]
        B[:, i] /= math.sqrt(B[:, i] @ B[:, i])
    return B


def _normal(count: int, seed: int) -> Array:
    """Return normal numbers by Box and Muller's method, as BBOB's ``gauss``."""
    u = _uniform(2 * count, seed)
    z: Array = np.sqrt(-2 * np.log(u[:count])) * np.cos(2 * np.pi * u[count:])
    z[z == 0] = 1e-99
    return z


def _uniform(count: int, seed: int) -> Array:
    """Return uniform numbers from BBOB's generator ``unif``.

    A multiplicative congruential generator (16807 modulo 2^31 - 1, by Schrage's method) with a
    shuffle table of 32.
    """
    state = max(abs(seed), 1)
    table = [0] * 32
    for i in reversed(range(40)):
        state = _next(state)
        if i < 32:
            table[i] = state
    current = table[0]
    numbers = np.empty(count)
    for k in range(count):
        state = _next(state)
        place = current // 67_108_865
        current, table[place] = table[place], state
        numbers[k] = current / 2.147483647e9 or 1e-99
    return numbers


def _next(state: int) -> int:
    return 16807 * state % 2_147_483_647
