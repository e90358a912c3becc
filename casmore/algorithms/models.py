"""The quadratic models (linear, diagonal or full), and the choice between them.

Paper, section "Adaptive Model Complexity". A model is ``f(x) = -1/2 x' A x + x' a + a0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.eigenbasis import CoordinateBasis, Eigenbasis

Array = NDArray[np.float64]


class Complexity(StrEnum):
    """The complexity of a model, which determines its features.

    ``"linear"``: the coordinates. ``"diagonal"``: also their squares. ``"full"``: also their
    products.
    """

    LINEAR = "linear"
    DIAGONAL = "diagonal"
    FULL = "full"

    def parameters(self, n: int) -> int:
        """Return the number of coefficients in dimension ``n``, including the constant."""
        if self is Complexity.LINEAR:
            return 1 + n
        if self is Complexity.DIAGONAL:
            return 1 + 2 * n
        return 1 + n * (n + 3) // 2


# Number of samples per parameter of a model (paper, "Adaptive Model Complexity")
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
        Number of samples.
    n
        The dimension.
    richest
        The richest model allowed.
    samples_per_parameter
        Number of samples needed per parameter of a model.

    Returns
    -------
    Complexity or None
        None if there are too few samples even for the linear model.
    """
    order = (Complexity.FULL, Complexity.DIAGONAL, Complexity.LINEAR)
    for complexity in order[order.index(richest) :]:
        if samples >= samples_per_parameter * complexity.parameters(n):
            return complexity
    return None


@dataclass(frozen=True)
class QuadraticModel:
    """``f(x) = -1/2 x' A x + x' a + a0`` (the paper's surrogate, to be maximized).

    Attributes
    ----------
    A
        Symmetric matrix, shape (n, n).
    a
        Shape (n,).
    a0
        The constant.
    """

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
        """Return the same function of ``z``, where ``x = M z + offset``, shapes (n, n) and (n,).

        With ``M = C^-1`` and ``offset = -C^-1 mean`` this is the paper's back-transformation from
        whitened to original parameters. (In the paper, the formula of the constant lacks the term
        ``-1/2 mean' A mean``.)
        """
        slope = self.a - self.A @ offset
        return QuadraticModel(
            A=M.T @ self.A @ M,
            a=M.T @ slope,
            a0=self.a0 + 0.5 * float(offset @ (self.a + slope)),
        )


@dataclass(frozen=True)
class DiagonalModel:
    """``f(x) = -1/2 x' A x + x' a + a0`` with a diagonal matrix ``A``.

    Attributes
    ----------
    curvatures
        The diagonal of ``A``, shape (n,).
    a
        Shape (n,).
    a0
        The constant.
    """

    curvatures: Array
    a: Array
    a0: float

    @property
    def A(self) -> Array:
        """The matrix, shape (n, n); computed on demand, for inspection."""
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
        """Return the same function of ``z``, where ``x = scales z + offset``, shapes (n,)."""
        slope = self.a - self.curvatures * offset
        return DiagonalModel(
            curvatures=self.curvatures * scales * scales,
            a=scales * slope,
            a0=self.a0 + 0.5 * float(offset @ (self.a + slope)),
        )


Model = QuadraticModel | DiagonalModel
