"""xNES of PyBrain behind the adapter, driven step by step.

PyBrain's optimizer calls the objective itself, but through two methods of its own: one makes a
point of a normal sample, one evaluates it. Here the former hands out the points told, and the
latter their values; everything between them, the algorithm, is PyBrain's. Both methods and the
attributes of the search distribution are private names of PyBrain 0.4.0, its last release.
"""

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from casmore.algorithms.arguments import valid_samples, valid_start
from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.stopping import StopReason
from casmore.algorithms.termination import degenerate
from casmore.solvers.protocol import Seed
from casmore.solvers.pybrain_aliases import import_xnes, pybrain_importable

Array = NDArray[np.float64]

_XNES = import_xnes()
# what makes up the state of PyBrain's optimizer once its lists of all evaluations are emptied
_STATE = ("_center", "_A", "_invA", "_logDetA", "numLearningSteps", "numEvaluations")
_WORST = -float(np.finfo(float).max)  # PyBrain ends a run at infinity and NaN
# settings of PyBrain's that a config may change
_SETTINGS = ("centerLearningRate", "covLearningRate", "scaleLearningRate", "uniformBaseline")
_ITERATIONS_A_CHECK = 10


class PyBrainXnes:
    """The adapter around PyBrain's ``XNES``.

    PyBrain knows no reason to stop but a budget; these are those of our own xNES. NaN and
    infinity rank as the worst; equal values rank in PyBrain's way, the later one as the better.
    Any points can be told in any number: they are taken for the samples of an iteration.

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
        mean = valid_start(x0, sigma0)
        for name in settings:
            if name not in _SETTINGS:
                raise TypeError(f"PyBrain's xNES has no setting {name!r}; {', '.join(_SETTINGS)}")
        if population_size is not None:
            settings = {**settings, "batchSize": population_size}
        self._arguments = (mean, settings)
        self._rng = np.random.default_rng(seed)
        self._sigma0 = sigma0
        self._target = -math.inf if target is None else target
        self._told: deque[tuple[Array, float]] = deque()
        self._optimizer = self._make_optimizer()
        self._optimizer._A = sigma0 * np.eye(len(mean))
        self._optimizer._invA = np.eye(len(mean)) / sigma0
        self._optimizer._logDetA = len(mean) * math.log(sigma0)
        self.population_size = int(self._optimizer.batchSize)
        self.evaluations = self.iterations = 0
        self.best_x, self.best_y = mean.copy(), math.inf
        self._history: deque[float] = deque(
            maxlen=10 + math.ceil(30 * len(mean) / self.population_size)
        )
        self._stop: dict[StopReason, float] = {}

    def _make_optimizer(self) -> Any:
        mean, settings = self._arguments
        # PyBrain draws parameters it does not use from numpy's global generator
        state = np.random.get_state()  # noqa: NPY002
        with pybrain_importable():
            optimizer = _XNES(lambda x: self._told.popleft()[1], mean.copy(), **settings)
        np.random.set_state(state)  # noqa: NPY002
        optimizer._produceSample = lambda: None
        optimizer._sample2base = lambda _: self._told[0][0]
        return optimizer

    def __getstate__(self) -> dict[str, Any]:
        # the class of the optimizer can't be found by its name, its import being undone
        state = {name: getattr(self._optimizer, name) for name in _STATE}
        return {**self.__dict__, "_optimizer": state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._optimizer = self._make_optimizer()
        for name, value in state["_optimizer"].items():
            setattr(self._optimizer, name, value)

    @property
    def mean(self) -> Array:
        """Mean of the search distribution, shape (n,)."""
        return np.array(self._optimizer._center)

    def ask(self) -> Array:
        """Sample the search distribution, shape (k, n), as PyBrain does."""
        samples = self._rng.standard_normal((self.population_size, len(self.best_x)))
        return np.array([_XNES._sample2base(self._optimizer, z) for z in samples])

    def tell(self, X: ArrayLike, y: ArrayLike) -> None:
        """Let PyBrain do one learning step with these points, shape (k, n), and their values.

        Raises
        ------
        ValueError
            If the shapes do not fit, or a point is not finite.
        """
        X, y = valid_samples(X, y, len(self.best_x))
        if len(y) == 0:
            return
        self.iterations += 1
        self.evaluations += len(y)
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self.best_x, self.best_y = X[best].copy(), float(y[best])
        self._stop = {}
        try:
            self._learn(X, y)
            self._check_termination(y)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):
            self._stop[StopReason.UPDATE_FAILED] = float(self.iterations)

    def stop(self) -> dict[StopReason, float]:
        """Return the reasons to stop with the values that gave them; empty: go on."""
        return dict(self._stop)

    def _learn(self, X: Array, y: Array) -> None:
        optimizer = self._optimizer
        rewards = np.clip(-y, _WORST, -_WORST)  # PyBrain maximises
        self._told.extend(zip(X, rewards.tolist(), strict=True))
        optimizer.batchSize = len(y)
        with np.errstate(over="raise", invalid="raise"):
            optimizer._learnStep()
        optimizer.numLearningSteps += 1
        # PyBrain keeps all points and values for ever; a step looks back no further than itself
        for kept in ("_allEvaluated", "_allEvaluations", "_allPointers", "_allGenSteps"):
            del getattr(optimizer, kept)[:-1]

    def _check_termination(self, y: Array) -> None:
        if self.best_y <= self._target:
            self._stop[StopReason.TARGET] = self.best_y
        self._history.append(float(y.min()))
        if len(self._history) == self._history.maxlen:
            spread = max(max(self._history), float(y.max())) - min(self._history)
            if spread <= 1e-12:
                self._stop[StopReason.NO_PROGRESS] = spread
        if self.iterations % _ITERATIONS_A_CHECK == 0:
            distribution = SearchDistribution(self.mean, self._optimizer._A)
            self._stop.update(
                degenerate(distribution, 1e-12 * self._sigma0, 1e4 * self._sigma0, 1e14)
            )


make = PyBrainXnes
