"""The paper's claims about its robot tasks, judged by our runs.

A task without a table has not been run: its claims are "not shown", like those of a task with fewer
than six runs of a solver.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from casmore.reports.report_error import ReportError
from casmore.studies.claim import Claim
from casmore.studies.confidence import (
    Estimate,
    Verdict,
    all_of,
    larger,
    median,
    median_ratio,
    share,
)
from casmore.studies.episodic.task_tables import TaskRun, read_task_runs

Array = NDArray[np.float64]
Runs = Mapping[str, Sequence[TaskRun]]

INTRODUCTION = """\
Made by `make figures FIG=claims` from the tables `*_runs.csv` of the robot tasks; judged as above.
The last samples are those of the last tenth of the iterations. The best return of the mean is
smoothed over ten iterations. With less than six runs of a solver a claim is "not shown".
"""
ROBUST, STANDARD, CMA, XNES = "CAS-MORE", "CAS-MORE-standard", "CMA-ES", "xNES"
_RANKING = (CMA, XNES)
_IN_THE_HOLE = 1.5  # return of an end-effector half-way down
_SOLVED = 1.9
_NEARLY_ALL = 0.9
_FEWEST = 6  # runs: a median of fewer has no 95 % confidence interval within its sample


def exist(results: Path) -> bool:
    """Return whether a task has been run."""
    return any((results / f"{name}_runs.csv").is_file() for name in JUDGES)


def claims(results: Path) -> list[Claim]:
    """Return all claims on robot tasks."""
    return [claim for name, judge in JUDGES.items() for claim in _judged(results, name, judge)]


def _judged(
    results: Path, name: str, judges: Mapping[str, Callable[[Runs], tuple[str, Verdict]]]
) -> list[Claim]:
    title = name.replace("_", " ").capitalize()
    try:
        runs = read_task_runs(results / f"{name}_runs.csv")
    except ReportError:
        return [Claim(f"{title}: {s}", "not run", Verdict.NOT_SHOWN) for s in judges]
    fewest = min(map(len, runs.values()))
    most = max(map(len, runs.values()))
    counts = f"{most}" if fewest == most else f"{fewest} to {most}"
    claims = []
    for statement, judge in judges.items():
        measured, verdict = judge(runs)
        verdict = verdict if fewest >= _FEWEST else Verdict.NOT_SHOWN
        claims.append(Claim(f"{title}: {statement}", f"{measured} ({counts} runs each)", verdict))
    return claims


def _of(runs: Runs, label: str, column: str) -> Array:
    return np.array([getattr(run, column) for run in runs[label]], dtype=float)


def _medians(runs: Runs, column: str, labels: Sequence[str]) -> tuple[str, list[Estimate]]:
    estimates = [median(_of(runs, label, column)) for label in labels]
    told = ", ".join(f"{label} {e}" for label, e in zip(labels, estimates, strict=True))
    return told, estimates


def _standard_fails(runs: Runs) -> tuple[str, Verdict]:
    solved = [share(_of(runs, label, "best") > _SOLVED) for label in (STANDARD, ROBUST)]
    told = f"runs whose mean reaches {_SOLVED}: standard {solved[0]}, robust {solved[1]}"
    return told, all_of(solved[0].below(0.5), larger(solved[1], solved[0]))


def _robust_matches_in_the_mean(runs: Runs) -> tuple[str, Verdict]:
    told, _ = _medians(runs, "best", (ROBUST, *_RANKING))
    ratios = [median_ratio(_of(runs, ROBUST, "best"), _of(runs, r, "best")) for r in _RANKING]
    return f"best return of the mean: {told}", all_of(*(r.above(0.95) for r in ratios))


def _samples_rarely_collide(runs: Runs) -> tuple[str, Verdict]:
    told, (ours, *theirs) = _medians(runs, "collision", (ROBUST, *_RANKING))
    verdict = all_of(ours.below(0.2), *(larger(t, ours) for t in theirs))
    return f"share of the last samples that collide: {told}", verdict


def _mean_falls(runs: Runs) -> tuple[str, Verdict]:
    falls = {label: share(_of(runs, label, "falls") > 0) for label in (ROBUST, *_RANKING)}
    told = ", ".join(f"{label} {e}" for label, e in falls.items())
    verdict = all_of(*(larger(falls[r], falls[ROBUST]) for r in _RANKING))
    return f"runs whose mean collides at times, second half: {told}", verdict


def _good_early_then_worse(runs: Runs) -> tuple[str, Verdict]:
    parts, verdicts = [], []
    for label in _RANKING:
        best, end = _of(runs, label, "best"), _of(runs, label, "return_mean")
        loss = median(best - end)
        parts.append(f"{label} from {np.median(best):.3g} to {np.median(end):.3g}, loss {loss}")
        verdicts += [median(best).above(_IN_THE_HOLE), loss.above(0.2)]
    return f"expected return of the mean, best and last: {'; '.join(parts)}", all_of(*verdicts)


def _higher_expected_return(runs: Runs) -> tuple[str, Verdict]:
    told, (robust, standard, *theirs) = _medians(
        runs, "return_samples", (ROBUST, STANDARD, *_RANKING)
    )
    verdict = all_of(*(larger(ours, t) for ours in (robust, standard) for t in theirs))
    return f"return of the last samples: {told}", verdict


def _standard_is_safer_and_slower(runs: Runs) -> tuple[str, Verdict]:
    collision, (r, s) = _medians(runs, "collision", (ROBUST, STANDARD))
    early, (re, se) = _medians(runs, "best_early", (ROBUST, STANDARD))
    told = f"collisions of the last samples: {collision}; best return in the first quarter: {early}"
    return told, all_of(larger(r, s), larger(re, se))


def _penalty(runs: Runs) -> tuple[str, Verdict]:
    cost = {label: -_of(runs, label, "best") for label in (ROBUST, STANDARD)}
    ratio = median_ratio(cost[ROBUST], cost[STANDARD])
    standard = median(cost[STANDARD])
    told = f"standard {standard}, robust {median(cost[ROBUST])}, ratio {ratio}"
    return f"lowest cost at the mean: {told}", all_of(standard.above(0.3), ratio.below(0.1))


def _returns_nearly_all(runs: Runs) -> tuple[str, Verdict]:
    told, (robust, standard) = _medians(runs, "success", (ROBUST, STANDARD))
    verdict = all_of(robust.above(_NEARLY_ALL), standard.above(_NEARLY_ALL))
    return f"share of the last samples returned: {told}", verdict


def _sixty_percent(runs: Runs) -> tuple[str, Verdict]:
    told, estimates = _medians(runs, "success", _RANKING)
    verdict = all_of(*(e.above(0.4) for e in estimates), *(e.below(0.8) for e in estimates))
    return f"share of the last samples returned: {told}", verdict


def _better_samples(runs: Runs) -> tuple[str, Verdict]:
    told, (ours, *theirs) = _medians(runs, "success", (ROBUST, *_RANKING))
    verdict = all_of(*(larger(ours, t) for t in theirs))
    return f"share of the last samples in the cup: {told}", verdict


def _equal_mean(runs: Runs) -> tuple[str, Verdict]:
    told, _ = _medians(runs, "best", (ROBUST, *_RANKING))
    ratios = [median_ratio(_of(runs, ROBUST, "best"), _of(runs, r, "best")) for r in _RANKING]
    verdict = all_of(*(r.above(0.85) for r in ratios), *(r.below(1.15) for r in ratios))
    return f"best expected return of the mean: {told}", verdict


# the claims of each study, and the functions that judge them
JUDGES: dict[str, dict[str, Callable[[Runs], tuple[str, Verdict]]]] = {
    "hole_reaching": {
        "standard normalization fails": _standard_fails,
        "robust normalization matches CMA-ES and xNES in the mean": _robust_matches_in_the_mean,
        "its samples rarely collide, theirs do": _samples_rarely_collide,
        "their mean falls sharply at times": _mean_falls,
    },
    "hole_reaching_noisy": {
        "CMA-ES and xNES are good early, then degrade": _good_early_then_worse,
        "CAS-MORE has the higher expected return": _higher_expected_return,
        "standard collides less, robust learns faster": _standard_is_safer_and_slower,
    },
    "hole_reaching_penalty": {
        "standard stays near cost 1, robust falls by orders of magnitude": _penalty,
    },
    "table_tennis": {
        "CAS-MORE returns nearly all balls": _returns_nearly_all,
        "CMA-ES and xNES return about 60 %": _sixty_percent,
    },
    "beer_pong": {
        "CAS-MORE's samples are better": _better_samples,
        "the mean is equal": _equal_mean,
    },
}
