"""The table of ERT ratios beside cocopp's numbers, and its texts."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from reports.logged import LoggedRun

from casmore.problems.suites import BBOB, BEST_2009
from casmore.reports import references
from casmore.reports.bbob import ratio_table
from casmore.reports.bbob.significance import p_value
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, TARGETS, Runtimes


def made(rng: np.random.Generator, solver: str, slower: float, trials: int = 15) -> Runtimes:
    """A solver that reaches all targets, with ``slower`` times the evaluations of another."""
    steps = rng.integers(5, 15, (51, trials)) * slower
    evaluations = np.cumsum(np.ceil(steps), axis=0)
    return Runtimes(solver, 1, 5, tuple(range(1, trials + 1)), evaluations[-1], evaluations)


def test_ratios_are_those_to_the_best_of_2009(loaded: list[Runtimes]) -> None:
    best = references.best(BBOB, BEST_2009)
    for block in ratio_table.blocks(loaded, 3):
        for row in block.rows:
            (r,) = (
                r
                for r in loaded
                if (r.solver, r.dimension, r.function) == (row.solver, 3, block.function)
            )
            assert (row.successes, row.trials) == (r.successes, 3)
            expected = r.ert[ERT_ROWS] / best[3, block.function][ERT_ROWS]
            np.testing.assert_array_equal([cell.ratio for cell in row.cells], expected)


@pytest.mark.filterwarnings("ignore")  # cocopp's, of instances that are not those of a year
def test_the_test_is_cocopps(run: LoggedRun, loaded: list[Runtimes]) -> None:
    import_cocopp()
    from cocopp.pproc import DataSetList
    from cocopp.toolsstats import significancetest

    data = {
        (name, int(d.dim), int(d.funcId)): d
        for name in ("first", "second")
        for d in DataSetList(str(run.folder / "data" / name))
    }
    ours = {(r.solver, r.dimension, r.function): r for r in loaded}
    compared = 0
    for n in (2, 3):
        for f in (1, 6):
            a, b = (ours[name, n, f] for name in ("first", "second"))
            theirs = significancetest(
                data["first", n, f], data["second", n, f], [t * (1 + 1e-9) for t in TARGETS]
            )
            for row, (z, p) in enumerate(theirs):
                if not np.isfinite([*a.evaluations[row], *b.evaluations[row]]).all():
                    continue  # cocopp ranks these by values between the targets
                first = z > 0
                expected = p if a.ert[row] != b.ert[row] else 1.0
                better, worse = (a, b) if first else (b, a)
                if better.ert[row] < worse.ert[row]:
                    assert p_value(better, worse, row) == pytest.approx(expected, abs=1e-6)
                    compared += 1
                assert p_value(worse, better, row) == 1.0 or better.ert[row] > worse.ert[row]
    assert compared > 60


def test_who_failed_is_ranked_by_the_hardest_target_at_the_smallest_budget() -> None:
    rng = np.random.default_rng(1)
    fast, slow = made(rng, "fast", 1.0), made(rng, "slow", 3.0)
    assert p_value(fast, slow, 50) == pytest.approx(3.06e-6, rel=1e-2)  # z = 4.666
    # cut off at a budget that only the fast one needs: its order is the same
    budget = float(fast.spent.max())
    evaluations = np.where(slow.evaluations > budget, math.nan, slow.evaluations)
    cut = replace(slow, evaluations=evaluations, spent=np.full(15, budget))
    assert p_value(fast, cut, 50) == pytest.approx(p_value(fast, slow, 50), rel=0.3)
    assert p_value(cut, fast, 50) == 1.0
    # where nobody reaches the target, nobody is better, as in cocopp's tables
    evaluations = np.where(fast.evaluations > budget / 2, math.nan, fast.evaluations)
    short = replace(fast, evaluations=evaluations, spent=np.full(15, budget / 2))
    assert np.isinf(short.ert[50])
    assert p_value(short, replace(cut, evaluations=cut.evaluations * math.nan), 50) == 1.0


def test_stars_arrows_and_bold_by_hand() -> None:
    rng = np.random.default_rng(1)
    best = references.best(BBOB, BEST_2009)[5, 1][ERT_ROWS[-1]]
    fast, slow = made(rng, "fast", 1.0), made(rng, "slow", 3.0)
    slow.evaluations[ERT_ROWS[-1]] = math.nan
    fast.evaluations[ERT_ROWS[-1]] = best / 2
    fast.evaluations[ERT_ROWS[-1], 0] = best * 2
    (block,) = ratio_table.blocks([fast, slow], 5)
    first, second = (row.cells[-1] for row in block.rows)
    assert (first.best, first.worse, second.best, second.worse) == (True, 1, False, None)
    assert first.exponent == 5  # p = 3.06e-6, and one function
    assert math.isinf(second.ratio)
    text = ratio_table.markdown([block], 5)
    (line,) = (line for line in text.splitlines() if line.startswith("| fast"))
    assert line.endswith("| **0.60**<sup>★5</sup><sub>↑1</sub> | 15/15 |")
    (line,) = (line for line in text.splitlines() if line.startswith("| slow"))
    assert re.search(r"∞ \*\d+\* \| 15/15 \|$", line)
    latex = ratio_table.latex([block], 5)
    assert r"\textbf{0.60}$^{\star 5}$$_{\uparrow 1}$ & 15/15 \\" in latex
    assert latex.count(r"\begin{longtable}") == latex.count(r"\end{longtable}") == 1
    rows = [line for line in latex.splitlines() if "&" in line]
    assert {line.count("&") for line in rows} == {len(ERT_TARGETS) + 1}
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, "0.12"), (0.999, "1.0"), (9.96, "10"), (1234.5, "1234"), (54321, "5.4e4")],
)
def test_numbers_have_two_digits(value: float, text: str) -> None:
    assert ratio_table._number(value) == text
