"""The updates against the natural gradient, and that against finite differences."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from casmore.algorithms.cas_more import CasMore
from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.joint_trust_region import joint_update
from casmore.algorithms.models import Complexity, QuadraticModel
from casmore.algorithms.natural_gradient import natural_gradient, natural_parameters
from casmore.algorithms.samples import SampleQueue
from casmore.algorithms.surrogate import DirectFit

Array = NDArray[np.float64]


def random_problem(n: int, q: int) -> tuple[SearchDistribution, Array, Array]:
    rng = np.random.default_rng(n)
    factor = np.eye(n) + 0.3 * np.tril(rng.standard_normal((n, n)))
    distribution = SearchDistribution(rng.standard_normal(n), factor)
    X = distribution.sample(rng, q)
    return distribution, X, np.cos(X).sum(axis=1) + 0.1 * rng.standard_normal(q)


def log_density(theta: Array, X: Array) -> Array:
    """``log pi`` of natural parameters: m, then the upper triangle of Lambda, row by row."""
    n = X.shape[1]
    Lambda = np.zeros((n, n))
    rows, columns = np.triu_indices(n)
    Lambda[rows, columns] = Lambda[columns, rows] = theta[n:]
    Sigma = np.linalg.inv(Lambda)
    values: Array = multivariate_normal(Sigma @ theta[:n], Sigma).logpdf(X)
    return values


@pytest.mark.parametrize("n", [1, 2, 4])
def test_it_is_the_gradient_of_the_log_density_times_the_inverse_fisher_matrix(n: int) -> None:
    """The scores by central differences of SciPy's density, in the natural parameters."""
    distribution, X, y = random_problem(n, 300)
    m, Lambda = natural_parameters(distribution)
    rows, columns = np.triu_indices(n)
    theta = np.concatenate([m, Lambda[rows, columns]])
    h = 1e-5
    scores = np.column_stack(
        [
            (log_density(theta + h * e, X) - log_density(theta - h * e, X)) / (2 * h)
            for e in np.eye(len(theta))
        ]
    )
    # an intercept beside the scores is the baseline
    design = np.column_stack([np.ones(len(X)), scores])
    expected = np.linalg.lstsq(design, y, rcond=None)[0][1:]
    in_m, in_Lambda = natural_gradient(X, y, distribution)
    assert in_m == pytest.approx(expected[:n], rel=1e-5, abs=1e-7)
    assert in_Lambda[rows, columns] == pytest.approx(expected[n:], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_surrogate_is_the_natural_gradient(n: int) -> None:
    """Paper, "Relation to Natural Gradient": least squares on the compatible features."""
    distribution, X, y = random_problem(n, 300)
    queue = SampleQueue(n, len(X))
    queue.add(X, y)
    fitted = DirectFit(n, len(X), 1e-10).fit(queue, y, Complexity.FULL, distribution)
    assert isinstance(fitted, QuadraticModel)
    inverse = np.linalg.inv(distribution.factor)
    model = fitted.substitute(inverse, -inverse @ distribution.mean)
    in_m, in_Lambda = natural_gradient(X, y, distribution)
    assert model.a == pytest.approx(in_m, rel=1e-6, abs=1e-8)
    assert model.A == pytest.approx(in_Lambda, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_an_entropy_bound_more_steps_along_it(n: int) -> None:
    """``Lambda_t + A / eta`` and ``m_t + a / eta``."""
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    A, a = A + A.T, rng.standard_normal(n)
    old = SearchDistribution(rng.standard_normal(n), rng.standard_normal((n, n)) + 2 * np.eye(n))
    in_z = QuadraticModel(A, a, 0.0).substitute(old.factor, old.mean)
    update = joint_update(in_z.basis.d, in_z.basis.along(in_z.a), 0.3, -math.inf)
    z, scales = in_z.basis.back(update.step), np.sqrt(update.variances)
    new = old.updated(z, in_z.basis, scales)
    (m, Lambda), (new_m, new_Lambda) = natural_parameters(old), natural_parameters(new)
    assert update.omega == 0
    assert new_m == pytest.approx(m + a / update.eta, rel=1e-6, abs=1e-8)
    assert new_Lambda == pytest.approx(Lambda + A / update.eta, rel=1e-6, abs=1e-8)


def test_cas_mores_parts_are_those_of_the_natural_gradient() -> None:
    """An iteration's mean and covariance: ``lambda`` and ``nu`` in place of the common eta."""
    n = 3
    solver = CasMore(
        np.ones(n), 1.0, seed=1, step_size_adaptation=False, target_normalization="standard"
    )
    while solver.complexity is not Complexity.FULL:
        X = solver.ask()
        old = solver.distribution
        solver.tell(X, np.cosh(X).sum(axis=1))
    rewards = -solver.queue.values
    rewards = (rewards - rewards.mean()) / rewards.std()
    in_m, in_Lambda = natural_gradient(solver.queue.points.copy(), rewards, old)
    (m, Lambda), (_, new_Lambda) = natural_parameters(old), natural_parameters(solver.distribution)
    # Lambda_t + A / nu: the change is a multiple of the gradient
    change = new_Lambda - Lambda
    nu = in_Lambda.ravel() @ in_Lambda.ravel() / (change.ravel() @ in_Lambda.ravel())
    assert nu > 0
    assert change == pytest.approx(in_Lambda / nu, rel=1e-5, abs=1e-8)
    # (lambda Lambda_t + A) mu = lambda m_t + a, for a lambda >= 0
    mean = solver.mean
    left, right = Lambda @ mean - m, in_m - in_Lambda @ mean
    multiplier = max(float(left @ right / (left @ left)), 0.0)
    assert multiplier * left == pytest.approx(right, rel=1e-5, abs=1e-8)
    assert isinstance(solver.model, QuadraticModel)
    assert isinstance(solver.model.basis, Eigenbasis)
