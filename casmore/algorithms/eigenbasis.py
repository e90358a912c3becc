"""The directions along which a model's curvature is diagonal.

In whitened coordinates the updates of mean and covariance separate along these directions. For a
full model they are eigenvectors. For a diagonal model with a diagonal covariance they are the
coordinate axes, and no matrix is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Eigenbasis:
    """Eigenvalues and orthonormal eigenvectors of a symmetric matrix ``U diag(d) U'``.

    Attributes
    ----------
    d
        The eigenvalues, ascending, shape (n,).
    U
        The eigenvectors, shape (n, n).
    """

    d: Array
    U: Array

    @classmethod
    def of(cls, B: Array) -> Eigenbasis:
        """Decompose a symmetric matrix, shape (n, n).

        Raises
        ------
        numpy.linalg.LinAlgError
            If the eigendecomposition fails.
        """
        d, U, info = lapack.dsyevd(B, lower=1)
        if info != 0 or not math.isfinite(float(d[0]) + float(d[-1])):
            raise np.linalg.LinAlgError("the model's curvature has no eigendecomposition")
        return cls(d, U)

    def along(self, z: Array) -> Array:
        """Return ``U' z``, shape (n,)."""
        components: Array = self.U.T @ z
        return components

    def back(self, components: Array) -> Array:
        """Return ``U c``, shape (n,)."""
        z: Array = self.U @ components
        return z

    def matrix(self, scales: Array) -> Array:
        """Return ``U diag(scales) U'``, shape (n, n)."""
        product: Array = (self.U * scales) @ self.U.T
        return product


@dataclass(frozen=True)
class CoordinateBasis:
    """Eigendecomposition of a diagonal matrix, where U is a permutation.

    Attributes
    ----------
    d
        The diagonal in ascending order, shape (n,).
    order
        The coordinate of each element of ``d``, shape (n,).
    """

    d: Array
    order: NDArray[np.intp]

    @classmethod
    def of(cls, diagonal: Array) -> CoordinateBasis:
        """Sort the diagonal of a matrix, shape (n,).

        Raises
        ------
        numpy.linalg.LinAlgError
            If a number is not finite.
        """
        order = np.argsort(diagonal, kind="stable")
        d = diagonal[order]
        if not math.isfinite(float(d[0]) + float(d[-1])):
            raise np.linalg.LinAlgError("the model's curvature is not finite")
        return cls(d, order)

    def along(self, z: Array) -> Array:
        """Return ``U' z``, shape (n,)."""
        return z[self.order]

    def back(self, components: Array) -> Array:
        """Return ``U c``, shape (n,)."""
        z = np.empty_like(components)
        z[self.order] = components
        return z


Basis = Eigenbasis | CoordinateBasis
