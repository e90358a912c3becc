"""The model learner of the original MORE: Bayesian regression after random projections.

Abdolmaleki et al. (2015), "Model-Based Relative Entropy Stochastic Search", and the paper's section
"Model Learning" of the original algorithm: the parameters are projected to a lower dimension, a
quadratic model is fitted there by weighted Bayesian linear regression, and the projection is
integrated out by sampling.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity, QuadraticModel
from casmore.algorithms.surrogate import Layout, build_features

Array = NDArray[np.float64]

# Prior of the noise's precision, Gamma(_NOISE, _NOISE): vague for targets of variance 1
_NOISE = 1e-3


class ProjectedBayesianFit:
    r"""Average of quadratic models of random projections, weighted by their evidence.

    With ``u = W z`` for a Gaussian random matrix W, the reduced model ``y = phi(u)' theta + noise``
    has the conjugate prior ``theta ~ N(0, noise variance / prior_precision I)`` and noise of
    unknown variance, so that evidence and posterior mean have a closed form. The prediction
    ``E[y | z] = sum_i p(W_i | D) phi(W_i z)' E[theta | W_i, D]`` is again a quadratic in z.

    Parameters
    ----------
    dimension
        The dimension n.
    reduced_dimension
        Number of rows of the projections, at most n; with n no information is lost.
    projections
        Number of matrices drawn at each fit.
    prior_precision
        Prior precision of the coefficients, relative to that of the noise.
    rng
        Random generator of the projections.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    def __init__(
        self,
        dimension: int,
        reduced_dimension: int,
        projections: int,
        prior_precision: float,
        rng: np.random.Generator,
    ) -> None:
        if not 1 <= reduced_dimension <= dimension:
            raise ValueError(
                f"reduced_dimension = {reduced_dimension!r} must be from 1 to the dimension "
                f"{dimension}"
            )
        self._shape = (projections, reduced_dimension, dimension)
        self._layout = Layout(reduced_dimension)
        self._precision = prior_precision
        self._rng = rng

    @property
    def samples_needed(self) -> float:
        """Number of samples for a reduced model: 10 % more than it has parameters."""
        return 1.1 * Complexity.FULL.parameters(self._shape[1])

    def fit(self, X: Array, y: Array, distribution: SearchDistribution) -> QuadraticModel:
        """Fit the model to ``y`` (to be maximized) at the points ``X``.

        Parameters
        ----------
        X
            Samples, shape (q, n).
        y
            Normalized targets, shape (q,).
        distribution
            The search distribution, around which the model should be accurate.

        Returns
        -------
        QuadraticModel
            As a function of ``z``, ``x = mean + L z``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the samples can't be whitened.
        """
        Z = distribution.whiten(X)
        weights = importance_weights(Z)
        models, log_evidence = [], []
        for W in self._rng.standard_normal(self._shape) / math.sqrt(self._shape[2]):
            reduced, log_probability = self._reduced_fit(W @ Z.T, y, weights)
            # only the constant depends on the offset; u = W z is substituted as in any model
            models.append(reduced.substitute(W, np.zeros(len(W))))
            log_evidence.append(log_probability)
        p = np.exp(np.array(log_evidence) - max(log_evidence))
        p /= p.sum()
        return QuadraticModel(
            A=np.tensordot(p, [m.A for m in models], 1),
            a=p @ [m.a for m in models],
            a0=float(p @ [m.a0 for m in models]),
        )

    def _reduced_fit(self, U: Array, y: Array, weights: Array) -> tuple[QuadraticModel, float]:
        """Return the model of ``u``, shape (n', q), at the posterior mean, and its log evidence."""
        n, q = U.shape
        parameters = Complexity.FULL.parameters(n)
        features = np.ones((parameters, q))
        build_features(U, Complexity.FULL, features[1:])
        weighted = features * weights
        precision = weighted @ features.T
        precision[np.diag_indices(parameters)] += self._precision
        factor = cho_factor(precision, lower=True)
        theta: Array = cho_solve(factor, weighted @ y)
        residual = y - theta @ features
        # the same as y'Wy - theta' precision theta, without its cancellation
        spread = float(weights @ residual**2) + self._precision * float(theta @ theta)
        shape = _NOISE + 0.5 * float(weights.sum())
        log_evidence = (
            0.5 * parameters * math.log(self._precision)
            - float(np.log(np.diag(factor[0])).sum())
            - shape * math.log(_NOISE + 0.5 * spread)
        )
        model = self._layout.assemble(theta[1:], float(theta[0]), Complexity.FULL)
        assert isinstance(model, QuadraticModel)
        return model, log_evidence


def importance_weights(Z: Array) -> Array:
    """Return the importance weight of each sample for the search distribution, shape (q,).

    The samples come from the distributions of several iterations. Their mixture is approximated by
    a Gaussian with the samples' mean and covariance. Weights have mean 1 before they are truncated
    at ``sqrt(q)`` (Ionides 2008), which bounds their variance.

    Parameters
    ----------
    Z
        Samples in coordinates in which the search distribution is N(0, I), shape (q, n).
    """
    q, n = Z.shape
    centered = Z - Z.mean(axis=0)
    covariance = centered.T @ centered / q
    # in the first iterations samples may not span the space; the Gaussian is then still wide
    covariance[np.diag_indices(n)] += 1e-8 * max(float(np.trace(covariance)) / n, 1e-300)
    C = np.linalg.cholesky(covariance)
    mixture = np.linalg.solve(C, centered.T)
    log_ratio = 0.5 * ((mixture**2).sum(axis=0) - (Z**2).sum(axis=1))
    weights = np.exp(log_ratio - log_ratio.max())
    weights /= weights.mean()
    cut: Array = np.minimum(weights, math.sqrt(q))
    return cut
