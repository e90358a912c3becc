"""PyBrain's xNES: as PyBrain runs it, and the same as ours."""

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.linalg
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.algorithms.xnes import Xnes

if find_spec("pybrain2") is None:
    pytest.skip("PyBrain2 is not installed", allow_module_level=True)

from casmore.solvers.pybrain import PyBrainXnes
from casmore.solvers.pybrain_aliases import import_xnes, pybrain_importable

Array = NDArray[np.float64]


def rosenbrock(X: Array) -> Array:
    values: Array = (100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2).sum(axis=1)
    return values


def ellipsoid(X: Array) -> Array:
    values: Array = X**2 @ np.logspace(0, 3, X.shape[1])
    return values


@pytest.mark.parametrize("f", [rosenbrock, ellipsoid])
@pytest.mark.parametrize(("n", "sigma0"), [(2, 1.0), (5, 0.5), (10, 2.0)])
def test_ours_follows_it_step_by_step(f: Any, n: int, sigma0: float) -> None:
    ours = Xnes(np.full(n, 0.3), sigma0, seed=4)
    theirs = PyBrainXnes(np.full(n, 0.3), sigma0, seed=4)
    # free-running; later on sigma is so small beside the mean that x itself has no nine digits of z
    for _ in range(60):
        X, V = ours.ask(), theirs.ask()  # of the same normal samples
        assert X == pytest.approx(V, rel=1e-9, abs=1e-9)
        ours.tell(X, f(X))
        theirs.tell(V, f(V))
        A = theirs._optimizer._A
        assert ours.mean == pytest.approx(theirs.mean, rel=1e-9, abs=1e-9)
        assert ours.distribution.factor == pytest.approx(A, rel=1e-9, abs=1e-9 * np.abs(A).max())


def test_driven_from_outside_it_runs_as_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyBrain's own ``learn()``, its normal samples taken from the same stream."""
    XNES = import_xnes()
    stream = np.random.default_rng(11)
    monkeypatch.setattr(XNES, "_produceSample", lambda self: stream.standard_normal(4))
    with pybrain_importable():
        alone = XNES(lambda x: -float(rosenbrock(x[np.newaxis])[0]), np.full(4, 0.3))
    alone.maxEvaluations = 40 * alone.batchSize
    alone.learn()
    monkeypatch.undo()
    driven = PyBrainXnes(np.full(4, 0.3), 1.0, seed=11)
    for _ in range(40):
        X = driven.ask()
        driven.tell(X, rosenbrock(X))
    assert (driven.mean == alone._center).all()
    assert (driven._optimizer._A == alone._A).all()


def test_its_import_leaves_nothing_behind() -> None:
    import_xnes()
    assert not [name for name in sys.modules if name.partition(".")[0] == "pybrain"]
    assert "dot" not in vars(scipy)
    assert "expm2" not in vars(scipy.linalg)


def test_its_settings_are_pybrains_and_its_memory_is_bounded() -> None:
    with pytest.raises(TypeError, match="no setting 'eta'; it has centerLearningRate"):
        PyBrainXnes(np.ones(2), 1.0, eta=1)
    solver = PyBrainXnes(np.ones(2), 1.0, seed=1, population_size=7, scaleLearningRate=0.1)
    for _ in range(50):
        X = solver.ask()
        assert X.shape == (7, 2)
        solver.tell(X, rosenbrock(X))
    assert len(solver._optimizer._allEvaluated) < 10


def test_a_step_to_nan_ends_the_run_before_a_point_is_asked_for() -> None:
    """BBOB's f18 led there: the inverse that PyBrain keeps up to date had overflowed."""
    theirs = PyBrainXnes(np.zeros(3), 1.0, seed=1)
    theirs._optimizer._invA[0, 0] = np.nan
    X = theirs.ask()
    theirs.tell(X, ellipsoid(X))
    assert theirs.stop() == {StopReason.UPDATE_FAILED: 1.0}
    assert np.isfinite(theirs.mean).all()
    assert np.isfinite(theirs.distribution.factor).all()
