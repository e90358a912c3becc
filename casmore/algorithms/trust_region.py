"""The trust-region updates, solved exactly through their one-dimensional duals.

In coordinates whitened by the search distribution, ``x = mu + L z`` with ``Sigma = L L'``, the
quadratic model ``-1/2 x' A x + x' a + a0`` reads ``-1/2 z' B z + z' h + const`` with
``B = L' A L`` and ``h = L' (a - A mu)``. With ``B = U diag(d) U'`` both problems separate, and
their duals are scalar equations in sums over the eigenvalues d: no matrix is inverted, and the
bounds hold to rounding. The model is maximized.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MAX_ITERATIONS = 100  # Newton needs about 5; pure bisection, the safeguard, at most this many
_TOLERANCE = 1e-14


def mean_step(d: Array, g: Array, epsilon: float) -> tuple[Array, float]:
    r"""Solve the mean update: maximize the model over the mean, KL at most ``epsilon``.

    Paper, "Updating the Mean": with Sigma fixed, ``KL = |z|^2 / 2``. This is the trust-region
    sub-problem: ``z(lambda) = g / (lambda + d)`` with ``|z|^2 = 2 epsilon`` (or, for a concave
    model with its maximum inside, ``lambda = 0``). Newton's method on ``1/|z| = 1/r`` (Moré and
    Sorensen 1983), which is nearly linear in lambda, kept inside a bracket.

    Parameters
    ----------
    d
        Eigenvalues of B, ascending, shape (n,).
    g
        ``U' h``, shape (n,).
    epsilon
        Bound on the KL divergence in nats, positive.

    Returns
    -------
    z : ndarray
        The step in the eigenbasis, shape (n,): the new mean is ``mu + L U z``.
    multiplier : float
        ``lambda``.
    """
    radius = math.sqrt(2 * epsilon)
    scale = max(abs(float(d[0])), abs(float(d[-1])), float(np.abs(g).max()) / radius)
    if not scale > 0:
        return np.zeros_like(g), 0.0  # a constant model: no direction is better
    d, g = d / scale, g / scale  # prevents overflow and underflow of squares
    norm_g = math.sqrt(float(g @ g))
    lowest = float(d[0])
    if lowest > _TOLERANCE:
        newton = g / d
        if float(newton @ newton) <= radius * radius:
            return newton, 0.0
    elif lowest >= -_TOLERANCE:
        shortest = _shortest_maximum(d, g)
        if shortest is not None and float(shortest @ shortest) <= radius * radius:
            return shortest, 0.0
    # mu = lambda + d_min > 0; the gaps d - d_min are exact near the pole, d + lambda is not
    gaps = d - lowest
    low = max(lowest, abs(float(g[0])) / radius, 0.0)
    high = norm_g / radius
    if low == 0.0:
        hard = _hard_case(gaps, g, radius)
        if hard is not None:
            return hard, -lowest * scale
        low = _TOLERANCE * min(high, 1.0)
    mu = _secular_root(gaps, g, radius, low, high)
    z = g / (gaps + mu)
    z *= radius / math.sqrt(float(z @ z))  # on the bound, to the last digit
    return z, (mu - lowest) * scale


def _shortest_maximum(d: Array, g: Array) -> Array | None:
    """Return the shortest step to a maximum of a model that is flat in some directions, else None.

    This occurs if samples do not span the space: there is no reason for a step in other directions.
    """
    flat = d <= _TOLERANCE
    if np.any(np.abs(g[flat]) > _TOLERANCE):
        return None  # a slope, not flat
    step = np.zeros_like(g)
    step[~flat] = g[~flat] / d[~flat]
    return step


def _secular_root(gaps: Array, g: Array, radius: float, low: float, high: float) -> float:
    """Find ``mu`` in [low, high] with ``|g / (gaps + mu)| = radius``."""
    mu = low
    for _ in range(_MAX_ITERATIONS):
        shifted = gaps + mu
        z = g / shifted
        square = float(z @ z)
        norm = math.sqrt(square)
        if norm > radius:
            low = mu
        else:
            high = mu
        if abs(norm - radius) <= _TOLERANCE * radius or high - low <= _TOLERANCE * high:
            break
        mu += (norm / radius - 1) * square / float(z @ (z / shifted))
        if not low < mu < high:
            mu = math.sqrt(low * high) if low > 0 else 0.5 * high
    return mu


def _hard_case(gaps: Array, g: Array, radius: float) -> Array | None:
    """Return the step if ``g`` has no component along the lowest eigenvectors, else None.

    In this case ``|z|`` stays below the radius even at the pole, and the step is extended along the
    lowest eigenvector. Both signs are equally good; the positive one is used.
    """
    pole = gaps <= _TOLERANCE
    if np.any(g[pole] != 0):
        return None
    z = np.zeros_like(g)
    z[~pole] = g[~pole] / gaps[~pole]
    rest = radius * radius - float(z @ z)
    if rest < 0:
        return None
    z[0] = math.sqrt(rest)
    return z


def covariance_scales(d: Array, epsilon: float) -> tuple[Array, float]:
    r"""Solve the covariance update: maximize the model over Sigma, KL at most ``epsilon``.

    Paper, "Updating the Covariance Matrix": ``Sigma* = (Sigma^-1 + A / nu)^-1``, in the eigenbasis
    the factors ``s_i = nu / (nu + d_i)``, so that ``KL = 1/2 sum(s_i - 1 - log s_i)``. It grows
    from 0 without bound in ``t = 1/nu``, about as t^2: Newton's method on its square root, kept
    inside a bracket.

    Parameters
    ----------
    d
        Eigenvalues of B, ascending, shape (n,).
    epsilon
        Bound on the KL divergence in nats, positive.

    Returns
    -------
    scales : ndarray
        Factors ``s`` of the variances along U, shape (n,); ones if the model has no curvature.
    multiplier : float
        ``nu``; infinity if the model has no curvature.
    """
    size = float(np.abs(d).max())
    if not size > 0:
        return np.ones_like(d), math.inf
    d = d / size
    low, high = 0.0, (-1.0 / float(d[0]) if d[0] < 0 else math.inf)
    # first guess from the second-order expansion KL = t^2 sum(d^2) / 4, inside the bracket
    t = min(2 * math.sqrt(epsilon / float(d @ d)), 0.5 * high)
    root_epsilon = math.sqrt(epsilon)
    for _ in range(_MAX_ITERATIONS):
        u = t * d
        s = 1.0 / (1.0 + u)
        us = u * s
        kl = 0.5 * float(np.add.reduce(np.log1p(u) - us))
        root = math.sqrt(max(kl, 0.0))
        if root > root_epsilon:
            high = t
        else:
            low = t
        if abs(root - root_epsilon) <= _TOLERANCE * root_epsilon or high - low <= _TOLERANCE * low:
            break
        slope = 0.5 * float(us @ us) / t  # d KL / d t
        step = (root_epsilon - root) * 2 * root / slope if slope > 0 else math.inf
        t += step
        if not low < t < high:
            t = 0.5 * (low + high) if high < math.inf else 2 * low
    return 1.0 / (1.0 + t * d), size / t
