"""Ridge regression of the richest model, updated sample by sample.

Between two iterations K of the Q samples change, and with them 2 K of the Q terms of the normal
matrix ``G = Phi' Phi + R``. The direct fit forms and factors G again, ``O(P^2 Q + P^3)`` for P
coefficients. This fit updates its inverse by Woodbury's formula, ``O(P^2 K)``, with matrix products
only.

Two properties make this possible. First, least squares over all quadratic polynomials is invariant
under affine maps of the inputs (with a diagonal curvature, under maps of each coordinate).
Therefore the samples may be whitened by a *frame* that is some iterations old: the model is the
same, up to the ridge, and the features of old samples stay valid. Second, rounding errors of the
inverse are monitored and corrected: a step of iterative refinement with the residual of the normal
equations squares the error, and the size of the step measures it in the predicted values. If it is
too large, the fit is recomputed from the samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.mean_estimate import MeanEstimate, estimate
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import Reliability
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit, Layout, build_features
from casmore.algorithms.whitening import empirical_whitening, standardization

Array = NDArray[np.float64]

# Largest relative size of a refinement step, in predicted values, that is trusted; the remaining
# error is about its square, 1e-10.
_TRUSTED = 1e-5
# If the last refinement step was smaller than this, further steps are made only occasionally.
_NEGLIGIBLE = 1e-9
# Targets with a smaller sum of squares, which would lose its digits, are left to the direct fit.
_SMALLEST = 1e-290
_SOLUTIONS_A_CHECK = 5


class IncrementalFit:
    """Ridge regression of the richest model with an inverse that is updated with the queue.

    The simpler models of the first iterations, which are small, are fitted directly.

    Parameters
    ----------
    dimension
        The dimension n.
    capacity
        The queue's size.
    ridge
        ``lambda`` of the paper, in units of standardized features.
    richest
        The richest model, see `DirectFit`.

    Attributes
    ----------
    fits, renewals, fallbacks : int
        Number of fits of the richest model; of regular recomputations, each time the queue has been
        replaced; and of recomputations because of insufficient accuracy.
    """

    def __init__(
        self,
        dimension: int,
        capacity: int,
        ridge: float,
        richest: Complexity = Complexity.FULL,
    ) -> None:
        self._direct = DirectFit(dimension, capacity, ridge, richest=richest)
        self._ridge = ridge
        self._richest = richest
        self._layout = Layout(dimension, richest)
        self._state: _Inverse | None = None
        self.fits = self.renewals = self.fallbacks = 0

    def fit(
        self,
        queue: SampleQueue,
        y: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
        reliability: Reliability | None = None,
    ) -> Model:
        """Fit the model to ``y``; the result is that of `DirectFit.fit` up to rounding.

        A model that shrinks with its ``reliability`` is fitted directly.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved even after a recomputation.
        """
        if complexity is not self._richest or reliability is not None:
            return self._direct.fit(queue, y, complexity, distribution, reliability)
        self.fits += 1
        state = self._state
        self._state = None  # a failure below leaves no inconsistent state
        coefficients = None
        if state is None or state.is_due(queue):
            self.renewals += 1
        elif state.follow(queue):
            coefficients = state.solve(y)
            self.fallbacks += coefficients is None
        else:
            self.fallbacks += 1
        if coefficients is None:
            try:
                state = _Inverse(queue, distribution, self._ridge, complexity)
                coefficients = state.solve(y)
            except np.linalg.LinAlgError:  # for instance if samples do not span the space
                coefficients = None
            if coefficients is None:
                return self._direct.fit(queue, y, complexity, distribution)
        assert state is not None
        self._state = state
        model = self._layout.assemble(coefficients[1:], float(coefficients[0]), complexity)
        return model.substitute(*state.frame.seen_from(distribution))

    def estimate_at_mean(
        self,
        queue: SampleQueue,
        y: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
    ) -> MeanEstimate:
        """Return the estimate of `DirectFit.estimate_at_mean` up to rounding, faster.

        It does not change the state of the fit.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved.
        """
        state = self._state
        if complexity is self._richest and state is not None and state.knows(queue):
            return state.estimate_at(distribution.mean, y)
        return self._direct.estimate_at_mean(queue, y, complexity, distribution)


class _Frame:
    """Fixed coordinates w, ``x = center + C w``, in which the samples are approximately white."""

    def __init__(self, X: Array, distribution: SearchDistribution) -> None:
        """Whiten the samples ``X``, shape (q, n)."""
        mean, R = empirical_whitening(distribution.whiten(X).T)
        self.center = distribution.mean + distribution.factor @ mean
        if R is None:
            raise np.linalg.LinAlgError("the samples do not span the space")
        self._lu, self._pivots, info = lapack.dgetrf(distribution.factor @ R)
        if info != 0:
            raise np.linalg.LinAlgError("the samples' covariance is singular")

    def coordinates(self, X: Array) -> Array:
        """Return the points ``X``, shape (k, n), in the frame, shape (n, k)."""
        W: Array = lapack.dgetrs(self._lu, self._pivots, (X - self.center).T)[0]
        return W

    def seen_from(self, distribution: SearchDistribution) -> tuple[Array, Array]:
        """Return ``M`` and ``offset`` with ``w = M z + offset`` for ``x = mean + L z``."""
        M: Array = lapack.dgetrs(self._lu, self._pivots, distribution.factor)[0]
        return M, self.coordinates(distribution.mean[np.newaxis])[:, 0]


class _CoordinateFrame:
    """A frame with axes parallel to the coordinates: ``x = center + scale w``."""

    def __init__(self, X: Array) -> None:
        self.center, self._scale = standardization(X)

    def coordinates(self, X: Array) -> Array:
        """Return the points ``X``, shape (k, n), in the frame, shape (n, k)."""
        return ((X - self.center) / self._scale).T

    def seen_from(self, distribution: SearchDistribution) -> tuple[Array, Array]:
        """Return ``M`` and ``offset`` with ``w = M z + offset`` for ``x = mean + s z``."""
        offset = (distribution.mean - self.center) / self._scale
        return distribution.factor / self._scale, offset


class _Inverse:
    """The features of the queue's samples in a frame, and the inverse of their normal matrix."""

    def __init__(
        self,
        queue: SampleQueue,
        distribution: SearchDistribution,
        ridge: float,
        complexity: Complexity,
    ) -> None:
        self.frame: _Frame | _CoordinateFrame
        if complexity is Complexity.FULL:
            self.frame = _Frame(queue.points, distribution)
        else:
            self.frame = _CoordinateFrame(queue.points)
        self._complexity = complexity
        self._error = math.inf  # error of the last solution that was checked
        self._solved = 0
        self._born = self._seen = queue.total
        self._resized = queue.resized
        parameters = complexity.parameters(distribution.dimension)
        self._part = max(parameters // 2, 8)
        self._features = np.empty((parameters, queue.capacity))
        q = self._filled = len(queue)
        self._fill(self.frame.coordinates(queue.points), self._features[:, :q])
        # the upper triangle; column-major, as required by BLAS for updates in place
        gram = blas.dsyrk(1.0, self._features[:, :q].T, trans=1)
        mean = gram[0] / q
        # as in the direct fit: ridge times the variance of each feature, none for the constant
        self._penalty = ridge * np.maximum(gram.diagonal() / q - mean**2, 0.0)
        self._penalty[self._penalty == 0] = ridge
        self._penalty[0] = 0.0
        gram[np.diag_indices(len(gram))] += self._penalty
        factor, info = lapack.dpotrf(gram, overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError(f"the normal matrix is not positive definite ({info})")
        self._inverse, _ = lapack.dpotri(factor, overwrite_c=1)

    def _fill(self, W: Array, out: Array) -> None:
        out[0] = 1.0
        build_features(W, self._complexity, out[1:])

    def is_due(self, queue: SampleQueue) -> bool:
        """Whether all samples have been replaced or moved since the frame was chosen.

        The distribution may then have moved away from the frame, which degrades the conditioning.
        """
        return queue.total - self._born >= queue.capacity or queue.resized != self._resized

    def follow(self, queue: SampleQueue) -> bool:
        """Add the new samples of the queue and remove the overwritten ones; False on failure."""
        rows = queue.rows_since(self._seen)
        self._seen = queue.total
        # in parts, so that the small matrices below stay smaller than the inverse
        for start in range(0, len(rows), self._part):
            part = rows[start : start + self._part]
            k = len(part)
            overwritten = part[part < self._filled]  # the other rows were empty
            changes = np.empty((len(self._features), k + len(overwritten)), order="F")
            self._fill(self.frame.coordinates(queue.points[part]), changes[:, :k])
            changes[:, k:] = self._features[:, overwritten]
            if not self._exchange(changes, k):
                return False
            self._features[:, part] = changes[:, :k]
            self._filled += k - len(overwritten)
        return True

    def _exchange(self, changes: Array, k: int) -> bool:
        """Update the inverse for ``G + U U' - W W'``; False if rounding makes it indefinite.

        U is the first k columns of ``changes``, W the rest. Woodbury's formula, with ``H = G^-1``
        and ``V = H U``, is ``(G + s U U')^-1 = H - s V (I + s U' V)^-1 V'``. Samples are added
        before others are removed, so that the normal matrix stays far from singular.
        """
        U, W = changes[:, :k], changes[:, k:]
        V = blas.dsymm(1.0, self._inverse, changes)
        Y = _times_inverse_root(V[:, :k], U, 1.0)
        if Y is None:
            return False
        self._inverse = blas.dsyrk(-1.0, Y, 1.0, self._inverse, overwrite_c=1)
        if k < changes.shape[1]:
            Y = _times_inverse_root(V[:, k:] - Y @ (Y.T @ W), W, -1.0)
            if Y is None:
                return False
            self._inverse = blas.dsyrk(1.0, Y, 1.0, self._inverse, overwrite_c=1)
        return True

    def knows(self, queue: SampleQueue) -> bool:
        """Whether the inverse is that of all samples of the queue."""
        return self._seen == queue.total and self._resized == queue.resized

    def estimate_at(self, point: Array, y: Array) -> MeanEstimate:
        """Return the model's value at a point, shape (n,), and its standard error."""
        Phi = self._features[:, : len(y)]
        at = np.empty((len(self._features), 1))
        self._fill(self.frame.coordinates(point[np.newaxis]), at)
        average = float(y.mean())
        coefficients = blas.dsymv(1.0, self._inverse, Phi @ (y - average))
        residual = Phi @ (y - average - coefficients @ Phi)
        coefficients += blas.dsymv(1.0, self._inverse, residual)  # iterative refinement
        leverage = float(at[:, 0] @ blas.dsymv(1.0, self._inverse, at[:, 0]))
        value = average + float(coefficients @ at[:, 0])
        return estimate(y, average + coefficients @ Phi, len(Phi), value, leverage)

    def solve(self, y: Array) -> Array | None:
        """Return the coefficients, the constant first; None if they can't be trusted."""
        Phi = self._features[:, : len(y)]
        coefficients: Array = blas.dsymv(1.0, self._inverse, Phi @ y)
        self._solved += 1
        if self._error < _NEGLIGIBLE and self._solved % _SOLUTIONS_A_CHECK:
            return coefficients
        size = float(y @ y)
        if size < _SMALLEST:
            return None
        residual = Phi @ (y - coefficients @ Phi) - self._penalty * coefficients
        step: Array = blas.dsymv(1.0, self._inverse, residual)
        # |change of the predicted values|^2 is step' G step = step' residual, up to rounding
        self._error = math.sqrt(abs(float(step @ residual)) / size)
        if not self._error < _TRUSTED:
            return None
        return coefficients + step


def _times_inverse_root(V: Array, U: Array, sign: float) -> Array | None:
    """Return ``V R^-1`` with ``R' R = I + sign U' V``; None if it is not positive definite."""
    small: Array = sign * (U.T @ V)
    small.flat[:: len(small) + 1] += 1.0
    R, info = lapack.dpotrf(small)
    if info != 0:
        return None
    product: Array = blas.dtrsm(1.0, R, V, side=1)
    return product
