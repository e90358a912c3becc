"""The quadratic surrogate: linear, diagonal, full; fitted by ridge regression.

Paper, section "Model Learning". The model is ``f(x) = -1/2 x' A x + x' a + a0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from casmore.algorithms.eigenbasis import CoordinateBasis, Eigenbasis
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.samples import SampleQueue

Array = NDArray[np.float64]


class Complexity(StrEnum):
    """Which features the model has."""

    LINEAR = "linear"
    DIAGONAL = "diagonal"
    FULL = "full"

    def parameters(self, n: int) -> int:
        """Return the number of coefficients in dimension ``n``, the constant included."""
        if self is Complexity.LINEAR:
            return 1 + n
        if self is Complexity.DIAGONAL:
            return 1 + 2 * n
        return 1 + n * (n + 3) // 2


# Samples for each parameter that a model needs (paper, "Adaptive Model Complexity")
SAMPLES_PER_PARAMETER = 1.1


def affordable_complexity(
    samples: int,
    n: int,
    richest: Complexity = Complexity.FULL,
    samples_per_parameter: float = SAMPLES_PER_PARAMETER,
) -> Complexity | None:
    """Return the richest model that ``samples`` determine (paper, "Adaptive Model Complexity").

    Parameters
    ----------
    samples
        Their number.
    n
        The dimension.
    richest
        No model richer than this.
    samples_per_parameter
        How many samples a model needs for each of its parameters.

    Returns
    -------
    Complexity or None
        None if the samples are too few even for the linear model.
    """
    order = (Complexity.FULL, Complexity.DIAGONAL, Complexity.LINEAR)
    for complexity in order[order.index(richest) :]:
        if samples >= samples_per_parameter * complexity.parameters(n):
            return complexity
    return None


@dataclass(frozen=True)
class QuadraticModel:
    """``f(x) = -1/2 x' A x + x' a + a0``, ``A`` symmetric (paper, equation for f-hat)."""

    A: Array
    a: Array
    a0: float

    def __call__(self, X: Array) -> Array:
        """Predict the values of the rows of ``X``, shape (k, n) -> (k,)."""
        values: Array = X @ self.a - 0.5 * ((X @ self.A) * X).sum(axis=1) + self.a0
        return values

    @cached_property
    def basis(self) -> Eigenbasis:
        """The eigenvalues and eigenvectors of the curvature ``A``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If there are none in double precision.
        """
        return Eigenbasis.of(self.A)

    def substitute(self, M: Array, offset: Array) -> QuadraticModel:
        """Return the same function of ``z``, where ``x = M z + offset``.

        With ``M = C^-1`` and ``offset = -C^-1 mean`` this is the paper's back-transformation from
        whitened to original parameters (whose formula for the constant misprints the term
        ``-1/2 mean' A mean``).
        """
        slope = self.a - self.A @ offset
        return QuadraticModel(
            A=M.T @ self.A @ M,
            a=M.T @ slope,
            a0=self.a0 + 0.5 * float(offset @ (self.a + slope)),
        )


@dataclass(frozen=True)
class DiagonalModel:
    """The same with a diagonal ``A``, of which ``curvatures``, shape (n,), is the diagonal."""

    curvatures: Array
    a: Array
    a0: float

    @property
    def A(self) -> Array:
        """The matrix, shape (n, n); formed on demand, to be looked at."""
        return np.diag(self.curvatures)

    def __call__(self, X: Array) -> Array:
        """Predict the values of the rows of ``X``, shape (k, n) -> (k,)."""
        values: Array = X @ self.a - 0.5 * (X * X) @ self.curvatures + self.a0
        return values

    @cached_property
    def basis(self) -> CoordinateBasis:
        """The curvatures in ascending order.

        Raises
        ------
        numpy.linalg.LinAlgError
            If one is not finite.
        """
        return CoordinateBasis.of(self.curvatures)

    def substitute(self, scales: Array, offset: Array) -> DiagonalModel:
        """Return the same function of ``z``, where ``x = scales z + offset``."""
        slope = self.a - self.curvatures * offset
        return DiagonalModel(
            curvatures=self.curvatures * scales * scales,
            a=scales * slope,
            a0=self.a0 + 0.5 * float(offset @ (self.a + slope)),
        )


Model = QuadraticModel | DiagonalModel


class DirectFit:
    """Ridge regression on all samples, from scratch at every call.

    Parameters
    ----------
    dimension
        The dimension n.
    capacity
        The largest number of samples of a fit (the queue's size).
    ridge
        ``lambda`` of the paper, in units of standardised features.
    whitening
        Whether the full model is fitted in coordinates whitened by the samples' own mean and
        covariance. Off is for the paper's ablation.
    richest
        The richest model to be fitted. Below the full one, models are `DiagonalModel`, and the
        search distributions given must be diagonal: time and memory are linear in n.
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
        # column-major in the samples: one feature is one contiguous row
        self._features = np.empty((richest.parameters(dimension) - 1, capacity))

    def fit(
        self,
        queue: SampleQueue,
        y: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
        weights: Array | None = None,
    ) -> Model:
        """Fit the model to ``y`` (to be maximised) at the points of the queue.

        Parameters
        ----------
        queue
            The q samples.
        y
            Their normalised targets, shape (q,).
        complexity
            Which model to fit.
        distribution
            The search distribution, in whose whitened coordinates the model is wanted.
        weights
            Of the squared residuals, shape (q,), of mean 1; default: all 1, as in the paper.

        Returns
        -------
        QuadraticModel or DiagonalModel
            As a function of ``z``, ``x = mean + L z``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the normal equations can't be solved.
        """
        W, M, offset = self._coordinates(queue.points, complexity, distribution, weights)
        features = build_features(W, complexity, self._features[:, : len(y)])
        coefficients, constant = ridge_regression(features, y, self.ridge, weights)
        return self.layout.assemble(coefficients, constant, complexity).substitute(M, offset)

    def _coordinates(
        self,
        X: Array,
        complexity: Complexity,
        distribution: SearchDistribution,
        weights: Array | None,
    ) -> tuple[Array, Array, Array]:
        """Return the samples in the fit's coordinates w, shape (n, q), and w = M z + offset."""
        if not self.whitening:
            return X.T, distribution.factor, distribution.mean
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
        # the axes must stay those of the search space: only their scales are standardised
        centre, scale = standardisation(X, weights)
        L = distribution.factor
        M = L / scale if L.ndim == 1 else L / scale[:, np.newaxis]
        return ((X - centre) / scale).T, M, (distribution.mean - centre) / scale


def standardisation(X: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return mean and standard deviation of each coordinate, shapes (n,); 1 in place of 0.

    Parameters
    ----------
    X
        Samples, shape (q, n).
    weights
        Of the samples, shape (q,).
    """
    centre = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weights))
    scale[scale == 0] = 1.0
    return centre, scale


def empirical_whitening(Z: Array, weights: Array | None = None) -> tuple[Array, Array | None]:
    """Return mean and Cholesky factor C of the samples' covariance (paper, "Data Whitening").

    The samples, shape (n, q), come in coordinates whitened by the search distribution already.
    There their covariance is far from singular, so that C is accurate; computed from the raw
    samples, it would lose all digits at the condition numbers met near an optimum.

    Weights, shape (q,), are those of the fit: samples that hardly count do not stretch the axes.

    C is None if the samples do not span the space, up to the covariance's rounding errors.
    """
    mean = _mean(Z, weights)
    covariance = _covariance(Z - mean[:, np.newaxis], weights)
    C, info = lapack.dpotrf(covariance, lower=1)
    pivots = C.diagonal()
    if info != 0 or float(pivots.min()) ** 2 < _rounding(covariance):
        return mean, None
    return mean, C


def spanned_whitening(centred: Array, weights: Array | None = None) -> Array:
    """Return ``M``, shape (n, n), that whitens samples which do not span the space.

    They become white in the directions they span, and exactly 0 in the others: of these a model
    then says nothing, where rounding errors would decide. So it is if a coordinate is kept fixed.

    Parameters
    ----------
    centred
        The samples without their mean, shape (n, q).
    weights
        Of the samples, shape (q,).
    """
    covariance = _covariance(centred, weights)
    variances, V = np.linalg.eigh(covariance)
    spanned = variances > _rounding(covariance)
    scales = np.zeros_like(variances)
    scales[spanned] = 1 / np.sqrt(variances[spanned])
    whitening: Array = scales[:, np.newaxis] * V.T
    return whitening


def _covariance(centred: Array, weights: Array | None) -> Array:
    if weights is not None:
        centred = centred * np.sqrt(weights)
    covariance: Array = centred @ centred.T / centred.shape[1]
    return covariance


def _rounding(covariance: Array) -> float:
    """Return the size of rounding errors in a covariance."""
    return 8 * len(covariance) * _EPSILON * float(covariance.diagonal().max())


_EPSILON = float(np.finfo(float).eps)

# Of fewer samples than this, products are formed in one go; of more, row by row without copies.
_FEW = 64


@cache
def _upper_triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(n)
    return rows, columns


def build_features(W: Array, complexity: Complexity, out: Array) -> Array:
    """Fill and return the rows of ``out`` with the features of the samples ``W``, shape (n, q).

    The constant is left out; products stand in the order (1,1), (1,2), ..., (1,n), (2,2), ...
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


def _mean(rows: Array, weights: Array | None) -> Array:
    """Return the mean of each row."""
    total = np.add.reduce(rows, axis=1) if weights is None else rows @ weights
    mean: Array = total / rows.shape[1]
    return mean


def ridge_regression(
    features: Array, y: Array, ridge: float, weights: Array | None = None
) -> tuple[Array, float]:
    """Regress ``y`` on the features, with an intercept and a ridge on standardised features.

    Features are centred, since the intercept stands apart, but not divided by their standard
    deviations: Cholesky's factorisation is invariant under diagonal scaling, so standardising
    changes only what the ridge means, and that is carried by the ridge itself,
    ``ridge * variance_i`` for feature i.

    Parameters
    ----------
    features
        Shape (p, q); overwritten.
    y
        Targets, shape (q,).
    ridge
        Regularisation of the standardised coefficients.
    weights
        Of the squared residuals, shape (q,), of mean 1; default: all 1.

    Returns
    -------
    coefficients : ndarray
        Shape (p,).
    constant : float
        The intercept.
    """
    q = len(y)
    mean = _mean(features, weights)
    features -= mean[:, np.newaxis]
    average = np.add.reduce(y) / q
    if weights is not None:  # from here on the rows and targets of an unweighted fit
        roots = np.sqrt(weights)
        average = float(weights @ y) / q
        features *= roots
        y = y * roots
    gram = blas.dsyrk(1.0, features.T, trans=1)  # the upper triangle of features features'
    diagonal = gram.diagonal() * (1 + ridge / q)
    diagonal[diagonal == 0] = 1.0  # a constant feature: its coefficient is 0
    np.fill_diagonal(gram, diagonal)
    _, coefficients, info = lapack.dposv(gram, features @ y, overwrite_a=1, overwrite_b=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"the normal matrix is not positive definite (pivot {info})")
    return coefficients, float(average - mean @ coefficients)


class Layout:
    """Where each coefficient of a model in dimension ``n`` stands in its matrix.

    Parameters
    ----------
    n
        The dimension.
    richest
        The richest model; if it is not the full one, models are made without matrices.
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
