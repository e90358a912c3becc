"""MORE's update against the closed forms on dense covariances and a general optimizer."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from casmore.algorithms.joint_trust_region import joint_update

Array = NDArray[np.float64]
DIMENSIONS = (1, 2, 3, 5, 10, 20, 40)
KINDS: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "definite": lambda n, rng: rng.uniform(0.1, 3, n),
    "negative": lambda n, rng: -rng.uniform(0.1, 3, n),
    "indefinite": lambda n, rng: rng.standard_normal(n),
    "rank-deficient": lambda n, rng: np.where(np.arange(n) < n / 2, 0, rng.standard_normal(n)),
    "flat": lambda n, rng: np.zeros(n),
    "cond 1e12": lambda n, rng: np.logspace(-6, 6, n) * rng.choice([1, -1], n),
    "tiny": lambda n, rng: 1e-200 * rng.standard_normal(n),
    "huge": lambda n, rng: 1e200 * rng.standard_normal(n),
}


def random_whitened(kind: str, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    d = np.sort(KINDS[kind](n, rng))
    size = {"tiny": 1e-200, "huge": 1e200}.get(kind, 1.0)
    return d, rng.standard_normal(n) * size


def dense_kl(mean: Array, covariance: Array) -> float:
    """KL(N(mean, covariance) || N(0, I)), as printed in the paper's appendix."""
    trace, log_det = np.trace(covariance), np.linalg.slogdet(covariance)[1]
    return 0.5 * float(mean @ mean + trace - len(mean) - log_det)


def dense_entropy(covariance: Array) -> float:
    return 0.5 * float(np.linalg.slogdet(2 * math.pi * math.e * covariance)[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", DIMENSIONS)
def test_the_update_meets_its_bounds(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, list(KINDS).index(kind)])
    for epsilon in (0.5, 1e-3, 5.0):
        for change in (-math.inf, -10.0, -0.3, -1e-3, 0.0):
            d, g = random_whitened(kind, n, rng)
            new = joint_update(d, g, epsilon, change)
            U = np.linalg.qr(rng.standard_normal((n, n)))[0]
            covariance = (U * new.variances) @ U.T
            kl = dense_kl(new.step, covariance)
            gained = dense_entropy(covariance) - dense_entropy(np.eye(n))
            assert kl <= epsilon * (1 + 1e-6)
            assert gained >= change - 1e-9
            # complementary slackness: what has a multiplier is on its bound
            if new.eta > 0:
                assert kl == pytest.approx(epsilon, rel=1e-6)
            if new.omega > 0:
                assert gained == pytest.approx(change, abs=1e-9)
            # the paper's update rules, the maximum of the Lagrangian; and that it is one
            assert new.step * (new.eta + d) == pytest.approx(g, rel=1e-6, abs=0)
            assert new.variances * (new.eta + d) == pytest.approx(new.eta + new.omega, rel=1e-6)
            assert new.eta + d[0] > 0


@pytest.mark.parametrize("change", [-math.inf, -0.2, 0.0])
@pytest.mark.parametrize("kind", ["definite", "negative", "indefinite", "rank-deficient"])
def test_the_multipliers_minimize_the_papers_dual(kind: str, change: float) -> None:
    rng = np.random.default_rng(list(KINDS).index(kind))
    n, epsilon = 4, 0.4
    d, g = random_whitened(kind, n, rng)
    new = joint_update(d, g, epsilon, change)
    bounded = math.isfinite(change)
    beta = change + dense_entropy(np.eye(n)) if bounded else 0.0

    def dual(v: Array) -> float:
        eta, omega = v if bounded else (v[0], 0.0)
        if eta <= max(0.0, -d[0]) or omega < 0 or eta + omega <= 0:
            return math.inf
        precision = (eta + d) / (eta + omega)
        m = g / (eta + omega)
        last = -np.log(precision).sum() + (m * m / precision).sum()
        return float(
            eta * epsilon
            - omega * beta
            + 0.5 * (omega * n * math.log(2 * math.pi) + (eta + omega) * last)
        )

    start = np.array([new.eta * 1.7 + 0.5, new.omega * 0.5 + 0.2][: 1 + bounded])
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxfev": 5000}
    theirs = minimize(dual, start, method="Nelder-Mead", options=options)
    assert dual(np.array([new.eta, new.omega])) <= theirs.fun + 1e-9
    ours = np.array([new.eta, new.omega][: 1 + bounded])
    assert ours == pytest.approx(theirs.x, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_update_agrees_with_a_general_optimizer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon, change = 3, 0.3, (-math.inf, -0.2)[seed % 2]
    d, g = random_whitened(list(KINDS)[seed % 4], n, rng)
    new = joint_update(d, g, epsilon, change)

    def loss(v: Array) -> float:
        z, log_s = v[:n], v[n:]
        return float(0.5 * d @ (z**2 + np.exp(log_s)) - g @ z)

    def slack_kl(v: Array) -> float:
        return epsilon - 0.5 * float((v[:n] ** 2 + np.expm1(v[n:]) - v[n:]).sum())

    constraints = [{"type": "ineq", "fun": slack_kl}]
    if math.isfinite(change):
        constraints.append({"type": "ineq", "fun": lambda v: 0.5 * v[n:].sum() - change})
    theirs = min(
        minimize(
            loss,
            0.1 * rng.standard_normal(2 * n),
            method="SLSQP",
            constraints=constraints,
            tol=1e-12,
        ).fun
        for _ in range(5)
    )
    ours = loss(np.concatenate([new.step, np.log(new.variances)]))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-8)


def test_a_maximum_inside_both_bounds_is_taken() -> None:
    # KL is not active: the mean goes to the maximum, the entropy to its bound
    new = joint_update(np.array([2.0]), np.array([0.2]), 5.0, -0.5)
    assert new.step == pytest.approx([0.1])
    assert new.variances == pytest.approx([math.exp(-1)])
    assert new.eta == 0


def test_a_constant_model_moves_nothing() -> None:
    new = joint_update(np.zeros(3), np.zeros(3), 0.5, -1.0)
    assert not new.step.any()
    assert (new.variances == 1).all()


@pytest.mark.parametrize(("epsilon", "change"), [(0.0, -1.0), (-1.0, -1.0), (1.0, 0.1)])
def test_bounds_out_of_range_are_refused(epsilon: float, change: float) -> None:
    with pytest.raises(ValueError, match=r"epsilon = |entropy_change = "):
        joint_update(np.ones(2), np.ones(2), epsilon, change)
