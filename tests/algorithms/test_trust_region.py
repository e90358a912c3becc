"""The updates against the closed form of the KL divergence and against a general optimizer."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.trust_region import covariance_scales, mean_step

Array = NDArray[np.float64]
DIMENSIONS = (1, 2, 3, 5, 10, 20, 40)
KINDS = ("definite", "negative", "indefinite", "rank-deficient", "cond 1e12", "tiny", "huge")


def random_model(kind: str, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return A and a of -1/2 x'Ax + x'a."""
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    d = rng.standard_normal(n)
    if kind == "definite":
        d = np.abs(d) + 0.1
    elif kind == "negative":
        d = -np.abs(d) - 0.1
    elif kind == "rank-deficient":
        d[: (n + 1) // 2] = 0
    elif kind == "cond 1e12":
        d = np.logspace(-6, 6, n) * np.where(rng.random(n) < 0.7, 1, -1)
    elif kind == "tiny":
        d *= 1e-200
    elif kind == "huge":
        d *= 1e200
    A = (U * d) @ U.T
    size = {"tiny": 1e-200, "huge": 1e200}.get(kind, 1.0)
    return 0.5 * (A + A.T), rng.standard_normal(n) * size


def random_distribution(n: int, rng: np.random.Generator) -> SearchDistribution:
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return SearchDistribution(rng.standard_normal(n), U * np.logspace(-1.5, 1.5, n) @ U.T)


def gaussian_kl(mean1: Array, cov1: Array, mean0: Array, cov0: Array) -> float:
    """KL(N1 || N0), as printed in the paper's appendix."""
    shift = mean0 - mean1
    return 0.5 * float(
        shift @ np.linalg.solve(cov0, shift)
        + np.trace(np.linalg.solve(cov0, cov1))
        - len(mean1)
        + np.linalg.slogdet(cov0)[1]
        - np.linalg.slogdet(cov1)[1]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", DIMENSIONS)
def test_both_updates_meet_their_bounds(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, KINDS.index(kind)])
    for epsilon in (0.5, 1e-3, 3.0):
        A, a = random_model(kind, n, rng)
        old = random_distribution(n, rng)
        B = old.factor.T @ A @ old.factor
        d, U = np.linalg.eigh(0.5 * (B + B.T))
        h = old.factor.T @ (a - A @ old.mean)
        z, multiplier = mean_step(d, U.T @ h, epsilon)
        moved = old.updated(U @ z, Eigenbasis(d, U), np.ones(n))
        kl = gaussian_kl(moved.mean, old.covariance, old.mean, old.covariance)
        if multiplier > 0:
            assert kl == pytest.approx(epsilon, rel=1e-6)
        else:  # the maximum of a concave model, inside
            assert kl <= epsilon * (1 + 1e-6)
            assert d[0] > 0
            gradient = h - B @ (U @ z)
            assert np.linalg.norm(gradient) <= 1e-6 * np.linalg.norm(h)

        scales, _ = covariance_scales(d, epsilon)
        if not d.any():
            assert (scales == 1).all()
            continue
        reshaped = old.updated(np.zeros(n), Eigenbasis(d, U), np.sqrt(scales))
        kl = gaussian_kl(old.mean, reshaped.covariance, old.mean, old.covariance)
        assert kl == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_the_mean_update_agrees_with_a_general_optimizer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = 4, 0.5
    A, a = random_model(KINDS[seed % 4], n, rng)
    d, U = np.linalg.eigh(A)
    z, _ = mean_step(d, U.T @ a, epsilon)
    ours = a @ (U @ z) - 0.5 * (d @ z**2)

    def loss(x: Array) -> float:
        return float(0.5 * x @ A @ x - x @ a)

    constraint = {"type": "ineq", "fun": lambda x: epsilon - 0.5 * x @ x}
    # an indefinite model has local maxima on the sphere: the best of several starts
    theirs = max(
        -minimize(
            loss, rng.standard_normal(n) * 0.3, method="SLSQP", constraints=[constraint], tol=1e-12
        ).fun
        for _ in range(10)
    )
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_covariance_update_agrees_with_a_general_optimizer(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    n, epsilon = 3, 0.2
    A, _ = random_model(KINDS[seed % 4], n, rng)
    d, U = np.linalg.eigh(A)
    scales, _ = covariance_scales(d, epsilon)
    ours = -0.5 * np.trace(A @ (U * scales) @ U.T)
    lower = np.tril_indices(n)

    def covariance(c: Array) -> Array:
        L = np.zeros((n, n))
        L[lower] = c
        return L @ L.T

    def slack(c: Array) -> float:
        S = covariance(c)
        return epsilon - 0.5 * float(np.trace(S) - n - np.linalg.slogdet(S)[1])

    theirs = -minimize(
        lambda c: 0.5 * np.trace(A @ covariance(c)),
        np.eye(n)[lower],
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": slack}],
        options={"ftol": 1e-13, "maxiter": 500},
    ).fun
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_the_hard_case_goes_along_the_lowest_eigenvector() -> None:
    # no part of g along the lowest eigenvector, and the rest too short to reach the bound:
    # the optimum is (sqrt(2 eps - (1/4)^2), 1/4), by hand
    d, g = np.array([-2.0, 2.0]), np.array([0.0, 1.0])
    z, multiplier = mean_step(d, g, 0.5)
    assert multiplier == pytest.approx(2.0)
    assert z == pytest.approx([math.sqrt(1 - 1 / 16), 1 / 4])


def test_nearly_hard_case_stays_on_the_bound() -> None:
    for tiny in (1e-5, 1e-10, 1e-20, 1e-100, 1e-300):
        z, _ = mean_step(np.array([-2.0, 2.0]), np.array([tiny, 1.0]), 0.5)
        assert z @ z == pytest.approx(1.0, rel=1e-10)
        assert z == pytest.approx([math.sqrt(1 - 1 / 16), 1 / 4], rel=1e-3)


def test_a_linear_model_steps_along_its_gradient() -> None:
    g = np.array([3.0, -4.0])
    z, _ = mean_step(np.zeros(2), g, 0.5)
    assert z == pytest.approx(g / 5)


def test_a_constant_model_moves_nothing() -> None:
    z, _ = mean_step(np.zeros(3), np.zeros(3), 0.5)
    scales, multiplier = covariance_scales(np.zeros(3), 0.5)
    assert not z.any()
    assert (scales == 1).all()
    assert multiplier == math.inf


def test_the_multipliers_are_the_papers() -> None:
    """The new mean and covariance, written with lambda and nu as in the paper."""
    rng = np.random.default_rng(5)
    n = 5
    A, a = random_model("indefinite", n, rng)
    old = random_distribution(n, rng)
    Sigma = old.covariance
    d, U = np.linalg.eigh(old.factor.T @ A @ old.factor)
    z, lam = mean_step(d, U.T @ old.factor.T @ (a - A @ old.mean), 0.5)
    scales, nu = covariance_scales(d, 0.1)
    new = old.updated(U @ z, Eigenbasis(d, U), np.sqrt(scales))
    inverse = np.linalg.inv(Sigma)
    mean = np.linalg.solve(lam * inverse + A, lam * inverse @ old.mean + a)
    assert new.mean == pytest.approx(mean, rel=1e-6)
    assert new.covariance == pytest.approx(np.linalg.inv(inverse + A / nu), rel=1e-6)


@pytest.mark.parametrize("rounding", [0.0, -1e-16, 1e-16])
def test_where_the_model_is_flat_the_mean_stays(rounding: float) -> None:
    """The shortest step to the maximum inside, not one to the bound along the flat direction."""
    d, g = np.array([rounding, 1.0, 2.0]), np.array([rounding, 0.2, 0.2])
    step, multiplier = mean_step(d, g, 0.5)
    assert step == pytest.approx([0.0, 0.2, 0.1])
    assert multiplier == 0
    slope, _ = mean_step(d, np.array([1e-3, 0.2, 0.2]), 0.5)
    assert slope[0] > 0.9  # no maximum: as far as the bound allows
