"""Adapter for PyBrain's xNES, which runs it step by step.

PyBrain's optimizer calls the objective through two of its own methods: one converts a normal sample
to a point, the other evaluates it. The adapter overrides them to return the points that were told
and their values; the algorithm itself is PyBrain's. Both methods and the attributes of the search
distribution are private names of PyBrain 0.4.0, its last release.
"""

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_start
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.gaussian_search import GaussianSearch, SearchParameters
from casmore.solvers.option_types import BOOLEAN, POSITIVE, check_options
from casmore.solvers.protocol import Seed
from casmore.solvers.pybrain_aliases import import_xnes, pybrain_importable

Array = NDArray[np.float64]

_XNES = import_xnes()
# the state of PyBrain's optimizer, apart from its lists of all evaluations
_STATE = ("_center", "_A", "_invA", "_logDetA", "numLearningSteps", "numEvaluations")
_WORST = -float(np.finfo(float).max)  # PyBrain ends a run at infinity and NaN
# settings of PyBrain that a config may change
_SETTINGS = {
    "centerLearningRate": POSITIVE,
    "covLearningRate": POSITIVE,
    "scaleLearningRate": POSITIVE,
    "uniformBaseline": BOOLEAN,
}


class PyBrainXnes(GaussianSearch):
    """Adapter for PyBrain's ``XNES``.

    PyBrain stops only at a budget; the other stopping criteria are those of our own xNES. NaN and
    infinity rank last. Of equal values the later one ranks better, as in PyBrain. Any number of any
    points can be told; they count as the samples of an iteration.

    Raises
    ------
    TypeError
        If a setting is not one of PyBrain's learning rates or ``uniformBaseline``.
    ValueError
        If ``x0`` or ``sigma0`` is out of its range.
    """

    def __init__(
        self,
        x0: ArrayLike,
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        **settings: Any,
    ) -> None:
        mean, sigma0 = valid_start(x0, sigma0), float(sigma0)
        check_options(settings, _SETTINGS, "PyBrain's xNES")
        if population_size is not None:
            settings = {**settings, "batchSize": population_size}
        self._arguments = (mean, settings)
        self._told: deque[tuple[Array, float]] = deque()
        self._optimizer = self._make_optimizer()
        self._optimizer._A = sigma0 * np.eye(len(mean))
        self._optimizer._invA = np.eye(len(mean)) / sigma0
        self._optimizer._logDetA = len(mean) * math.log(sigma0)
        size = int(self._optimizer.batchSize)
        parameters = SearchParameters(population_size=size, maximal_failures=1)
        super().__init__(mean, sigma0, parameters, seed, target)

    def _make_optimizer(self) -> Any:
        mean, settings = self._arguments
        # PyBrain draws unused parameters from NumPy's global generator
        state = np.random.get_state()  # noqa: NPY002
        with pybrain_importable():
            optimizer = _XNES(lambda x: self._told.popleft()[1], mean.copy(), **settings)
        np.random.set_state(state)  # noqa: NPY002
        optimizer._produceSample = lambda: None
        optimizer._sample2base = lambda _: self._told[0][0]
        return optimizer

    def __getstate__(self) -> dict[str, Any]:
        # pickle can't find the optimizer's class by name, since its import has been undone
        state = {name: getattr(self._optimizer, name) for name in _STATE}
        return {**self.__dict__, "_optimizer": state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._optimizer = self._make_optimizer()
        for name, value in state["_optimizer"].items():
            setattr(self._optimizer, name, value)

    def ask(self, count: int | None = None) -> Array:
        """Sample the search distribution as PyBrain does, shape (count, n)."""
        count = self.population_size if count is None else count
        samples = self.rng.standard_normal((count, len(self.best_x)))
        return np.array([_XNES._sample2base(self._optimizer, z) for z in samples])

    def _update(self, X: Array, y: Array) -> None:
        """Do one learning step of PyBrain with these points and their values."""
        try:
            self._learn(X, y)
        except (ValueError, FloatingPointError) as error:
            raise np.linalg.LinAlgError(str(error)) from error
        # copied, since PyBrain updates its mean in place
        self.distribution = SearchDistribution(self._optimizer._center, self._optimizer._A)

    def _learn(self, X: Array, y: Array) -> None:
        optimizer = self._optimizer
        rewards = np.clip(-y, _WORST, -_WORST)  # PyBrain maximizes
        self._told.extend(zip(X, rewards.tolist(), strict=True))
        optimizer.batchSize = len(y)
        with np.errstate(over="raise", invalid="raise"):
            optimizer._learnStep()
        optimizer.numLearningSteps += 1
        # PyBrain keeps all points and values, but a step uses only its own
        for kept in ("_allEvaluated", "_allEvaluations", "_allPointers", "_allGenSteps"):
            del getattr(optimizer, kept)[:-1]


make = PyBrainXnes
