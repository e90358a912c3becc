"""Solvers that do what a test needs: search at random, wait, or go wrong in one dimension."""

import copy
import os
import signal
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.solvers.protocol import Seed

FREE = 3  # how many units pass a gate that is closed


class RandomSearch:
    """Samples around its best point, in smaller and smaller steps; stops after ten populations.

    With ``gate``, a folder, all units but the first ``FREE`` wait in their third population until
    the folder has a file ``open``.
    """

    def __init__(
        self,
        x0: NDArray[np.float64],
        sigma0: float,
        *,
        population_size: int | None = None,
        seed: Seed = None,
        target: float | None = None,
        gate: str | None = None,
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._sigma = sigma0
        restarted = population_size is not None
        self._gate = None if gate is None or restarted else Path(gate)
        self.population_size = population_size or 5
        self.evaluations = 0
        self.best_x, self.best_y = x0, np.inf
        self._populations = 0

    @property
    def mean(self) -> NDArray[np.float64]:
        return self.best_x

    def ask(self) -> NDArray[np.float64]:
        if self._gate is not None and self._populations == 2:
            self._wait_at(self._gate)
        steps = self._rng.standard_normal((self.population_size, len(self.best_x)))
        return np.asarray(self.best_x + self._sigma * steps)

    def _wait_at(self, gate: Path) -> None:
        for ticket in range(FREE):
            with suppress(FileExistsError):
                (gate / f"ticket{ticket}").mkdir()
                return
        while not (gate / "open").exists():
            time.sleep(0.02)

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        self.evaluations += len(X)
        self._populations += 1
        self._sigma *= 0.9
        best = int(np.argmin(y))
        if y[best] < self.best_y:
            self.best_x, self.best_y = X[best], float(y[best])

    def stop(self) -> dict[StopReason, float]:
        return {StopReason.NO_PROGRESS: 10.0} if self._populations >= 10 else {}


class FailsIn3D(RandomSearch):
    """Raises in 3-D, but for the one iteration by which a config is checked."""

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        super().tell(X, y)
        if X.shape[1] == 3 and self._populations == 3 and "CURED" not in os.environ:
            raise ArithmeticError("no luck in 3-D")


class Warns(RandomSearch):
    """Warns in each step, twice of the same and once of its number."""

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        super().tell(X, y)
        for _ in range(2):
            warnings.warn(f"{X.shape[1]}-D is little", stacklevel=2)
        warnings.warn(f"step {self.evaluations}", stacklevel=2)


class RefusesIn3D(RandomSearch):
    """Raises what is not an ``Exception``, as ``pytest.fail`` and asyncio do, likewise."""

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        super().tell(X, y)
        if X.shape[1] == 3 and self._populations == 3:
            raise KeyboardInterrupt("not in 3-D")


class ExitsIn3D(RandomSearch):
    """Takes its process with it in 3-D, likewise."""

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        super().tell(X, y)
        if X.shape[1] == 3 and self._populations == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class FillsDiskIn3D(RandomSearch):
    """Leaves no room on the disk in 3-D after three populations, makes some after ``until``."""

    def __init__(self, *arguments: Any, file: str, until: int, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._file, self._until = Path(file), until

    def tell(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        super().tell(X, y)
        if X.shape[1] != 3 or "CURED" in os.environ or not self._file.parent.exists():
            return
        if self._populations == 3:
            with self._file.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
        if self._populations == self._until:
            self._file.unlink(missing_ok=True)


def refuses_settings(x0: NDArray[np.float64], sigma0: float, **settings: Any) -> RandomSearch:
    """Build nothing: for settings that a constructor complains of."""
    raise TypeError(f"unexpected settings {sorted(settings['wrong'])}")


SEEN: list[dict[str, Any]] = []


def takes_any_setting(
    x0: NDArray[np.float64],
    sigma0: float,
    *,
    population_size: int | None = None,
    seed: Seed = None,
    target: float | None = None,
    **settings: Any,
) -> RandomSearch:
    """Note the settings."""
    SEEN.append(copy.deepcopy(settings))
    return RandomSearch(x0, sigma0, population_size=population_size, seed=seed, target=target)


def spoils_its_settings(x0: NDArray[np.float64], sigma0: float, **arguments: Any) -> RandomSearch:
    """Change a setting in place."""
    solver = takes_any_setting(x0, sigma0, **arguments)
    arguments["list"].append(2)
    return solver


class HangsIn3D(RandomSearch):
    """Takes for ever in 3-D; Python gets a word in."""

    def ask(self) -> NDArray[np.float64]:
        if len(self.best_x) == 3 and self._populations == 2 and "CURED" not in os.environ:
            while True:
                time.sleep(0.05)
        return super().ask()


class HangsDeafIn3D(RandomSearch):
    """Takes for ever in 3-D and can't be interrupted, as code in C that does not come back."""

    def ask(self) -> NDArray[np.float64]:
        if len(self.best_x) == 3 and self._populations == 2 and "CURED" not in os.environ:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            threading.Event().wait()
        return super().ask()


class GreedyIn3D(RandomSearch):
    """Wants more memory than anybody has, and uses it."""

    def ask(self) -> NDArray[np.float64]:
        if len(self.best_x) == 3 and self._populations == 2 and "CURED" not in os.environ:
            hoard = [np.ones(2**24) for _ in range(64)]  # 128 MiB each
            return hoard[0]
        return super().ask()


class OddPointsIn3D(RandomSearch):
    """Asks for points in 3-D that can't be evaluated; which ones is a setting."""

    def __init__(self, *arguments: Any, kind: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._kind = kind

    def ask(self) -> NDArray[np.float64]:
        X = super().ask()
        if X.shape[1] != 3 or self._populations != 2 or "CURED" in os.environ:
            return X
        X[1, 2] = {"nan": np.nan, "inf": np.inf}.get(self._kind, X[1, 2])
        odd = {"one point": X[0], "too wide": np.hstack([X, X]), "none": X[:0]}
        return np.asarray(odd.get(self._kind, X))
