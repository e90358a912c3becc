"""The map between a solver's coordinates and the user's: bounds, scales, fixed coordinates.

A solver searches R^m without bounds or scales. `SearchSpace` maps its points to the user's space
and back: fixed coordinates are inserted, the others are scaled, and bounds are enforced by a map
that folds the real line onto the interval of each coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Width of the zone inside a bound in which the map is quadratic, as a fraction of the interval
# (measured: benchmarks/bounds.py)
_ZONE = 0.05


@dataclass(frozen=True)
class SearchSpace:
    """The map from a solver's coordinates, R^m, to the user's, R^n.

    Near a bound b the user's coordinate is ``x = b + d`` with ``d = v^2 / (4 w)``, where v <= 2 w
    is the solver's distance from a turning point. Further inside, the map is the identity; beyond
    the turning point it is mirrored. The map is continuously differentiable. A slope that ends at a
    bound becomes a parabola, which the quadratic surrogate fits exactly. No point outside the
    bounds is evaluated.

    Attributes
    ----------
    lower, upper
        Bounds of the user's coordinates, shape (n,); infinite: none.
    fixed
        Values of the fixed coordinates, shape (n,); NaN: not fixed.
    factor
        Scale of each of the m free coordinates, shape (m,), or a matrix, shape (m, m), that
        multiplies the solver's coordinates; None: the identity.
    widths
        ``w`` of each free coordinate, shape (m,).
    """

    lower: Array
    upper: Array
    fixed: Array
    factor: Array | None
    widths: Array

    @classmethod
    def make(
        cls, lower: Array, upper: Array, fixed: Array, sigma0: Array, factor: Array | None
    ) -> SearchSpace:
        """Build the space, with zones adapted to the bounds and the initial step sizes, (n,)."""
        free = np.isnan(fixed)
        with np.errstate(over="ignore"):  # bounds at the ends of the floats: as if there were none
            span = (upper - lower)[free]
        widths = np.where(np.isfinite(span), _ZONE * span, sigma0[free])
        return cls(lower, upper, fixed, factor, widths)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which coordinates are searched, shape (n,)."""
        free: NDArray[np.bool_] = np.isnan(self.fixed)
        return free

    @property
    def dimension(self) -> int:
        """Number of free coordinates, m."""
        return int(self.free.sum())

    @property
    def is_identity(self) -> bool:
        """Whether the map is the identity."""
        bounded = np.isfinite(self.lower).any() or np.isfinite(self.upper).any()
        return self.factor is None and bool(self.free.all()) and not bounded

    def to_user(self, U: Array) -> Array:
        """Map the solver's points, shape (k, m), to the user's, shape (k, n)."""
        if self.is_identity:
            return U.copy()
        free = self.free
        X = np.tile(self.fixed, (len(U), 1))
        X[:, free] = self._fold(self._scaled(U))
        return X

    def to_solver(self, X: Array) -> Array:
        """Map the user's points, shape (k, n), to the nearest solver's points that map to them.

        Points outside the bounds are moved to the bounds; fixed coordinates are ignored.
        """
        if self.is_identity:
            return X.copy()
        V = self._unfold(X[:, self.free])
        if self.factor is None:
            return V
        if self.factor.ndim == 1:
            return V / self.factor
        return np.asarray(np.linalg.solve(self.factor, V.T).T, dtype=float)

    def covariance(self, mean: Array, covariance: Array) -> Array:
        """Map a covariance of the solver's to the user's coordinates, linearized at its mean.

        Parameters
        ----------
        mean
            The solver's mean, shape (m,).
        covariance
            The solver's covariance, shape (m, m).

        Returns
        -------
        ndarray
            Shape (n, n); zero for fixed coordinates.
        """
        if self.is_identity:
            return covariance
        slopes = self._slopes(self._scaled(mean[np.newaxis])[0])
        jacobian = np.diag(slopes)
        if self.factor is not None:
            jacobian = jacobian @ (np.diag(self.factor) if self.factor.ndim == 1 else self.factor)
        result = np.zeros((len(self.fixed), len(self.fixed)))
        result[np.ix_(self.free, self.free)] = jacobian @ covariance @ jacobian.T
        return result

    def _scaled(self, U: Array) -> Array:
        if self.factor is None:
            return U
        scaled: Array = U * self.factor if self.factor.ndim == 1 else U @ self.factor.T
        return scaled

    def _sides(self) -> tuple[Array, Array, Array, Array]:
        """Return bounds and turning points of the free coordinates."""
        lower, upper = self.lower[self.free], self.upper[self.free]
        return lower, upper, lower - self.widths, upper + self.widths

    def _mirrored(self, V: Array) -> Array:
        """Bring all coordinates between their turning points, where there are any."""
        _, _, first, last = self._sides()
        both = np.isfinite(first) & np.isfinite(last)
        with np.errstate(over="ignore", invalid="ignore"):
            V = np.where(first > V, 2 * first - V, V)
            V = np.where(last < V, 2 * last - V, V)
            period = np.where(both, 2 * (last - first), 1.0)
            shifted = np.mod(V - np.where(both, first, 0.0), period)
            inside = np.where(both, first, 0.0) + np.minimum(shifted, period - shifted)
        beyond = both & ((first > V) | (last < V))
        return np.where(beyond, inside, V)

    def _fold(self, V: Array) -> Array:
        lower, upper, first, last = self._sides()
        w, V = self.widths, self._mirrored(V)
        with np.errstate(over="ignore", invalid="ignore"):
            X = np.where(lower + w > V, lower + (V - first) ** 2 / (4 * w), V)
            X = np.where(upper - w < V, upper - (last - V) ** 2 / (4 * w), X)
        return np.clip(X, lower, upper)

    def _unfold(self, X: Array) -> Array:
        lower, upper, first, last = self._sides()
        w, X = self.widths, np.clip(X, lower, upper)
        with np.errstate(over="ignore", invalid="ignore"):
            V = np.where(lower + w > X, first + 2 * np.sqrt(w * (X - lower)), X)
            return np.where(upper - w < X, last - 2 * np.sqrt(w * (upper - X)), V)

    def _slopes(self, v: Array) -> Array:
        """Return the derivative of the fold at a point, shape (m,)."""
        lower, upper, first, last = self._sides()
        w, given = self.widths, v
        v = self._mirrored(given)
        # beyond an odd number of turning points the coordinate is mirrored; the difference may be
        # lost in rounding beside a large coordinate
        signs = np.where(v == given, 1.0, np.sign(self._mirrored(given + 1e-3 * w) - v))
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = np.where(v < lower + w, (v - first) / (2 * w), 1.0)
            return signs * np.where(v > upper - w, (last - v) / (2 * w), slopes)
