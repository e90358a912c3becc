"""The claims on BBOB follow from the table of trials; made-up trials, whose truth is known."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from casmore.problems.regret import checkpoints
from casmore.problems.suites import NOISY
from casmore.reports import trial_table
from casmore.reports.regret import regret_table
from casmore.reports.regret.regrets import Regrets, collect
from casmore.reports.runtimes import Runtimes
from casmore.studies import bbob_claims, claims
from casmore.studies.claim import Claim
from casmore.studies.confidence import Verdict

BUDGET = 1e6


def trials(
    solver: str,
    function: int,
    dimension: int,
    *,
    slower: float = 1.0,
    restarts: float = 0.0,
    fail_from: int = 51,
    count: int = 15,
) -> Runtimes:
    """Trials that reach target k after about 100 k evaluations, and none from ``fail_from`` on."""
    rng = np.random.default_rng([len(solver), function, dimension])
    evaluations = np.cumsum(rng.uniform(50, 150, (51, count)) * slower, axis=0).round()
    evaluations[fail_from:] = np.nan
    spent = evaluations[-1] if fail_from == 51 else np.full(count, BUDGET)
    return Runtimes(
        solver,
        function,
        dimension,
        tuple(range(1, count + 1)),
        spent,
        evaluations,
        np.full(count, restarts),
    )


def table(slower: Callable[[str, int], float], restarts: float = 1.0) -> list[Runtimes]:
    return [
        trials(solver, f, n, slower=slower(solver, f), restarts=restarts)
        for solver in ("CAS-MORE", "MORE", "CMA-ES", "xNESas")
        for n in (5, 20)
        for f in range(1, 25)
    ]


def verdicts(runtimes: list[Runtimes], folder: Path) -> list[Verdict]:
    (folder / "bbob").mkdir(exist_ok=True)
    trial_table.write(folder / "bbob" / trial_table.FILE, runtimes)
    return [claim.verdict for claim in bbob_claims.claims(folder)]


def test_the_ratio_is_the_one_the_trials_were_made_with() -> None:
    pairs = [(trials("a", f, 5), trials("bb", f, 5, slower=3.0)) for f in (1, 2, 3)]
    ratio = bbob_claims.ert_ratio(pairs)
    assert ratio.value == pytest.approx(1 / 3, rel=0.1)
    assert ratio.low < ratio.value < ratio.high
    assert ratio.high < 1.2 * ratio.low


def test_the_value_is_the_geometric_mean_of_ert_ratios() -> None:
    a, b = trials("a", 1, 5), trials("bb", 1, 5, slower=2.0, fail_from=40)
    # what b does not reach counts as ten times the budget
    erts = np.where(np.isfinite(b.ert), b.ert, 10 * BUDGET)
    expected = np.exp(np.mean(np.log(a.ert / erts)))
    assert bbob_claims.ert_ratio([(a, b)]).value == pytest.approx(expected)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    truth, hits = 1 / 1.3, 0
    for repeat in range(60):
        rng = np.random.default_rng(repeat)
        pair = []
        for slower in (1.0, 1.3):
            # all targets at once, so that the ratio has one exponential variable a trial
            evaluations = np.tile(rng.exponential(1000 * slower, 40), (51, 1))
            pair.append(Runtimes("s", 1, 5, tuple(range(40)), evaluations[-1], evaluations))
        ratio = bbob_claims.ert_ratio([(pair[0], pair[1])])
        hits += ratio.low < truth < ratio.high
    assert hits >= 50  # 57 of 60 expected; P(X < 50) is 0.002 with 95 %


def test_without_functions_nothing_is_shown() -> None:
    ratio = bbob_claims.ert_ratio([])
    assert ratio.below(1) == ratio.above(1) == Verdict.NOT_SHOWN


def test_all_claims_hold_where_the_trials_say_so(tmp_path: Path) -> None:
    def slower(solver: str, f: int) -> float:
        return 1.0 if solver == "CAS-MORE" else 0.5 if f == 6 and solver != "MORE" else 3.0

    assert verdicts(table(slower), tmp_path) == [Verdict.YES] * 5


def test_all_claims_fail_where_the_trials_say_the_opposite(tmp_path: Path) -> None:
    def slower(solver: str, f: int) -> float:
        return 3.0 if solver == "CAS-MORE" else 9.0 if f == 6 else 1.0

    assert verdicts(table(slower, restarts=0.0), tmp_path) == [Verdict.NO] * 5


def test_nothing_is_shown_where_solvers_do_not_differ(tmp_path: Path) -> None:
    def slower(solver: str, f: int) -> float:
        return 1.0

    same = [r for r in table(slower) if r.function not in range(15, 20)]
    found = verdicts(same, tmp_path)
    assert Verdict.YES not in found
    assert found[4] == Verdict.NOT_SHOWN  # no multi-modal functions at all


def test_they_are_a_section_of_the_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "claims", lambda _: [Claim("of a study", "1", Verdict.YES)])
    (path,) = claims.write_claims(tmp_path)
    assert "BBOB" not in path.read_text(encoding="utf-8")
    verdicts(table(lambda solver, f: 1.0), tmp_path)
    claims.write_claims(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "| of a study | 1 | yes |" in text
    assert "# The paper's claims on BBOB" in text
    assert text.count("\n| ") == 3 + 7  # two tables, of one claim and of five


def regret_of(solver: str, function: int, dimension: int, *, level: float) -> Regrets:
    """Trials whose regret stays at about ``level``."""
    rng = np.random.default_rng([len(solver), function, dimension])
    evaluations = np.array(checkpoints(10_000), dtype=float)
    levels = level * 10 ** rng.normal(scale=0.1, size=15)
    records = [(evaluations, np.full(len(evaluations), x), evaluations) for x in levels]
    return collect(solver, function, dimension, range(1, 16), records)


@pytest.mark.parametrize(
    ("level", "expected"), [(0.1, Verdict.YES), (1.0, Verdict.NOT_SHOWN), (10.0, Verdict.NO)]
)
def test_the_regret_is_compared(level: float, expected: Verdict) -> None:
    regrets = [
        regret_of(solver, f, n, level=level if solver == "CAS-MORE" else 1.0)
        for solver in ("CAS-MORE", "CMA-ES", "xNESas")
        for n in (5, 20)
        for f in range(1, 25)
    ]
    claim = bbob_claims.lower_regret(regrets, {5: 2000.0, 20: 500.0})
    assert claim.verdict is expected
    table = {(r.solver, r.function): r for r in regrets if r.dimension == 5}
    pairs = [(table["CAS-MORE", f], table["CMA-ES", f]) for f in range(1, 25)]
    estimate = bbob_claims.regret_difference(pairs, 10_000)
    # the standard error of a mean of 24 differences of means of 15 numbers
    error = 0.1 * np.sqrt(2 / (15 * 24))
    assert estimate.value == pytest.approx(np.log10(level), abs=4 * error)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error, rel=0.2)
    assert bbob_claims.lower_regret([], {}).verdict is Verdict.NOT_SHOWN


@pytest.mark.parametrize(("level", "expected"), [(0.1, Verdict.YES), (10.0, Verdict.NO)])
def test_under_noise_the_regret_is_compared_in_each_dimension_there_is(
    level: float, expected: Verdict, tmp_path: Path
) -> None:
    solvers, functions = ("CAS-MORE-noise", "CMA-ES", "LRA-CMA-ES"), range(101, 104)
    regrets = [
        regret_of(solver, f, n, level=level if solver == "CAS-MORE-noise" else 1.0)
        for solver in solvers
        for n in (2, 10)
        for f in functions
    ]
    runtimes = [
        replace(trials(solver, f, n), suite=NOISY)
        for solver in solvers
        for n in (2, 10)
        for f in functions
    ]
    verdicts(table(lambda solver, f: 1.0), tmp_path)
    trial_table.write(tmp_path / "bbob-noisy" / trial_table.FILE, runtimes)
    regret_table.write(tmp_path / "bbob-noisy" / regret_table.FILE, regrets)
    claim = bbob_claims.claims(tmp_path)[-1]
    assert "bbob-noisy" in claim.statement
    assert claim.verdict is expected
    for n in (2, 10):  # with each of the two others
        differences = re.findall(rf"\b{n}-D: (\S+) \[", claim.measured)
        assert [float(x) for x in differences] == pytest.approx([np.log10(level)] * 2, abs=0.2)
