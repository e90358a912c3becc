"""CA-MORE's entropy follows its schedule."""

from typing import Any

import numpy as np
import pytest

from casmore.problems.analytic import Rosenbrock
from casmore.solvers import ca_more


def entropies(iterations: int, **settings: Any) -> list[float]:
    """Return the entropy after each iteration, once the model is full."""
    f = Rosenbrock(3)
    solver = ca_more.make(np.zeros(3), 1.0, seed=1, **settings)
    found = []
    for _ in range(iterations):
        X = solver.ask()
        solver.tell(X, f.batch(X))
        if solver.evaluations >= 40:  # the full model needs 11 samples
            found.append(solver.distribution.entropy)
    return found


def test_the_entropy_falls_by_the_default_decrease() -> None:
    # the covariance's own update takes sqrt(n epsilon) at most: nothing here
    falls = -np.diff(entropies(30, epsilon_covariance=1e-20))
    assert falls == pytest.approx(0.05, abs=1e-6)


def test_the_schedule_ends_at_the_minimal_entropy() -> None:
    found = entropies(60, epsilon_covariance=1e-20, entropy_decrease=0.3, minimal_entropy=-2.0)
    assert found[-1] == pytest.approx(-2.0, abs=1e-6)
    assert min(found) > -2.0001
