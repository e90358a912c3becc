"""The conformance suite: our own solvers pass, and each way to break the contract is found."""

import random
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.algorithms.stopping import StopReason
from casmore.cli import main
from casmore.solvers import registry
from casmore.solvers.conformance import check_solver
from casmore.solvers.random_search import RandomSearch

Array = NDArray[np.float64]
DETERMINISTIC = {"nelder-mead", "powell", "l-bfgs-b", "slsqp"}


@pytest.mark.parametrize("name", [solver.name for solver in registry.registered()])
def test_a_registered_solver_keeps_the_contract(name: str) -> None:
    findings = check_solver(registry.factory(name))
    assert [f.message for f in findings if f.broken] == []
    assert len(findings) == 13
    assert any(f.note and f.message for f in findings) == (name in DETERMINISTIC)


class Search(RandomSearch):
    """Keeps the contract; the classes below break it in one point each."""

    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **{**arguments, "population_size": 5})


class NoMean(Search):
    @property
    def mean(self) -> Array:
        raise AttributeError


class Flat(Search):
    def ask(self) -> Array:
        points: Array = super().ask()[0]
        return points


class Miscounts(Search):
    def tell(self, X: Any, y: Any) -> None:
        super().tell(X, y)
        self.evaluations += 1


class KeepsViews(Search):
    def tell(self, X: Any, y: Any) -> None:
        super().tell(X, y)
        self._best_x = X[np.argmin(y)] if y.min() == self.best_y else self._best_x


class HandsOutItsOwn(Search):
    def ask(self) -> Array:
        if not hasattr(self, "batch"):
            self.batch = super().ask()
        self.batch += 0.1
        return self.batch


class HandsOutItsBest(Search):
    @property
    def best_x(self) -> Array:
        return self._best_x


class KeepsTheStart(Search):
    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **arguments)
        self._best_x = x0


class KeepsParts(Search):
    """Updates once five values are there, of points it did not copy."""

    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **arguments)
        self.waiting: list[Any] = []
        self.shift = 0.0

    def ask(self) -> Array:
        return super().ask() + self.shift

    def tell(self, X: Any, y: Any) -> None:
        super().tell(X, y)
        self.waiting.extend(X)
        if len(self.waiting) >= 5:
            self.shift = float(np.sum(self.waiting))
            self.waiting.clear()


class SortsInPlace(Search):
    def tell(self, X: Any, y: Any) -> None:
        super().tell(X, y)
        y.sort()


class IgnoresTheTarget(Search):
    def stop(self) -> dict[StopReason, float]:
        return {}


class StopsInWords(Search):
    def stop(self) -> Any:
        return {str(reason)[:6]: value for reason, value in super().stop().items()}


class WantsItsOwn(Search):
    def tell(self, X: Any, y: Any) -> None:
        if len(y) != 5:
            raise IndexError("five, please")
        super().tell(X, y)


class EndsTheProgram(Search):
    def ask(self) -> Array:
        sys.exit("no more")


class TakesNaN(Search):
    def tell(self, X: Any, y: Any) -> None:
        super().tell(X, y)
        if len(y) > 0:
            self.best_y = min(float(y[-1]), self.best_y)  # NaN where it stands first


class Unseeded(Search):
    def ask(self) -> Array:
        return super().ask() + np.random.default_rng().uniform()


class OneSeed(Search):
    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **{**arguments, "seed": 1})


class DrawsGlobally(Search):
    def ask(self) -> Array:
        random.random()
        return super().ask()


class ForgetsItsGenerator(Search):
    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rng": np.random.default_rng(0)}


class CantBePickled(Search):
    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **arguments)
        self.f = lambda x: x


class Talks(Search):
    def ask(self) -> Array:
        print("asking")
        return super().ask()


class Writes(Search):
    def ask(self) -> Array:
        Path("log.dat").write_text("asked")
        return super().ask()


class LeavesAThread(Search):
    ends: ClassVar[threading.Event] = threading.Event()

    def __init__(self, x0: Any, sigma0: float, **arguments: Any) -> None:
        super().__init__(x0, sigma0, **arguments)
        threading.Thread(target=self.ends.wait, daemon=True).start()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (NoMean, "it has no mean"),
        (Flat, r"shape \(2,\) in dimension 2; \(k, 2\) with k >= 1"),
        (Miscounts, "evaluations is 6 after 5 points"),
        (KeepsViews, "keep a copy of the point"),
        (HandsOutItsOwn, "changes the run; copy them"),
        (HandsOutItsBest, r"writing into best_x changes the solver"),
        (KeepsTheStart, "overwriting x0 after the solver was built changes"),
        (KeepsParts, "changes the run; copy them"),
        (SortsInPlace, r"tell\(\) changes the arrays that it is given"),
        (IgnoresTheTarget, "StopReason.TARGET is due"),
        (StopsInWords, "a dict whose keys are StopReason"),
        (WantsItsOwn, r"IndexError: five, please \(.*test_conformance.py, line \d+\)"),
        (EndsTheProgram, r"SystemExit: no more \(.*test_conformance.py, line \d+\)"),
        (TakesNaN, "best_y is nan where nan was told"),
        (Unseeded, "two runs with the same seed differ"),
        (OneSeed, "runs with different seeds are the same"),
        (DrawsGlobally, "draws from or seeds a global generator"),
        (ForgetsItsGenerator, "does not continue the uninterrupted run"),
        (CantBePickled, "pickle"),
        (Talks, "it prints, for example 'asking"),
        (Writes, "it leaves files behind: log.dat"),
        (LeavesAThread, r"leaves threads running when it is dropped \(1\)"),
    ],
)
def test_each_breach_is_found(kind: type[Search], message: str) -> None:
    LeavesAThread.ends.clear()
    try:
        messages = [f.message for f in check_solver(kind) if f.message]
    finally:
        LeavesAThread.ends.set()
    assert messages
    with pytest.raises(AssertionError, match=message):
        raise AssertionError("\n".join(messages))


def test_the_command_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-solver", "random-search"]) == 0
    assert capsys.readouterr().out.endswith("random-search keeps the contract.\n")
    assert main(["check-solver", "slsqp"]) == 0
    assert "note: runs with different seeds are the same" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong_solver.py").write_text(
        "from casmore.solvers.random_search import RandomSearch\n"
        "class Loud(RandomSearch):\n"
        "    def ask(self):\n"
        "        print('!')\n"
        "        return super().ask()\n"
    )
    assert main(["check-solver", "wrong_solver:Loud"]) == 1
    said = capsys.readouterr().out
    assert "WRONG  it leaves no files, output or threads" in said
    assert said.endswith("1 wrong.\n")
    assert main(["check-solver", "simplex"]) == 2
    assert "unknown solver 'simplex'" in capsys.readouterr().err
