"""The paper's claims about its studies, judged by our studies: ``results/claims.md``.

A claim is a statement about a quantity, such as a ratio of expected running times. It is judged by
the quantity's 95 % confidence interval: "yes" if the whole interval is on the claim's side of the
threshold, "no" if it is on the other side, "not shown" if the threshold lies inside.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from casmore.studies import bbob_claims
from casmore.studies.claim import Claim
from casmore.studies.confidence import (
    all_of,
    ert_ratio,
    larger,
    median,
    median_ratio,
    share,
)
from casmore.studies.episodic import task_claims
from casmore.studies.run_table import Variant, read_variants

_INTRODUCTION = """\
# The paper's claims on its studies

Made by `make figures FIG=claims` from `rosenbrock_runs.csv` and `ablation_runs.csv`.

Numbers in brackets are 95 % confidence intervals: bootstrap over the runs, for shares the exact
binomial interval. A claim gets "yes" if the whole interval is on its side of the threshold, "no"
if it is on the other side, "not shown" if the threshold lies inside. The expected running time
(ERT) is the number of evaluations of all runs divided by the number of runs that reached the
target, here followed by (successes/runs).
"""
_PLATEAU = 0.25  # of the slower of the two phases that it lies between


def write_claims(results: Path) -> list[Path]:
    """Write ``claims.md``; return the file."""
    lines = [_INTRODUCTION, *_table(claims(results))]
    if bbob_claims.exist(results):
        lines += ["", "# The paper's claims on BBOB", "", bbob_claims.INTRODUCTION]
        lines += _table(bbob_claims.claims(results))
    if task_claims.exist(results):
        lines += ["", "# The paper's claims on robot tasks", "", task_claims.INTRODUCTION]
        lines += _table(task_claims.claims(results))
    path = results / "claims.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [path]


def _table(found: Sequence[Claim]) -> list[str]:
    rows = [f"| {c.statement} | {c.measured} | {c.verdict} |" for c in found]
    return ["| claim | measured | shown |", "| --- | --- | --- |", *rows]


def claims(results: Path) -> list[Claim]:
    """Return all claims, judged by the studies' runs."""
    rosenbrock = {v.label: v for v in read_variants(results / "rosenbrock_runs.csv")}
    ablation = {(v.label, v.function): v for v in read_variants(results / "ablation_runs.csv")}
    return [
        decoupling(rosenbrock),
        adaptive_schedule(rosenbrock),
        phases(rosenbrock["CAS-MORE"]),
        premature_convergence(rosenbrock),
        divergence(rosenbrock["MORE-larger-epsilon"]),
        whitening(ablation["default", 8], ablation["no-whitening", 8]),
        robust_normalization(ablation["default", 6], ablation["standard-normalisation", 6]),
    ]


def decoupling(variants: Mapping[str, Variant]) -> Claim:
    """CA-MORE needs less than MORE."""
    ca, more = variants["CA-MORE"], variants["MORE"]
    ratio = ert_ratio(ca.attempts, more.attempts)
    halfway = ert_ratio(ca.attempts_to(1e-2), more.attempts_to(1e-2))
    return Claim(
        "Decoupling mean and covariance alone speeds up the search",
        f"ERT to 1e-8: {_named(variants, ('CA-MORE', 'MORE'))}; ratio {ratio} (to 1e-2: {halfway})",
        ratio.below(1),
    )


def adaptive_schedule(variants: Mapping[str, Variant]) -> Claim:
    """CAS-MORE needs less than each of the others."""
    others = ("CA-MORE", "MORE", "CMA-ES")
    cas = variants["CAS-MORE"].attempts
    ratios = {name: ert_ratio(cas, variants[name].attempts) for name in others}
    return Claim(
        "With the adaptive entropy schedule, CAS-MORE is the fastest",
        f"ERT to 1e-8: {_named(variants, ('CAS-MORE', *others))}; ratios "
        + ", ".join(f"{ratio} to {name}" for name, ratio in ratios.items()),
        all_of(*(ratio.below(1) for ratio in ratios.values())),
    )


def phases(cas: Variant) -> Claim:
    """The entropy of CAS-MORE falls, stays, and falls again."""
    falls = [cas.column(name) for name in ("first_fall", "least_fall", "last_fall")]
    # a run that is too short to have three phases has none
    first, least, last = (fall[np.isfinite(fall)] for fall in falls)
    quick = [median(first), median(last)]
    ratio = median(least / np.minimum(first, last))
    return Claim(
        "The entropy of CAS-MORE falls quickly, reaches a plateau, and falls quickly again",
        f"median fall over 1000 evaluations, in nats: the first {quick[0]}, the slowest in between "
        f"{median(least)}, the last {quick[1]}; the slowest over the smaller of the other two "
        f"{ratio}, for a plateau below {_PLATEAU}",
        all_of(*(fall.above(0) for fall in quick), ratio.below(_PLATEAU)),
    )


def premature_convergence(variants: Mapping[str, Variant]) -> Claim:
    """With a quicker decrease of its entropy MORE reaches the target less often."""
    names = ("MORE", "MORE-faster-decrease")
    shares = [share(variants[name].column("reached")) for name in names]
    return Claim(
        "Decreasing the entropy of MORE even quicker makes it converge prematurely",
        f"share of runs at 1e-8: {shares[0]}; with {variants[names[1]].settings}: {shares[1]}",
        larger(shares[0], shares[1]),
    )


def divergence(variant: Variant) -> Claim:
    """With a large trust region, most runs of MORE end above the value they started from."""
    worse = share(variant.column("f_end") > variant.column("f_start"))
    return Claim(
        "A larger trust region makes MORE diverge",
        f"{variant.settings}: share of runs that end above the value at their start {worse}",
        worse.above(0.5),
    )


def whitening(default: Variant, without: Variant) -> Claim:
    """Without whitening the search is slower near the optimum, and more so than before."""
    early = ert_ratio(without.attempts_to(1.0), default.attempts_to(1.0))
    late = ert_ratio(without.attempts_between(1.0, 1e-7), default.attempts_between(1.0, 1e-7))
    return Claim(
        "Whitening becomes important at low entropy, near the optimum (Rosenbrock)",
        f"ERT without whitening over ERT with it: to 1 {early}, from 1 to 1e-7 {late} (to be above "
        f"1 and the former), to 1e-8 {ert_ratio(without.attempts, default.attempts)}",
        all_of(late.above(1), larger(late, early)),
    )


def robust_normalization(default: Variant, standard: Variant) -> Claim:
    """With the standard normalization runs end at larger values."""
    ratio = median_ratio(standard.column("f_end"), default.column("f_end"))
    return Claim(
        "Robust target normalization is important on the Attractive Sector",
        f"median value at the mean after 12000 evaluations: {default.value:.1e} with it, "
        f"{standard.value:.1e} with the standard one; ratio {ratio}",
        ratio.above(1),
    )


def _named(variants: Mapping[str, Variant], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {variants[name].attempts}" for name in names)
