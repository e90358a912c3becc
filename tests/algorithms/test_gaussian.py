"""The search distribution against the closed forms on its covariance."""

import math

import numpy as np
import pytest

from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.gaussian import (
    DiagonalDistribution,
    SearchDistribution,
    kl_divergence,
)


def make(n: int, seed: int = 0) -> SearchDistribution:
    rng = np.random.default_rng(seed)
    return SearchDistribution(rng.standard_normal(n), rng.standard_normal((n, n)) + 2 * np.eye(n))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_entropy_and_axes_are_those_of_the_covariance(n: int) -> None:
    p = make(n)
    log_det = np.linalg.slogdet(2 * math.pi * math.e * p.covariance)[1]
    assert p.entropy == pytest.approx(0.5 * log_det)
    assert p.axis_lengths() ** 2 == pytest.approx(np.linalg.eigvalsh(p.covariance))


def test_samples_have_the_mean_and_the_covariance() -> None:
    p = make(3)
    X = p.sample(np.random.default_rng(1), 200_000)
    assert X.mean(axis=0) == pytest.approx(p.mean, abs=0.05)
    assert np.cov(X.T) == pytest.approx(p.covariance, rel=0.03, abs=0.05)


def test_whitening_undoes_sampling() -> None:
    p = make(4)
    X = p.sample(np.random.default_rng(1), 10)
    assert p.mean + p.whiten(X) @ p.factor.T == pytest.approx(X)


def test_whitening_at_condition_1e14() -> None:
    rng = np.random.default_rng(2)
    n = 10
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    p = SearchDistribution(np.zeros(n), (U * np.logspace(-3.5, 3.5, n)) @ V.T)
    Z = rng.standard_normal((20, n))
    assert p.whiten(Z @ p.factor.T) == pytest.approx(Z, abs=1e-7)


def test_coordinates_seen_from_another_distribution() -> None:
    p, q = make(4), make(4, seed=1)
    Z = np.random.default_rng(2).standard_normal((5, 4))
    M, offset = p.seen_from(q)
    assert Z @ M.T + offset == pytest.approx(p.whiten(q.mean + q.unwhiten(Z)))
    p, q = DiagonalDistribution(p.mean, abs(p.mean)), DiagonalDistribution(q.mean, abs(q.mean))
    scales, offset = p.seen_from(q)
    assert Z * scales + offset == pytest.approx(p.whiten(q.mean + q.unwhiten(Z)))


def test_steps_far_below_the_last_digit_of_the_mean_are_seen() -> None:
    p = SearchDistribution(np.ones(2), 1e-20 * np.eye(2))
    M, offset = p.seen_from(SearchDistribution(np.ones(2), 2e-20 * np.eye(2)))
    assert M == pytest.approx(2 * np.eye(2))
    assert offset.tolist() == [0, 0]


def test_kl_divergence_is_the_papers_formula() -> None:
    p, q = make(4, 1), make(4, 2)
    shift = q.mean - p.mean
    inverse = np.linalg.inv(q.covariance)
    expected = 0.5 * (
        shift @ inverse @ shift
        + np.trace(inverse @ p.covariance)
        - 4
        + np.linalg.slogdet(q.covariance)[1]
        - np.linalg.slogdet(p.covariance)[1]
    )
    assert kl_divergence(p, q) == pytest.approx(expected)
    assert kl_divergence(p, p) == pytest.approx(0, abs=1e-12)


def test_an_update_keeps_the_log_determinant() -> None:
    p = make(5)
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    q = p.updated(np.arange(5.0), Eigenbasis(np.zeros(5), U), np.linspace(0.5, 2, 5))
    assert q.log_det_factor == pytest.approx(np.linalg.slogdet(q.factor)[1])
    assert q.mean == pytest.approx(p.mean + p.factor @ np.arange(5.0))
    expected = p.factor @ (U * np.linspace(0.5, 2, 5) ** 2) @ U.T @ p.factor.T
    assert q.covariance == pytest.approx(expected)


def test_a_singular_factor_is_an_error() -> None:
    p = SearchDistribution(np.zeros(2), np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        p.whiten(np.ones((1, 2)))
