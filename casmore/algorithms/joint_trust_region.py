"""The update of the original MORE: one trust region on mean and covariance, and an entropy bound.

Paper, "Trust-Region Objective" and "Analytic Solution". The model is maximized. In the coordinates
of `casmore.algorithms.trust_region`, where the search distribution is N(0, I) and the model's
curvature diagonal, the new distribution has

* precisions ``(eta + d_i) / (eta + omega)``,
* means ``z_i = g_i / (eta + d_i)``,

so an active entropy constraint gives omega in closed form for every eta, and one scalar equation
remains: ``KL(eta) = epsilon``. In the moments ``(z, z z' + S)`` the problem is convex for any signs
of d: KL decreases monotonically in eta, from infinity at the pole ``eta = -d_min``, and there is no
hard case.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MAX_ITERATIONS = 200  # Newton needs about 6; pure bisection, the safeguard, at most this many
_TOLERANCE = 1e-13


@dataclass(frozen=True)
class JointUpdate:
    """The new distribution in the eigenbasis of the whitened model, with the multipliers.

    Attributes
    ----------
    step
        The mean, shape (n,).
    variances
        Shape (n,).
    eta, omega
        Lagrange multipliers of the KL bound and of the entropy bound; 0 if the bound is inactive.
    """

    step: Array
    variances: Array
    eta: float
    omega: float


def joint_update(d: Array, g: Array, epsilon: float, entropy_change: float) -> JointUpdate:
    r"""Maximize the model over mean and covariance, with bounds on KL and entropy.

    Newton's method on ``1 / sqrt(KL)``, which is nearly linear in eta far from the pole and near
    it (as Moré and Sorensen 1983 do for the mean alone), kept inside a bracket.

    Parameters
    ----------
    d
        Eigenvalues of the model's curvature B, ascending, shape (n,).
    g
        The model's gradient at the mean, in the eigenbasis, shape (n,).
    epsilon
        Bound on the KL divergence in nats, positive.
    entropy_change
        ``beta - H_t`` in nats: the smallest allowed change of the entropy, not positive;
        ``-inf`` is the natural-gradient step.

    Raises
    ------
    ValueError
        If a bound is out of its range.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon = {epsilon!r} must be positive")
    if not entropy_change <= 0:
        raise ValueError(f"entropy_change = {entropy_change!r} must not be positive")
    scale = max(abs(float(d[0])), abs(float(d[-1])), float(np.abs(g).max()) / math.sqrt(epsilon))
    if not scale > 0:
        return JointUpdate(np.zeros_like(g), np.ones_like(d), 0.0, 0.0)  # no direction is better
    dual = _Dual(d / scale, g / scale, entropy_change)
    t = 0.0 if dual.ends_inside(epsilon) else _root(dual, epsilon)
    step, log_variances, active = dual.distribution(t)
    eta = dual.pole + t
    # eta + omega = s_i (eta + d_i) for every i
    omega = math.exp(float(log_variances[0])) * float(dual.gaps[0] + t) - eta if active else 0.0
    return JointUpdate(step, np.exp(log_variances), eta * scale, max(omega, 0.0) * scale)


def _root(dual: "_Dual", epsilon: float) -> float:
    """Find t with ``KL(t) = epsilon``."""
    low, high = 0.0, math.inf
    # solution for the second-order expansion KL = (|g|^2 / 2 + |d|^2 / 4) / eta^2
    t = math.sqrt((0.5 * float(dual.g @ dual.g) + 0.25 * float(dual.d @ dual.d)) / epsilon)
    for _ in range(_MAX_ITERATIONS):
        kl, slope = dual.kl(t)
        if kl > epsilon:
            low = t
        else:
            high = t
        if abs(kl - epsilon) <= _TOLERANCE * epsilon or high - low <= 1e-15 * high:
            break
        t += 2 * kl * (1 - math.sqrt(kl / epsilon)) / slope if slope < 0 else math.inf
        if not low < t < high:
            t = 4 * low if high == math.inf else math.sqrt(low * high) if low > 0 else high / 16
    return t


class _Dual:
    """Everything as a function of ``t = eta - pole``, with which ``eta + d`` is exact."""

    def __init__(self, d: Array, g: Array, entropy_change: float) -> None:
        self.d, self.g, self.entropy_change = d, g, entropy_change
        self.pole = max(0.0, -float(d[0]))
        self.gaps = d + self.pole

    def distribution(self, t: float) -> tuple[Array, Array, bool]:
        """Return the mean, the variances' logarithms, and whether the entropy bound is active."""
        q, eta = self.gaps + t, self.pole + t
        # eta = 0 is possible only with an active bound, which then determines the scale
        log_variances = np.log((eta if eta > 0 else 1.0) / q)
        missing = self.entropy_change - 0.5 * float(log_variances.sum())
        active = eta == 0 or missing > 0
        if active:
            log_variances += 2 * missing / len(q)
        return self.g / q, log_variances, active

    def kl(self, t: float) -> tuple[float, float]:
        """Return KL and its derivative in eta."""
        with np.errstate(over="ignore", invalid="ignore"):  # infinite at the pole
            z, log_variances, active = self.distribution(t)
            growth = np.expm1(log_variances)
            kl = 0.5 * float(z @ z + (growth - log_variances).sum())
            # d log s / d eta is 1/eta - 1/q, or, with the entropy fixed, mean(1/q) - 1/q
            inverse = 1 / (self.gaps + t)
            common = float(inverse.mean()) if active else 1 / (self.pole + t)
            slope = 0.5 * float((growth * (common - inverse)).sum()) - float(
                (z * z * inverse).sum()
            )
        return kl, slope

    def ends_inside(self, epsilon: float) -> bool:
        """Whether the maximum under only the entropy bound satisfies the KL bound."""
        if not self.d[0] > _TOLERANCE or self.entropy_change == -math.inf:
            return False
        return self.kl(0.0)[0] <= epsilon
