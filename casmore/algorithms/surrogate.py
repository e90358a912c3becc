"""The surrogate, a quadratic model fitted by ridge regression (paper, section "Model Learning")."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.mean_estimate import MeanEstimate, regression_at
from casmore.algorithms.models import Complexity, DiagonalModel, Model, QuadraticModel
from casmore.algorithms.noise import Reliability
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.whitening import (
    empirical_whitening,
    mean_of_rows,
    spanned_whitening,
    standardization,
)

Array = NDArray[np.float64]


class DirectFit:
    """Ridge regression on all samples, from scratch at every call.

    Parameters
    ----------
    dimension
        The dimension n.
    capacity
        The largest number of samples of a fit (the queue's size).
    ridge
        ``lambda`` of the paper, in units of standardized features.
    whitening
        Whether the full model is fitted in coordinates whitened by the samples' mean and
        covariance; False is for the paper's ablation.
    richest
        The richest model to be fitted. If it is simpler than the full one, models are
        `DiagonalModel`, and search distributions must be diagonal: time and memory are linear in n.
    """

    def __init__(
        self,
        dimension: int,
        capacity: int,
        ridge: float,
        whitening: bool = True,
        richest: Complexity = Complexity.FULL,
    ) -> None:
        self.ridge = ridge
        self.whitening = whitening
        self.layout = Layout(dimension, richest)
        self._capacity = capacity
        # Column-major in the samples: one feature is one contiguous row. Allocated by the first
        # fit: the lean variant needs it for its estimate at the mean only.
        self._features = np.empty((richest.parameters(dimension) - 1, 0))

    def fit(
        self,
        queue: SampleQueue,
        y: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
        reliability: Reliability | None = None,
    ) -> Model:
        """Fit the model to ``y`` (to be maximized) at the points of the queue.

        Parameters
        ----------
        queue
            The q samples.
        y
            Their normalized targets, shape (q,).
        complexity
            Complexity of the model.
        distribution
            The search distribution, which defines the whitened coordinates of the model.
        reliability
            Shrinks the linear and the quadratic part towards 0, as the reliability of an earlier
            fit suggests; default: no shrinkage, as in the paper.

        Returns
        -------
        QuadraticModel or DiagonalModel
            As a function of ``z``, ``x = mean + L z``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved.
        """
        W, M, offset = self._coordinates(queue.points, complexity, distribution)
        features = build_features(W, complexity, self._room(len(y)))
        ridge: float | Array = self.ridge
        if reliability is not None:
            ridge = self.ridge + reliability.ridge(len(W), len(y), len(features))
        coefficients, constant = ridge_regression(features, y, ridge)
        return self.layout.assemble(coefficients, constant, complexity).substitute(M, offset)

    def estimate_at_mean(
        self,
        queue: SampleQueue,
        y: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
    ) -> MeanEstimate:
        """Fit the model to values ``y``, shape (q,), and estimate f at the distribution's mean.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved.
        """
        W, _, mean = self._coordinates(queue.points, complexity, distribution)
        features = build_features(W, complexity, self._room(len(y)))
        at = build_features(mean[:, np.newaxis], complexity, np.empty((len(self._features), 1)))
        return regression_at(features, at[:, 0], y)

    def _room(self, q: int) -> Array:
        """Return the memory for the features of q samples; it grows with the queue."""
        if q > self._features.shape[1]:
            self._features = np.empty((len(self._features), max(q, self._capacity)))
        return self._features[:, :q]

    def _coordinates(
        self, X: Array, complexity: Complexity, distribution: SearchDistribution
    ) -> tuple[Array, Array, Array]:
        """Return the samples in the fit's coordinates w, shape (n, q), and w = M z + offset."""
        if not self.whitening:
            return X.T, distribution.factor, distribution.mean
        return fit_coordinates(X, complexity, distribution)


def fit_coordinates(
    X: Array,
    complexity: Complexity,
    distribution: SearchDistribution,
    weights: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return coordinates w in which the samples are white, or, for simple models, standardized.

    Parameters
    ----------
    X
        The samples, shape (q, n).
    complexity
        Complexity of the model.
    distribution
        The search distribution, ``x = mean + L z``.
    weights
        Weights of the samples, shape (q,), with mean 1; default: all 1.

    Returns
    -------
    W : ndarray
        The samples in these coordinates, shape (n, q).
    M : ndarray
        ``w = M z + offset``; shape (n, n), or (n,) if the distribution is diagonal.
    offset : ndarray
        Shape (n,).
    """
    if complexity is Complexity.FULL:
        Z = distribution.whiten(X).T
        mean, C = empirical_whitening(Z, weights)
        Z -= mean[:, np.newaxis]
        if C is None:
            M = spanned_whitening(Z, weights)
            return M @ Z, M, -M @ mean
        W, _ = lapack.dtrtrs(C, Z, lower=1, overwrite_b=1)
        M, _ = lapack.dtrtri(C, lower=1)
        return W, M, -M @ mean
    # the axes of the search space must be kept: only their scales are standardized
    center, scale = standardization(X, weights)
    L = distribution.factor
    M = L / scale if L.ndim == 1 else L / scale[:, np.newaxis]
    return ((X - center) / scale).T, M, (distribution.mean - center) / scale


# Up to this number of samples, products are computed at once; beyond it, row by row without copies.
_FEW = 64


@cache
def _upper_triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(n)
    return rows, columns


def build_features(W: Array, complexity: Complexity, out: Array) -> Array:
    """Fill and return the rows of ``out`` with the features of the samples ``W``, shape (n, q).

    The constant is omitted; products are in the order (1,1), (1,2), ..., (1,n), (2,2), ...
    """
    n = len(W)
    out = out[: complexity.parameters(n) - 1]
    out[:n] = W
    if complexity is Complexity.DIAGONAL:
        np.multiply(W, W, out=out[n:])
    elif complexity is Complexity.FULL and W.shape[1] < _FEW:
        rows, columns = _upper_triangle(n)
        np.multiply(W[rows], W[columns], out=out[n:])
    elif complexity is Complexity.FULL:
        row = n
        for i in range(n):
            np.multiply(W[i:], W[i], out=out[row : row + n - i])
            row += n - i
    return out


def ridge_regression(features: Array, y: Array, ridge: float | Array) -> tuple[Array, float]:
    """Regress ``y`` on the features, with an intercept and a ridge on standardized features.

    Features are centered, since the intercept is separate, but not divided by their standard
    deviations. The Cholesky factorisation is invariant under diagonal scaling, so standardization
    only changes the meaning of the ridge. This is taken into account by the ridge
    ``ridge * variance_i`` of feature i.

    Parameters
    ----------
    features
        Shape (p, q); overwritten.
    y
        Targets, shape (q,).
    ridge
        Regularization of the standardized coefficients, one number or one for each, shape (p,).

    Returns
    -------
    coefficients : ndarray
        Shape (p,).
    constant : float
        The intercept.
    """
    q = len(y)
    mean = mean_of_rows(features, None)
    features -= mean[:, np.newaxis]
    average = np.add.reduce(y) / q
    gram = blas.dsyrk(1.0, features.T, trans=1)  # the upper triangle of features features'
    diagonal = gram.diagonal() * (1 + ridge / q)
    diagonal[diagonal == 0] = 1.0  # a constant feature: its coefficient is 0
    np.fill_diagonal(gram, diagonal)
    _, coefficients, info = lapack.dposv(gram, features @ y, overwrite_a=1, overwrite_b=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"the normal matrix is not positive definite (pivot {info})")
    return coefficients, float(average - mean @ coefficients)


class Layout:
    """The position of each coefficient of a model in dimension ``n`` in its matrix.

    Parameters
    ----------
    n
        The dimension.
    richest
        The richest model; if it is not the full one, models are built without matrices.
    """

    def __init__(self, n: int, richest: Complexity = Complexity.FULL) -> None:
        self._n = n
        self._diagonal = richest is not Complexity.FULL
        if not self._diagonal:
            rows, columns = _upper_triangle(n)
            self._upper = rows * n + columns

    def assemble(self, coefficients: Array, constant: float, complexity: Complexity) -> Model:
        """Return the model with these coefficients (paper: ``A = -(L + L')``)."""
        n = self._n
        if self._diagonal:
            is_linear = complexity is Complexity.LINEAR
            curvatures = np.zeros(n) if is_linear else -2 * coefficients[n:]
            return DiagonalModel(curvatures, coefficients[:n], constant)
        A = np.zeros((n, n))
        if complexity is Complexity.DIAGONAL:
            A.flat[:: n + 1] = -2 * coefficients[n:]
        elif complexity is Complexity.FULL:
            A.ravel()[self._upper] = coefficients[n:]
            A = -(A + A.T)
        return QuadraticModel(A, coefficients[:n], constant)
