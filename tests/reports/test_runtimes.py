import numpy as np
import pytest

from casmore.reports import runtimes
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, TARGETS, Runtimes


def test_targets_are_cocos() -> None:
    assert len(TARGETS) == 51
    assert TARGETS[0] == 100
    assert TARGETS[-1] == pytest.approx(1e-8, rel=1e-12)
    np.testing.assert_allclose(TARGETS[1:] / TARGETS[:-1], 10**-0.2)
    np.testing.assert_allclose(TARGETS[ERT_ROWS], ERT_TARGETS)


def test_only_common_functions_are_compared(loaded: list[Runtimes]) -> None:
    partial = [r for r in loaded if (r.solver, r.function) != ("first", 6)]
    found = runtimes.comparable(partial, 2)
    assert {s: [r.function for r in rs] for s, rs in found.items()} == {"second": [1], "first": [1]}


def test_with_a_smaller_budget_trials_end_earlier(loaded: list[Runtimes]) -> None:
    r = next(r for r in loaded if 0 < r.successes < r.trials)
    cut = runtimes.within(r, 100, (1, 3, 7))
    assert cut is not None
    assert cut.instances == (1, 3)
    np.testing.assert_array_equal(cut.spent, np.minimum(r.spent[[0, 2]], 100))
    for row, before in zip(cut.evaluations, r.evaluations[:, [0, 2]], strict=True):
        kept = [e if e <= 100 else np.nan for e in before]
        np.testing.assert_array_equal(row, kept)
    # longer than they were they can't be made
    assert runtimes.within(r, r.longest + 1, (1, 2, 3)) is None
    assert runtimes.within(r, 100, (7,)) is None
