"""The Gaussian search distribution, represented by a factor of its covariance.

All algorithms operate on a factor ``L`` with ``Sigma = L L'``. The covariance itself, whose
condition number is the square of the factor's, is never formed, inverted or decomposed. This
supports condition numbers of Sigma of 1e14 and step sizes from 1e-150 to 1e150.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from casmore.algorithms.eigenbasis import Basis, CoordinateBasis, Eigenbasis

Array = NDArray[np.float64]


class SearchDistribution:
    """``N(mean, L L')`` over R^n.

    Parameters
    ----------
    mean
        Shape (n,).
    factor
        ``L``, shape (n, n), any invertible matrix; ``L^-1`` serves as ``Sigma^(-1/2)``. With
        multiplicative updates ``L <- L S``, S symmetric, it is equivariant under affine maps of the
        search space, unlike the symmetric square root of Sigma.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a number is not finite.
    """

    def __init__(self, mean: Array, factor: Array) -> None:
        self.mean = np.array(mean, dtype=float)
        self.factor = np.array(factor, dtype=float)
        _check_range(self.mean, self.factor)
        self.log_det_factor = float(np.linalg.slogdet(self.factor)[1])

    @classmethod
    def isotropic(cls, mean: Array, sigma: float) -> SearchDistribution:
        """Return ``N(mean, sigma^2 I)``."""
        return cls(mean, sigma * np.eye(len(mean)))

    @property
    def dimension(self) -> int:
        """The dimension n of the search space."""
        return len(self.mean)

    @property
    def covariance(self) -> Array:
        """``Sigma = L L'``, shape (n, n); computed on demand, for inspection."""
        covariance: Array = self.factor @ self.factor.T
        return covariance

    @property
    def entropy(self) -> float:
        """Differential entropy in nats, ``H = n/2 log(2 pi e) + log|det L|``."""
        return 0.5 * self.dimension * math.log(2 * math.pi * math.e) + self.log_det_factor

    def axis_lengths(self) -> Array:
        """Return the standard deviations along the principal axes, ascending, shape (n,)."""
        # singular values of L; the eigenvalues of L L' would lose half of the digits
        lengths: Array = np.linalg.svd(self.factor, compute_uv=False)[::-1]
        return lengths

    def deviations(self) -> Array:
        """Return the standard deviations of the coordinates, shape (n,)."""
        scale = float(np.abs(self.factor).max())  # the squares neither overflow nor vanish
        if scale == 0:
            return np.zeros(self.dimension)
        deviations: Array = np.sqrt(np.square(self.factor / scale).sum(axis=1)) * scale
        return deviations

    def sample(self, rng: np.random.Generator, k: int) -> Array:
        """Draw ``k`` points, shape (k, n)."""
        points = self.unwhiten(rng.standard_normal((k, self.dimension)))
        points += self.mean
        return points

    def whiten(self, X: Array) -> Array:
        """Return ``L^-1 (x - mean)`` for each row of ``X``, shape (k, n).

        Solved by elimination with partial pivoting. The condition number is that of L, the square
        root of that of Sigma.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the factor is exactly singular.
        """
        return self._solve((X - self.mean).T).T

    def _solve(self, columns: Array) -> Array:
        """Return ``L^-1 columns``, shape (n, k)."""
        _, _, solution, info = lapack.dgesv(self.factor, columns)
        if info != 0:
            raise np.linalg.LinAlgError("the factor of the covariance is singular")
        columns_of_z: Array = solution
        return columns_of_z

    def unwhiten(self, Z: Array) -> Array:
        """Return ``L z`` for each row of ``Z``, shape (k, n), or for one ``z``, shape (n,)."""
        points: Array = Z @ self.factor.T if Z.ndim == 2 else self.factor @ Z
        return points

    def seen_from(self, other: SearchDistribution) -> tuple[Array, Array]:
        """Return the map of the coordinates whitened by ``other`` to those whitened by this one.

        Returns
        -------
        M : ndarray
            ``z = M z' + offset``, shape (n, n).
        offset : ndarray
            Shape (n,).

        Raises
        ------
        numpy.linalg.LinAlgError
            If the factor is exactly singular.
        """
        n = self.dimension
        columns = np.empty((n, n + 1), order="F")
        columns[:, :n], columns[:, n] = other.factor, other.mean - self.mean
        solution = self._solve(columns)
        return solution[:, :n], solution[:, n]

    def updated(self, mean_step: Array, basis: Basis, scales: Array) -> SearchDistribution:
        """Return the distribution after a step given in whitened coordinates.

        Parameters
        ----------
        mean_step
            ``z`` of the new mean ``mean + L z``, shape (n,).
        basis
            Orthonormal directions ``U``; for a diagonal distribution, the coordinate axes.
        scales
            Factors of the standard deviations along U, shape (n,): ``L <- L U diag(scales) U'``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the step leaves the range of double precision.
        """
        new = object.__new__(type(self))
        new.mean = self.mean + self.unwhiten(mean_step)
        new.factor = self._scaled(basis, scales)
        _check_range(new.mean, new.factor)
        new.log_det_factor = self.log_det_factor + float(np.log(scales).sum())
        return new

    def _scaled(self, basis: Basis, scales: Array) -> Array:
        assert isinstance(basis, Eigenbasis)
        factor: Array = self.factor @ basis.matrix(scales)
        return factor


class DiagonalDistribution(SearchDistribution):
    """``N(mean, diag(s)^2)``: time and memory are linear in n.

    Parameters
    ----------
    mean
        Shape (n,).
    factor
        ``s``, the standard deviations, shape (n,).
    """

    def __init__(self, mean: Array, factor: Array) -> None:
        self.mean = np.array(mean, dtype=float)
        self.factor = np.array(factor, dtype=float)
        _check_range(self.mean, self.factor)
        self.log_det_factor = float(np.log(self.factor).sum())

    @classmethod
    def isotropic(cls, mean: Array, sigma: float) -> DiagonalDistribution:
        """Return ``N(mean, sigma^2 I)``."""
        return cls(mean, np.full(len(mean), float(sigma)))

    @property
    def covariance(self) -> Array:
        """``diag(s)^2``, shape (n, n); computed on demand, for inspection."""
        return np.diag(self.factor**2)

    def axis_lengths(self) -> Array:
        """Return the standard deviations, ascending, shape (n,)."""
        return np.sort(self.factor)

    def deviations(self) -> Array:
        """Return the standard deviations of the coordinates, shape (n,)."""
        return self.factor.copy()

    def whiten(self, X: Array) -> Array:
        """Return ``(x - mean) / s`` for each row of ``X``, shape (k, n).

        Raises
        ------
        numpy.linalg.LinAlgError
            If a standard deviation is 0.
        """
        self._check_invertible()
        whitened: Array = (X - self.mean) / self.factor
        return whitened

    def seen_from(self, other: SearchDistribution) -> tuple[Array, Array]:
        """Return the map of the coordinates whitened by ``other`` to those whitened by this one.

        See `SearchDistribution.seen_from`; ``M`` is diagonal, and given as shape (n,).
        """
        self._check_invertible()
        return other.factor / self.factor, (other.mean - self.mean) / self.factor

    def _check_invertible(self) -> None:
        if not self.factor.all():
            raise np.linalg.LinAlgError("a standard deviation has become 0")

    def unwhiten(self, Z: Array) -> Array:
        """Return ``s z`` for each row of ``Z``, shape (k, n), or for one ``z``, shape (n,)."""
        points: Array = Z * self.factor
        return points

    def _scaled(self, basis: Basis, scales: Array) -> Array:
        assert isinstance(basis, CoordinateBasis)
        return self.factor * basis.back(scales)


def _check_range(mean: Array, factor: Array) -> None:
    if not (np.isfinite(factor).all() and np.isfinite(mean).all()):
        raise np.linalg.LinAlgError("the distribution left the range of double precision")


def kl_divergence(p: SearchDistribution, q: SearchDistribution) -> float:
    """Kullback-Leibler divergence ``KL(p || q)`` in nats (paper, appendix A, closed form)."""
    ratio = np.linalg.solve(q.factor, p.factor)  # Sigma_q^-1 Sigma_p is similar to ratio ratio'
    shift = np.linalg.solve(q.factor, p.mean - q.mean)
    log_det = 2 * float(np.linalg.slogdet(ratio)[1])
    return 0.5 * (float(shift @ shift) + float((ratio**2).sum()) - p.dimension - log_det)
