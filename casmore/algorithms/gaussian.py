"""The Gaussian search distribution, kept by a factor of its covariance.

Everything the algorithms need is an operation on a factor ``L`` with ``Sigma = L L'``; the
covariance itself, whose condition number is the square of the factor's, is never formed, inverted
or decomposed. That carries Sigma with condition number 1e14 and step sizes from 1e-150 to 1e150.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]


class SearchDistribution:
    """``N(mean, L L')`` over R^n.

    Parameters
    ----------
    mean
        Shape (n,).
    factor
        ``L``, shape (n, n), any regular matrix: ``L^-1`` is this class's ``Sigma^(-1/2)``. With
        multiplicative updates ``L <- L S``, S symmetric, it is equivariant under affine maps of
        the search space, which the symmetric root of Sigma is not.
    """

    def __init__(self, mean: Array, factor: Array) -> None:
        self.mean = np.array(mean, dtype=float)
        self.factor = np.array(factor, dtype=float)
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
        """``Sigma = L L'``, shape (n, n); formed on demand, for people to look at."""
        covariance: Array = self.factor @ self.factor.T
        return covariance

    @property
    def entropy(self) -> float:
        """Shannon entropy in nats, ``H = n/2 log(2 pi e) + log|det L|``."""
        return 0.5 * self.dimension * math.log(2 * math.pi * math.e) + self.log_det_factor

    def axis_lengths(self) -> Array:
        """Return the standard deviations along the principal axes, ascending, shape (n,)."""
        # singular values of L, not eigenvalues of L L': half the digits would be lost
        lengths: Array = np.linalg.svd(self.factor, compute_uv=False)[::-1]
        return lengths

    def sample(self, rng: np.random.Generator, k: int) -> Array:
        """Draw ``k`` points, shape (k, n)."""
        points: Array = rng.standard_normal((k, self.dimension)) @ self.factor.T
        points += self.mean
        return points

    def whiten(self, X: Array) -> Array:
        """Return ``L^-1 (x - mean)`` for each row of ``X``, shape (k, n).

        Solved by elimination with partial pivoting; the condition number is that of L, the square
        root of Sigma's.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the factor is exactly singular.
        """
        _, _, solution, info = lapack.dgesv(self.factor, (X - self.mean).T)
        if info != 0:
            raise np.linalg.LinAlgError("the factor of the covariance is singular")
        whitened: Array = solution.T
        return whitened

    def updated(self, mean_step: Array, directions: Array, scales: Array) -> SearchDistribution:
        """Return the distribution after a step given in whitened coordinates.

        Parameters
        ----------
        mean_step
            ``z`` of the new mean ``mean + L z``, shape (n,).
        directions
            Orthonormal ``U``, shape (n, n).
        scales
            Factors of the standard deviations along U, shape (n,): ``L <- L U diag(scales) U'``.
        """
        new = object.__new__(SearchDistribution)
        new.mean = self.mean + self.factor @ mean_step
        new.factor = self.factor @ ((directions * scales) @ directions.T)
        new.log_det_factor = self.log_det_factor + float(np.log(scales).sum())
        return new


def kl_divergence(p: SearchDistribution, q: SearchDistribution) -> float:
    """Kullback-Leibler divergence ``KL(p || q)`` in nats (paper, appendix A, closed form)."""
    ratio = np.linalg.solve(q.factor, p.factor)  # Sigma_q^-1 Sigma_p is similar to ratio ratio'
    shift = np.linalg.solve(q.factor, p.mean - q.mean)
    log_det = 2 * float(np.linalg.slogdet(ratio)[1])
    return 0.5 * (float(shift @ shift) + float((ratio**2).sum()) - p.dimension - log_det)
