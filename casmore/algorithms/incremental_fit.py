"""The richest model's ridge regression, kept up to date sample by sample.

Between two iterations K of the Q samples change, and with them 2 K of the Q terms of the normal
matrix ``G = Phi' Phi + R``. The direct fit forms and factors G anew, ``O(P^2 Q + P^3)`` for P
coefficients; here its inverse is corrected (Woodbury), ``O(P^2 K)``, all of it matrix products.

Two things make that possible. Least squares over all quadratic polynomials is invariant under
affine maps of the inputs (over those with a diagonal curvature, under maps of each coordinate), so
the samples may be whitened by a *frame* that is some iterations old:
the same model comes out (up to the ridge), and the features of old samples stay valid. And an
inverse that has picked up rounding errors is watched and mended: a step of iterative refinement
with the residual of the normal equations squares the error, and its size measures it, in the
predicted values. Where it is too large the fit starts afresh from the samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit, Layout, build_features
from casmore.algorithms.whitening import empirical_whitening, standardisation

Array = NDArray[np.float64]

# Relative size, in predicted values, up to which a refinement step is trusted: what it leaves is
# about the square, 1e-10.
_TRUSTED = 1e-5
# While the last step seen was below this, a step is made (and seen) only now and then.
_NEGLIGIBLE = 1e-9
_SOLUTIONS_A_CHECK = 5


class IncrementalFit:
    """Ridge regression of the richest model with an inverse that follows the queue.

    Simpler models, which come before and are small, are fitted directly.

    Parameters
    ----------
    dimension
        The dimension n.
    capacity
        The queue's size.
    ridge
        ``lambda`` of the paper, in units of standardised features.
    richest
        The richest model, as of `DirectFit`.

    Attributes
    ----------
    fits, renewals, fallbacks : int
        Number of richest models; of fresh starts that are due, once the queue has been turned over;
        and of those that the watch over the accuracy called for.
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
    ) -> Model:
        """Fit the model to ``y``; as `DirectFit.fit`, whose result this is to rounding.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved even from scratch.
        """
        if complexity is not self._richest:
            return self._direct.fit(queue, y, complexity, distribution)
        self.fits += 1
        state = self._state
        self._state = None  # whatever fails below leaves nothing half done
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
            except np.linalg.LinAlgError:  # as of samples that do not span the space
                coefficients = None
            if coefficients is None:
                return self._direct.fit(queue, y, complexity, distribution)
        assert state is not None
        self._state = state
        model = self._layout.assemble(coefficients[1:], float(coefficients[0]), complexity)
        return model.substitute(*state.frame.seen_from(distribution))


class _Frame:
    """Fixed coordinates w, ``x = centre + C w``, in which the samples are about white."""

    def __init__(self, X: Array, distribution: SearchDistribution) -> None:
        """Whiten the samples ``X``, shape (q, n)."""
        mean, R = empirical_whitening(distribution.whiten(X).T)
        self.centre = distribution.mean + distribution.factor @ mean
        if R is None:
            raise np.linalg.LinAlgError("the samples do not span the space")
        self._lu, self._pivots, info = lapack.dgetrf(distribution.factor @ R)
        if info != 0:
            raise np.linalg.LinAlgError("the samples' covariance is singular")

    def coordinates(self, X: Array) -> Array:
        """Return the points ``X``, shape (k, n), in the frame, shape (n, k)."""
        W: Array = lapack.dgetrs(self._lu, self._pivots, (X - self.centre).T)[0]
        return W

    def seen_from(self, distribution: SearchDistribution) -> tuple[Array, Array]:
        """Return ``M`` and ``offset`` with ``w = M z + offset`` for ``x = mean + L z``."""
        M: Array = lapack.dgetrs(self._lu, self._pivots, distribution.factor)[0]
        return M, self.coordinates(distribution.mean[np.newaxis])[:, 0]


class _CoordinateFrame:
    """The same with axes parallel to the coordinates: ``x = centre + scale w``."""

    def __init__(self, X: Array) -> None:
        self.centre, self._scale = standardisation(X)

    def coordinates(self, X: Array) -> Array:
        """Return the points ``X``, shape (k, n), in the frame, shape (n, k)."""
        return ((X - self.centre) / self._scale).T

    def seen_from(self, distribution: SearchDistribution) -> tuple[Array, Array]:
        """Return ``M`` and ``offset`` with ``w = M z + offset`` for ``x = mean + s z``."""
        offset = (distribution.mean - self.centre) / self._scale
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
        self._error = math.inf  # of the last solution checked
        self._solved = 0
        self._born = self._seen = queue.total
        parameters = complexity.parameters(distribution.dimension)
        self._part = max(parameters // 2, 8)
        self._features = np.empty((parameters, queue.capacity))
        q = self._filled = len(queue)
        self._fill(self.frame.coordinates(queue.points), self._features[:, :q])
        # the upper triangle; column-major, as BLAS wants what it changes in place
        gram = blas.dsyrk(1.0, self._features[:, :q].T, trans=1)
        mean = gram[0] / q
        # as the direct fit: ridge times each feature's variance, none for the constant
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
        """Whether the queue has been turned over since the frame was chosen.

        The distribution may then have left the frame, and conditioning with it.
        """
        return queue.total - self._born >= queue.capacity

    def follow(self, queue: SampleQueue) -> bool:
        """Take the queue's new samples in and those they overwrote out; False if it can't."""
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
        """Update the inverse for ``G + U U' - W W'``; False if rounding has made that indefinite.

        U is the first k columns of ``changes``, W the rest. Woodbury's formula, with ``H = G^-1``
        and ``V = H U``, is ``(G + s U U')^-1 = H - s V (I + s U' V)^-1 V'``. In goes before out:
        the normal matrix then stays far from singular.
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

    def solve(self, y: Array) -> Array | None:
        """Return the coefficients, the constant first; None if they can't be trusted."""
        Phi = self._features[:, : len(y)]
        coefficients: Array = blas.dsymv(1.0, self._inverse, Phi @ y)
        self._solved += 1
        if self._error < _NEGLIGIBLE and self._solved % _SOLUTIONS_A_CHECK:
            return coefficients
        residual = Phi @ (y - coefficients @ Phi) - self._penalty * coefficients
        step: Array = blas.dsymv(1.0, self._inverse, residual)
        # |change of the predicted values|^2 is step' G step = step' residual, up to rounding
        self._error = math.sqrt(abs(float(step @ residual)) / float(y @ y))
        if not self._error < _TRUSTED:
            return None
        return coefficients + step


def _times_inverse_root(V: Array, U: Array, sign: float) -> Array | None:
    """Return ``V R^-1`` with ``R' R = I + sign U' V``; None if that is not positive definite."""
    small: Array = sign * (U.T @ V)
    small.flat[:: len(small) + 1] += 1.0
    R, info = lapack.dpotrf(small)
    if info != 0:
        return None
    product: Array = blas.dtrsm(1.0, R, V, side=1)
    return product
