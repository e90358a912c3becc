"""Confidence intervals against enumeration, closed forms and simulation; verdicts by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from casmore.studies import confidence
from casmore.studies.confidence import Attempts, Estimate, Verdict


def attempts(spent: list[float], reached: list[bool]) -> Attempts:
    return Attempts(np.array(spent, dtype=float), np.array(reached, dtype=bool))


def test_ert_is_the_sum_of_evaluations_over_the_successes() -> None:
    assert attempts([100, 300, 500], [True, False, True]).ert == 450
    assert attempts([100, 300], [False, False]).ert == math.inf


def test_the_bootstrap_of_ert_is_that_of_all_resamples() -> None:
    a = attempts([100, 260, 330], [True, False, True])
    b = attempts([500, 410, 1000], [True, True, False])

    def erts(runs: Attempts) -> list[float]:
        found = []
        for rows in itertools.product(range(3), repeat=3):
            hits = runs.reached[list(rows)].sum()
            found.append(runs.spent[list(rows)].sum() / hits if hits else math.inf)
        return found

    # all 27 x 27 resamples; infinity over infinity may be anything: the worse for each end
    pairs = list(itertools.product(erts(a), erts(b)))
    low = sorted(0.0 if x == y == math.inf else x / y for x, y in pairs)
    high = sorted(math.inf if x == y == math.inf else x / y for x, y in pairs)
    found = confidence.ert_ratio(a, b)
    assert found.value == pytest.approx((690 / 2) / (1910 / 2))
    # 2000 draws see quantiles of 729 equally likely values with an error of some places
    assert low[11] <= found.low <= low[25]
    assert high[-26] <= found.high <= high[-12]


def test_without_failures_the_interval_is_that_of_a_ratio_of_means() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(1000, 100, 400), rng.normal(1500, 300, 400)
    always = np.ones(400, dtype=bool)
    found = confidence.ert_ratio(Attempts(a, always), Attempts(b, always))
    # delta method
    spread = 1.96 * math.sqrt(a.var() / a.mean() ** 2 / 400 + b.var() / b.mean() ** 2 / 400)
    ratio = a.mean() / b.mean()
    assert found.value == pytest.approx(ratio)
    assert math.log(found.low / ratio) == pytest.approx(-spread, rel=0.1)
    assert math.log(found.high / ratio) == pytest.approx(spread, rel=0.1)


def test_the_interval_of_a_ratio_covers_the_truth_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(5)

    def runs(chance: float, mean: float) -> Attempts:
        return Attempts(rng.exponential(mean, 40), rng.random(40) < chance)

    truth = (1000 / 0.8) / (1500 / 0.5)
    found = [confidence.ert_ratio(runs(0.8, 1000), runs(0.5, 1500)) for _ in range(200)]
    covered = sum(e.low <= truth <= e.high for e in found)
    # binomial: 200 x 0.95 = 190 +- 3.1; the percentile interval is a little too short
    assert 180 <= covered <= 198


def test_of_no_success_the_chance_is_bounded() -> None:
    never = attempts([1000.0] * 20, [False] * 20)
    always = attempts([500.0] * 20, [True] * 20)
    found = confidence.ert_ratio(never, always)
    assert (found.value, found.high) == (math.inf, math.inf)
    # the chance p for which 20 failures happen in 2.5 % of all cases
    p = 1 - 0.025 ** (1 / 20)
    assert found.low == pytest.approx(1000 / p / 500)
    reverse = confidence.ert_ratio(always, never)
    assert (reverse.value, reverse.low) == (0, 0)
    assert reverse.high == pytest.approx(500 * p / 1000)
    neither = confidence.ert_ratio(never, never)
    assert math.isnan(neither.value)
    assert (neither.low, neither.high) == (0, math.inf)


def test_the_interval_of_a_median_has_the_ranks_of_the_binomial() -> None:
    values = np.arange(1.0, 102.0)
    found = confidence.median(np.random.default_rng(1).permutation(values))
    assert found.value == 51
    # P(a resample's median <= k) = P(Binomial(101, k / 101) >= 51)
    low, high = (
        next(k for k in range(1, 102) if stats.binom.sf(50, 101, k / 101) >= q)
        for q in (0.025, 0.975)
    )
    assert abs(found.low - low) <= 1
    assert abs(found.high - high) <= 1


def test_a_median_may_be_infinite() -> None:
    found = confidence.median([1.0, math.inf, math.inf, math.inf, math.inf])
    assert (found.value, found.high) == (math.inf, math.inf)


def test_the_ratio_of_medians_is_known_of_scaled_values() -> None:
    x = np.exp(np.random.default_rng(2).normal(0, 1, 100))
    found = confidence.median_ratio(50 * x, x)
    assert found.value == pytest.approx(50)
    # the standard error of a median of normal numbers is sqrt(pi / 2 / n), here of two
    spread = 1.96 * math.sqrt(math.pi / 100)
    assert math.log(found.high / found.low) == pytest.approx(2 * spread, rel=0.35)


def test_the_interval_of_a_share_is_exact() -> None:
    found = confidence.share([True] * 8 + [False] * 2)
    assert found.value == 0.8
    # Clopper and Pearson by quantiles of the beta distribution
    assert found.low == pytest.approx(stats.beta.ppf(0.025, 8, 3))
    assert found.high == pytest.approx(stats.beta.ppf(0.975, 9, 2))


@pytest.mark.parametrize(
    ("estimate", "below", "above"),
    [
        (Estimate(0.5, 0.4, 0.6), Verdict.YES, Verdict.NO),
        (Estimate(1.5, 1.1, 2.0), Verdict.NO, Verdict.YES),
        (Estimate(0.9, 0.7, 1.1), Verdict.NOT_SHOWN, Verdict.NOT_SHOWN),
        (Estimate(1.0, 1.0, 1.0), Verdict.NOT_SHOWN, Verdict.NOT_SHOWN),
        (Estimate(math.nan, 0.0, math.inf), Verdict.NOT_SHOWN, Verdict.NOT_SHOWN),
        (Estimate(math.inf, 2.0, math.inf), Verdict.NO, Verdict.YES),
    ],
)
def test_a_verdict_needs_the_whole_interval(
    estimate: Estimate, below: Verdict, above: Verdict
) -> None:
    assert estimate.below(1) is below
    assert estimate.above(1) is above


def test_one_number_is_larger_than_another_if_the_intervals_are_apart() -> None:
    small, middle, large = Estimate(1, 0, 2), Estimate(2, 1, 3), Estimate(5, 4, 6)
    assert confidence.larger(large, small) is Verdict.YES
    assert confidence.larger(small, large) is Verdict.NO
    assert confidence.larger(middle, small) is Verdict.NOT_SHOWN


def test_all_parts_of_a_claim_have_to_hold() -> None:
    yes, no, open_ = Verdict.YES, Verdict.NO, Verdict.NOT_SHOWN
    assert confidence.all_of(yes, yes) is yes
    assert confidence.all_of(yes, open_) is open_
    assert confidence.all_of(open_, no, yes) is no


def test_nothing_follows_from_no_runs() -> None:
    none = attempts([], [])
    ratios = [confidence.ert_ratio(none, attempts([9.0], [True])), confidence.median_ratio([1], [])]
    for estimate in (*ratios, confidence.median([]), confidence.share([])):
        assert math.isnan(estimate.value)
        assert estimate.above(0.5) is estimate.below(0.5) is Verdict.NOT_SHOWN
