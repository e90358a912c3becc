"""Weighted ridge regressions of several targets on the same samples, for the lean variant.

The features are computed once, in coordinates whitened by the samples with the weights of the first
regression. Each regression then forms and factors its own normal matrix ``G = Phi W Phi'``, since
every new sample changes all weights. (Updating a factorisation sample by sample, as in
`casmore.algorithms.incremental_fit`, would need constant weights. As a preconditioner for conjugate
gradients, the factorisation of an earlier G was of little use: in 20-D they took 40 to 60 steps
when 3 % of the samples were new.)

Normal equations are accurate enough here. Cholesky's factorisation does not depend on the scales of
the features, only on their collinearity. In the whitened coordinates ``w_i``, ``w_i^2`` and
``w_i w_j`` have means of about 0, 1 and 0, and standard deviations of order 1, so that no digits
are lost to the constant. In runs in 20-D the condition numbers of G were 1e3 to 5e5. The weights
that determine the coordinates should be the more selective ones. A wide cloud of samples is well
resolved in the coordinates of a narrow cloud inside it, but not the other way round: the features
of the narrow one would be almost constant.

The cost of a large model is that of forming and factoring G. This is done in single precision, in
half the time, and the error is removed by iterative refinement with residuals in double precision
(Higham, "Accuracy and Stability of Numerical Algorithms", chapter 12). Three or four steps are
usual. If they do not converge, G is factored in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, Model
from casmore.algorithms.noise import Reliability
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import Layout, build_features, fit_coordinates

Array = NDArray[np.float64]

# Number of samples whose weighted features are held at a time: fewer would slow the product down,
# more would need more memory.
_BLOCK = 512

# With at least this number of coefficients, the normal matrix is factored in single precision.
_MANY = 400
# Relative change of the predicted values in the last step of refinement (the remaining error is
# smaller by the factor of a step), and the largest number of steps.
_ACCURACY = 1e-8
_MOST_STEPS = 8


class WeightedFit:
    """Weighted ridge regressions, from scratch at every call.

    Parameters
    ----------
    dimension
        The dimension n.
    capacity
        The largest number of samples of a fit (the queue's size).
    ridge
        ``lambda`` of the paper, in units of standardized features.
    richest
        The richest model to be fitted, see `casmore.algorithms.surrogate.DirectFit`.
    """

    def __init__(
        self,
        dimension: int,
        capacity: int,
        ridge: float,
        richest: Complexity = Complexity.FULL,
    ) -> None:
        self.ridge = ridge
        self.layout = Layout(dimension, richest)
        parameters = richest.parameters(dimension)
        self._allocate(parameters, capacity)

    def _allocate(self, parameters: int, capacity: int) -> None:
        # column-major in the samples: one feature is one contiguous row
        self._features = np.empty((parameters, capacity))
        self._weighted = np.empty(parameters * min(capacity, _BLOCK))

    def fit(
        self,
        queue: SampleQueue,
        tasks: Sequence[tuple[Array, Array]],
        complexity: Complexity,
        distribution: SearchDistribution,
        reliability: Reliability | None = None,
    ) -> tuple[Model, ...]:
        """Fit several models at the points of the queue.

        Parameters
        ----------
        queue
            The q samples.
        tasks
            For each of the m models its targets, shape (q,), to be maximized, and the weights of
            the squared residuals, shape (q,), with mean 1.
        complexity
            Complexity of the models.
        distribution
            The search distribution, which defines the whitened coordinates of the models.
        reliability
            Shrinks the linear and the quadratic part, see `casmore.algorithms.surrogate.DirectFit`.

        Returns
        -------
        tuple of m QuadraticModel or DiagonalModel
            As functions of ``z``, ``x = mean + L z``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved.
        """
        W, M, offset = fit_coordinates(queue.points, complexity, distribution, tasks[0][1])
        n, q = W.shape
        features = self._room(n, q, complexity)
        features[0] = 1.0
        # rows that are contiguous, as those of the features are: products are faster
        build_features(np.ascontiguousarray(W), complexity, features[1:])
        ridge: float | Array = self.ridge
        if reliability is not None:
            ridge = self.ridge + reliability.ridge(n, q, len(features) - 1)
        models = []
        for y, w in tasks:
            coefficients = self._regress(features, y, w, ridge)
            model = self.layout.assemble(coefficients[1:], float(coefficients[0]), complexity)
            models.append(model.substitute(M, offset))
        return tuple(models)

    def _room(self, n: int, q: int, complexity: Complexity) -> Array:
        """Return the memory for the features of q samples; it grows with the queue."""
        if q > self._features.shape[1]:
            self._allocate(len(self._features), q)
        return self._features[: complexity.parameters(n), :q]

    def _regress(self, features: Array, y: Array, weights: Array, ridge: float | Array) -> Array:
        """Return the coefficients, shape (p,), for features of shape (p, q), the constant first."""
        roots = np.sqrt(weights)
        if len(features) >= _MANY:
            coefficients = self._refined(features, y, weights, roots, ridge)
            if coefficients is not None:
                return coefficients
        gram = self._gram(features, roots, np.float64)
        gram.flat[:: len(gram) + 1] = _diagonal(gram, ridge)[0]
        _, solution, info = lapack.dposv(gram, features @ (weights * y), overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError(
                f"the normal matrix is not positive definite (pivot {info})"
            )
        return np.asarray(solution)

    def _refined(
        self, features: Array, y: Array, weights: Array, roots: Array, ridge: float | Array
    ) -> Array | None:
        """Return the coefficients by iterative refinement; None if it does not converge.

        Each step reduces the error by about the condition number of the normal matrix times the
        rounding error of single precision.
        """
        gram = self._gram(features, roots, np.float32)
        gram.flat[:: len(gram) + 1], penalty = _diagonal(gram, ridge)
        factor, info = lapack.spotrf(gram, overwrite_a=1)
        if info != 0:
            return None
        coefficients = np.zeros(len(features))
        goal = _ACCURACY**2 * float(weights @ (y * y))
        for _ in range(_MOST_STEPS):
            residual = features @ (weights * (y - coefficients @ features))
            residual -= penalty * coefficients
            size = float(np.abs(residual).max())  # single precision has a smaller range
            if size == 0:
                return coefficients
            half = blas.strsv(factor, residual / size, trans=1)
            step = size * blas.strsv(factor, half, overwrite_x=1).astype(float)
            coefficients += step
            if abs(float(step @ residual)) <= goal:  # |change of the predicted values|^2
                return coefficients
        return None

    def _gram(self, features: Array, roots: Array, precision: type) -> Array:
        """Return the upper triangle of ``Phi W Phi'``."""
        p, q = features.shape
        product = blas.dsyrk if precision is np.float64 else blas.ssyrk
        buffer: NDArray[Any] = self._weighted.view(precision)
        gram: Array | None = None
        for start in range(0, q, _BLOCK):
            block = slice(start, min(start + _BLOCK, q))
            count = block.stop - start
            weighted = buffer[: p * count].reshape(p, count)
            np.multiply(features[:, block], roots[block], out=weighted, casting="same_kind")
            if gram is None:
                gram = product(1.0, weighted.T, trans=1)
            else:
                gram = product(1.0, weighted.T, 1.0, gram, trans=1, overwrite_c=1)
        assert gram is not None
        return gram

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the features, which every fit computes anew."""
        return {"ridge": self.ridge, "layout": self.layout, "shape": self._features.shape}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ridge, self.layout = state["ridge"], state["layout"]
        self._allocate(*state["shape"])


def _diagonal(gram: Array, ridge: float | Array) -> tuple[Array, Array]:
    """Return the diagonal of the normal matrix with the ridge, and the ridge's part in it.

    As in the unweighted fit, the ridge is one of standardized features: that of feature i is
    multiplied by its variance. There is none for the constant, feature 0.
    """
    diagonal = gram.diagonal().astype(float)
    sums = gram[0, 1:].astype(float)
    variances = np.maximum(diagonal[1:] - sums * sums / diagonal[0], 0.0) / diagonal[0]
    penalty = np.concatenate(([0.0], ridge * variances))
    diagonal += penalty
    diagonal[diagonal == 0] = 1.0  # a feature that is 0 everywhere: its coefficient is 0
    return diagonal, penalty
