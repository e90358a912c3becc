"""MORE's update as a step along the natural gradient (paper, "Relation to Natural Gradient").

Let ``theta = (m, Lambda)`` be the natural parameters of the search distribution,
``Lambda = Sigma^-1`` and ``m = Lambda mu``, and J the expected reward. Then

1. the natural gradient ``F^-1 grad J``, with the Fisher matrix F and the gradient taken over the
   samples, is the least-squares regression of the rewards on the scores ``grad log pi(x)``, the
   compatible features. These are ``x`` and ``-1/2 x x'`` less their expectations, so that the
   natural gradient is ``(a, A)`` of the full quadratic model, whose constant is the baseline;
2. without a bound on the entropy, MORE's update is ``theta + (a, A) / eta``: a step along the
   natural gradient, whose length is set by the trust region.

The algorithms do not use this module; tests compare their updates with it. CAS-MORE uses separate
step lengths for the two parts of the gradient. The ridge, weights other than 1 and the robust
normalization of the targets make the gradient approximate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.gaussian import SearchDistribution

Array = NDArray[np.float64]


def natural_parameters(distribution: SearchDistribution) -> tuple[Array, Array]:
    """Return ``m = Sigma^-1 mu``, shape (n,), and ``Lambda = Sigma^-1``, shape (n, n)."""
    inverse = np.linalg.inv(distribution.factor)
    Lambda: Array = inverse.T @ inverse
    return Lambda @ distribution.mean, Lambda


def natural_gradient(
    X: Array, rewards: Array, distribution: SearchDistribution
) -> tuple[Array, Array]:
    """Return ``F^-1 grad J`` in natural parameters, F and grad J being means over samples.

    A textbook implementation with the mean reward as baseline: it forms the scores of all samples,
    in n (n + 3) / 2 coordinates, and solves a linear system of that size.

    Parameters
    ----------
    X
        Samples, shape (q, n).
    rewards
        Rewards, to be maximized, shape (q,).
    distribution
        The search distribution; samples may come from other distributions.

    Returns
    -------
    m : ndarray
        The gradient's part in ``m``, shape (n,).
    Lambda : ndarray
        Its part in ``Lambda``, shape (n, n), symmetric.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the samples do not determine the Fisher matrix.
    """
    n = X.shape[1]
    rows, columns = np.triu_indices(n)
    # d(x' Lambda x) / d Lambda_ij counts twice off the diagonal, Lambda being symmetric
    twice = np.where(rows == columns, 1.0, 2.0)
    second_moment = distribution.covariance + np.outer(distribution.mean, distribution.mean)
    scores = np.concatenate(
        [
            X - distribution.mean,
            -0.5 * twice * (X[:, rows] * X[:, columns] - second_moment[rows, columns]),
        ],
        axis=1,
    )
    scores -= scores.mean(axis=0)  # the baseline: a constant is regressed on as well
    fisher = scores.T @ scores / len(X)
    gradient = scores.T @ (rewards - rewards.mean()) / len(X)
    solution = np.linalg.solve(fisher, gradient)
    Lambda = np.zeros((n, n))
    Lambda[rows, columns] = Lambda[columns, rows] = solution[n:]
    return solution[:n], Lambda
