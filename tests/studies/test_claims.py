"""The table of claims follows from the data: yes, no or not shown."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from casmore.reports.bbob import catalogue
from casmore.studies import claims
from casmore.studies.confidence import Verdict
from casmore.studies.run_table import StudyRun, Variant
from studies.synthetic import around, variant

RESULTS = Path(__file__).parents[2] / "results"
YES, NO, NOT_SHOWN = Verdict.YES, Verdict.NO, Verdict.NOT_SHOWN


@pytest.mark.parametrize(
    ("ca", "failures", "verdict"),
    [
        (7000, 0, YES),
        (13_000, 0, NO),
        (10_000, 0, NOT_SHOWN),
        (8000, 30, NO),  # quick runs, but too few of them: ERT decides
    ],
)
def test_decoupling_is_judged_by_ert(ca: float, failures: int, verdict: Verdict) -> None:
    variants = {
        "CA-MORE": variant("CA-MORE", around(ca, 100 - failures, seed=2), failures=failures),
        "MORE": variant("MORE", around(10_000)),
    }
    assert claims.decoupling(variants).verdict is verdict


@pytest.mark.parametrize(("rival", "verdict"), [(9000, YES), (4000, NOT_SHOWN), (2000, NO)])
def test_cas_more_has_to_win_against_each(rival: float, verdict: Verdict) -> None:
    variants = {
        "CAS-MORE": variant("CAS-MORE", around(4000, seed=3)),
        "CA-MORE": variant("CA-MORE", around(8000)),
        "MORE": variant("MORE", around(11_000)),
        "CMA-ES": variant("CMA-ES", around(rival, seed=4)),
    }
    assert claims.adaptive_schedule(variants).verdict is verdict


@pytest.mark.parametrize(("least", "verdict"), [(5.0, YES), (40.0, NO), (18.0, NOT_SHOWN)])
def test_a_plateau_is_slow_beside_both_phases_around_it(least: float, verdict: Verdict) -> None:
    rng = np.random.default_rng(1)
    cas = variant("CAS-MORE", [])
    for _ in range(40):
        falls: dict[str, Any] = {
            "first_fall": 70.0,
            "last_fall": 80.0,
            "least_fall": least + rng.normal(0, 5),
        }
        cas = Variant((*cas.runs, *variant("CAS-MORE", [4000], **falls).runs))
    short = variant("CAS-MORE", [1000] * 9)  # NaN: no three phases
    assert claims.phases(Variant((*cas.runs, *short.runs))).verdict is verdict


@pytest.mark.parametrize(("failures", "verdict"), [(60, YES), (3, NOT_SHOWN), (0, NOT_SHOWN)])
def test_premature_convergence_is_a_matter_of_shares(failures: int, verdict: Verdict) -> None:
    variants = {
        "MORE": variant("MORE", around(11_000, 99), failures=1),
        "MORE-faster-decrease": variant("m", around(9000, 100 - failures), failures=failures),
    }
    assert claims.premature_convergence(variants).verdict is verdict


@pytest.mark.parametrize(("worse", "verdict"), [(90, YES), (10, NO), (52, NOT_SHOWN)])
def test_most_runs_have_to_diverge(worse: int, verdict: Verdict) -> None:
    runs = [
        *variant("m", [12_000] * worse, f_end=1e20).runs,
        *variant("m", [9] * (100 - worse)).runs,
    ]
    assert claims.divergence(Variant(tuple(runs))).verdict is verdict


@pytest.mark.parametrize(
    ("early", "late", "verdict"),
    [
        (500, 2000, YES),
        (1000, 2000, NOT_SHOWN),  # slower everywhere alike: not by the low entropy
        (500, 1000, NOT_SHOWN),
        (500, 500, NO),
    ],
)
def test_whitening_has_to_matter_late_and_not_just_everywhere(
    early: float, late: float, verdict: Verdict
) -> None:
    def runs(first: float, second: float, seed: int) -> Variant:
        rng = np.random.default_rng(seed)
        found: list[StudyRun] = []
        for _ in range(100):
            a = first * np.exp(rng.normal(0, 0.1))
            b = a + second * np.exp(rng.normal(0, 0.1))
            found += variant("v", [b], to_1=a, to_1e_7=b).runs
        return Variant(tuple(found))

    claim = claims.whitening(runs(500, 1000, 1), runs(early, late, 2))
    assert claim.verdict is verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1e4, YES), (1e-3, NO), (1.0, NOT_SHOWN)])
def test_normalization_is_judged_by_the_last_values(factor: float, verdict: Verdict) -> None:
    def ends(scale: float, seed: int) -> Variant:
        values = scale * np.exp(np.random.default_rng(seed).normal(0, 1, 100))
        return Variant(tuple(r for f in values for r in variant("v", [9], f_end=f).runs))

    assert claims.robust_normalization(ends(1, 1), ends(factor, 2)).verdict is verdict


def test_the_committed_claims_follow_from_the_committed_runs(tmp_path: Path) -> None:
    for path in RESULTS.iterdir():
        if path.name != "claims.md":
            (tmp_path / path.name).symlink_to(path)
    (written,) = claims.write_claims(tmp_path)
    text = written.read_text(encoding="utf-8")
    assert text == (RESULTS / "claims.md").read_text(encoding="utf-8")
    assert text.count("\n| ") == 3 * 2 + 7 + 6 + 13


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["bbob", "bbob-noisy"])
def test_the_committed_tables_follow_from_the_committed_trials(suite: str, tmp_path: Path) -> None:
    tables = {path.stem: path for path in (RESULTS / suite).glob("*.md") if path.stem != "README"}
    ignored = shutil.ignore_patterns("archive", "*.pdf", "*.png", *(f"{name}.*" for name in tables))
    shutil.copytree(RESULTS / suite, tmp_path / suite, ignore=ignored)
    assert {"scores", "scores_by_function", "ert_ratios_05D", "average_regret"} <= tables.keys()
    for name, path in tables.items():
        assert path in [
            RESULTS / made.relative_to(tmp_path)
            for made in catalogue.make(f"{suite}/{name}", tmp_path)
        ]
        # a tie, which rounding decides, may be marked otherwise on another machine
        texts = [
            (folder / suite / path.name).read_text(encoding="utf-8").replace("**", "")
            for folder in (RESULTS, tmp_path)
        ]
        assert texts[0] == texts[1]
