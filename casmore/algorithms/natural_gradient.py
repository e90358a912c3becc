"""MORE's update as a step along the natural gradient (paper, "Relation to Natural Gradient").

Let ``theta = (m, Lambda)`` be the natural parameters of the search distribution,
``Lambda = Sigma^-1`` and ``m = Lambda mu``, and J the expected reward. Then

1. the natural gradient ``F^-1 grad J``, with the Fisher matrix F and the gradient taken over the
   samples, is the least-squares regression of the rewards on the scores ``grad log pi(x)``, the
   compatible features. These are ``x`` and ``-1/2 x x'`` less their expectations, so that the
   natural gradient is ``(a, A)`` of the full quadratic model, whose constant is the baseline;
2. without a bound on the entropy, MORE's update is ``theta + (a, A) / eta``: a step along the
   natural gradient, of a length that the trust region decides.

Nothing here is needed to run an algorithm: it is what their updates are checked against. CAS-MORE
takes the two parts of the same gradient with lengths of their own. The ridge, weights other than 1
and the robust normalisation of the targets make the gradient an approximate one.
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

    With the mean reward as baseline, and by the textbook: the scores of all samples are formed, in
    n (n + 3) / 2 coordinates, and a linear system of that size is solved.

    Parameters
    ----------
    X
        Samples, shape (q, n).
    rewards
        To be maximised, shape (q,).
    distribution
        The search distribution; the samples need not all be from it.

    Returns
    -------
    m : ndarray
        The gradient's part in ``m``, shape (n,).
    Lambda : ndarray
        Its part in ``Lambda``, shape (n, n), symmetric.
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
