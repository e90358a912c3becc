"""The paper's claims about its BBOB experiment, judged by the stored trials."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from casmore.problems.suites import BBOB, NOISY
from casmore.reports import trial_table
from casmore.reports.regret import regret_table
from casmore.reports.regret.regrets import SAMPLES, Regrets, average_log
from casmore.reports.runtimes import Runtimes, longest_budgets
from casmore.studies.claim import Claim
from casmore.studies.confidence import CONFIDENCE, Estimate, Verdict, all_of, share

FOLDER = "bbob"
_DIMENSIONS = (5, 20)  # of the paper's figures
_ALMOST_ALL = 0.8  # share of the functions
_PENALTY = 10.0  # a missed target counts as this multiple of the budget
_RESAMPLES = 1000
_SEED = 20240902  # the same data give the same interval
_Result = TypeVar("_Result", Runtimes, Regrets)
_CAS_MORE, _MORE, _CMA_ES, _XNES = "CAS-MORE", "MORE", "CMA-ES", "xNESas"
_CAS_MORE_NOISE, _LRA_CMA_ES = "CAS-MORE-noise", "LRA-CMA-ES"

INTRODUCTION = f"""\
Judged from the trials in `bbob/trials.csv.gz`, in {" and ".join(f"{n}-D" for n in _DIMENSIONS)}.
Ratios are geometric means of ERT ratios over the 51 targets, and over the functions named. ERTs
are at most {_PENALTY:g} times the budget, which is also what a target counts that was not reached.
The regret of samples is that in `bbob/average_regret.md`, on bbob-noisy that in
`bbob-noisy/average_regret.md`.
"""


def exist(results: Path) -> bool:
    """Whether there is a table of trials to judge the claims by."""
    return (results / FOLDER / trial_table.FILE).exists()


def claims(results: Path) -> list[Claim]:
    """Return the claims on BBOB, judged by the table of trials."""
    runtimes = trial_table.read(results / FOLDER / trial_table.FILE)
    found = [
        better_than_more(runtimes),
        better_than(runtimes, _CMA_ES),
        better_than(runtimes, _XNES),
        worse_on_attractive_sector(runtimes),
        multi_modal_needs_large_populations(runtimes),
    ]
    recorded = results / FOLDER / regret_table.FILE
    if recorded.exists():
        found.append(lower_regret(regret_table.read(recorded), longest_budgets(runtimes)))
    noisy = results / NOISY.name
    if (noisy / regret_table.FILE).exists():
        budgets = longest_budgets(trial_table.read(noisy / trial_table.FILE))
        found.append(
            lower_regret_under_noise(regret_table.read(noisy / regret_table.FILE), budgets)
        )
    return found


def better_than_more(runtimes: Sequence[Runtimes]) -> Claim:
    """CAS-MORE is better than MORE on almost all functions."""
    texts, verdicts = [], []
    for n in _DIMENSIONS:
        ratios = [
            ert_ratio([pair]) for pair in _pairs(runtimes, _CAS_MORE, _MORE, n, BBOB.functions)
        ]
        faster = share([ratio.value < 1 for ratio in ratios])
        shown = [ratio.below(1) for ratio in ratios]
        texts.append(
            f"{n}-D: ratio below 1 on {faster} of {len(ratios)} functions (shown on "
            f"{shown.count(Verdict.YES)}, refuted on {shown.count(Verdict.NO)})"
        )
        verdicts.append(faster.above(_ALMOST_ALL))
    return Claim(
        f"CAS-MORE is better than the original MORE on almost all functions (more than "
        f"{_ALMOST_ALL:.0%})",
        "; ".join(texts),
        all_of(*verdicts),
    )


def better_than(runtimes: Sequence[Runtimes], other: str) -> Claim:
    """CAS-MORE is better than another solver on moderate and ill-conditioned functions."""
    texts, verdicts = [], []
    for n in _DIMENSIONS:
        for group in ("moderate", "ill-conditioned"):
            ratio = ert_ratio(_pairs(runtimes, _CAS_MORE, other, n, BBOB.members(group)))
            texts.append(f"{n}-D, {group}: {ratio}")
            verdicts.append(ratio.below(1))
    return Claim(
        f"CAS-MORE is better than {other} on moderate and ill-conditioned functions",
        f"ratio to {other}: {'; '.join(texts)}",
        all_of(*verdicts),
    )


def worse_on_attractive_sector(runtimes: Sequence[Runtimes]) -> Claim:
    """CAS-MORE is slower than CMA-ES and xNES on f6."""
    texts, verdicts = [], []
    for n in _DIMENSIONS:
        for other in (_CMA_ES, _XNES):
            ratio = ert_ratio(_pairs(runtimes, _CAS_MORE, other, n, [6]))
            texts.append(f"{n}-D: {ratio} to {other}")
            verdicts.append(ratio.above(1))
    return Claim(
        "CAS-MORE is slower than CMA-ES and xNES on the Attractive Sector",
        f"ratios on f6: {'; '.join(texts)}",
        all_of(*verdicts),
    )


def multi_modal_needs_large_populations(runtimes: Sequence[Runtimes]) -> Claim:
    """On multi-modal functions CAS-MORE reaches 1e-8 after restarts with larger populations."""
    texts, verdicts = [], []
    functions = BBOB.members("multi-modal")
    for n in _DIMENSIONS:
        own = [
            r
            for r in runtimes
            if (r.solver, r.dimension) == (_CAS_MORE, n) and r.function in functions
        ]
        restarted = [
            restarts > 0
            for r in own
            for restarts, reached in zip(r.restarts, np.isfinite(r.evaluations[-1]), strict=True)
            if reached
        ]
        needed = share(restarted)
        texts.append(f"{n}-D: {needed} of {len(restarted)} trials")
        verdicts.append(needed.above(0.5))
    return Claim(
        "Multi-modal functions need larger populations: most trials of CAS-MORE that reach 1e-8 on "
        f"f{functions[0]} to f{functions[-1]} do so after a restart, which doubles the population",
        f"restarted: {'; '.join(texts)}",
        all_of(*verdicts),
    )


def lower_regret(regrets: Sequence[Regrets], budgets: Mapping[int, float]) -> Claim:
    """The regret of samples of CAS-MORE is lower than that of CMA-ES and xNES."""
    return _lower_regret(
        "Samples of CAS-MORE have lower regret than those of rank-based methods",
        regrets,
        {n: budgets.get(n, 1.0) for n in _DIMENSIONS},
        (_CAS_MORE, _CMA_ES, _XNES),
        BBOB.functions,
    )


def lower_regret_under_noise(regrets: Sequence[Regrets], budgets: Mapping[int, float]) -> Claim:
    """On bbob-noisy it is lower as well, for CAS-MORE with its handling of noise."""
    return _lower_regret(
        f'On bbob-noisy, samples of CAS-MORE with noise="auto" ({_CAS_MORE_NOISE}) have lower '
        "regret than those of rank-based methods",
        regrets,
        dict(sorted(budgets.items())),
        (_CAS_MORE_NOISE, _CMA_ES, _LRA_CMA_ES),
        NOISY.functions,
    )


def _lower_regret(
    text: str,
    regrets: Sequence[Regrets],
    budgets: Mapping[int, float],
    compared: Sequence[str],
    functions: Iterable[int],
) -> Claim:
    """Judge the difference between the first solver and each other, in each dimension."""
    own, *others = compared
    texts, verdicts = [], []
    for n, budget in budgets.items():
        for other in others:
            pairs = _pairs(regrets, own, other, n, functions)
            difference = regret_difference(pairs, budget * n)
            texts.append(f"{n}-D: {difference} to {other}")
            verdicts.append(difference.below(0))
    return Claim(
        text,
        f"difference of the average log10 of the regret of samples: {'; '.join(texts)}",
        all_of(*verdicts),
    )


def regret_difference(pairs: Iterable[tuple[Regrets, Regrets]], budget: float) -> Estimate:
    """Return the difference of average log10 regret, with its bootstrap interval over the trials.

    Parameters
    ----------
    pairs
        For each function the regret of the two solvers.
    budget
        In evaluations.
    """
    rng = np.random.default_rng(_SEED)
    values, resampled = [], []
    for pair in pairs:
        averages = [average_log(regret, SAMPLES, budget) for regret in pair]
        values.append(np.subtract(*(r.weights @ x for r, x in zip(pair, averages, strict=True))))
        drawn = [
            rng.multinomial(len(x), r.weights, size=_RESAMPLES) @ x / len(x)
            for r, x in zip(pair, averages, strict=True)
        ]
        resampled.append(np.subtract(*drawn))
    return _estimate(np.array(values), np.array(resampled))


def _estimate(values: NDArray[np.float64], resampled: NDArray[np.float64]) -> Estimate:
    """Return the mean over functions, from that of the data and those of resampled data."""
    if not values.size:
        return Estimate(np.nan, -np.inf, np.inf)
    low, high = np.quantile(resampled.mean(axis=0), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(values.mean()), float(low), float(high))


def ert_ratio(pairs: Iterable[tuple[Runtimes, Runtimes]]) -> Estimate:
    """Return the geometric mean of ERT ratios, with its bootstrap interval over the trials.

    Parameters
    ----------
    pairs
        For each function the runtimes of the two solvers.

    Returns
    -------
    Estimate
        The ratio of the first's ERT to the second's, over all functions and the 51 targets;
        below 1 the first is faster. Without functions it may be anything.
    """
    rng = np.random.default_rng(_SEED)
    values, resampled = [], []
    for a, b in pairs:
        limit = _PENALTY * max(a.longest, b.longest)
        values.append(np.mean(_log_ert(a, limit) - _log_ert(b, limit)))
        difference = _resampled(a, limit, rng) - _resampled(b, limit, rng)
        resampled.append(difference.mean(axis=1))
    logs = _estimate(np.array(values), np.array(resampled))
    return Estimate(*(float(np.exp(x)) for x in (logs.value, logs.low, logs.high)))


def _log_ert(runtimes: Runtimes, limit: float) -> NDArray[np.float64]:
    return np.log(np.minimum(runtimes.ert, limit))


def _resampled(runtimes: Runtimes, limit: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return log ERT to each target of resampled trials, shape (resamples, 51)."""
    reached = np.isfinite(runtimes.evaluations)
    cost = np.where(reached, runtimes.evaluations, runtimes.spent)
    counts = rng.multinomial(runtimes.trials, runtimes.weights, size=_RESAMPLES)
    with np.errstate(divide="ignore"):
        ert = (counts @ cost.T) / (counts @ reached.T.astype(float))
    return np.asarray(np.log(np.minimum(ert, limit)))


def _pairs(
    results: Sequence[_Result], a: str, b: str, dimension: int, functions: Iterable[int]
) -> list[tuple[_Result, _Result]]:
    """Return the results of two solvers on the functions that both have."""
    table = {(r.solver, r.function): r for r in results if r.dimension == dimension}
    return [(table[a, f], table[b, f]) for f in functions if (a, f) in table and (b, f) in table]
