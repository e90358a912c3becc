"""docs/noise.md: its scores follow from the stored trials."""

import re

from clones import ROOT

from casmore.problems.suites import BEST_2009
from casmore.reports import league, trial_table
from casmore.reports.runtimes import within

COLUMNS = (
    *("CAS-MORE-noise", "lean-noise", "CAS-MORE", "CMA-ES", "CMA-ES-noise", "LRA-CMA-ES"),
    BEST_2009,
)
KINDS = 3  # of noise, in the order of the functions


def test_the_tables_of_scores() -> None:
    text = (ROOT / "docs/noise.md").read_text()
    by_solver = re.findall(r"^\| (\d+)(?: \([^)]*\))? \|((?:[^|\n]+\|){7})$", text, re.MULTILINE)
    by_kind = dict(re.findall(r"^\| (\d+)-D \| ((?:[\d. /]+\|){3})$", text, re.MULTILINE))
    standings = league.standings(trial_table.read(ROOT / "results/bbob-noisy/trials.csv.gz"))
    assert [int(n) for n, _ in by_solver] == [standing.dimension for standing in standings]
    for (n, cells), standing in zip(by_solver, standings, strict=True):
        entrants = {e.name: e for e in (*standing.ours, *standing.references)}
        for name, cell in zip(COLUMNS, cells.strip("|").split("|"), strict=True):
            score = f"{entrants[name].score:.3f}" if name in entrants else ""
            assert cell.strip().strip("*") == score, (n, name)
        for kind, cell in enumerate(by_kind[n].strip("|").split("|")):
            shown = [
                [points for f, points in entrants[name].points.items() if (f - 101) % KINDS == kind]
                for name in ("CAS-MORE-noise", "CMA-ES", BEST_2009)
            ]
            assert cell.strip() == " / ".join(f"{sum(p) / len(p):.3f}" for p in shown), (n, kind)


def test_the_scores_with_a_fifth_of_the_budget() -> None:
    text = " ".join((ROOT / "docs/noise.md").read_text().split())
    found = re.search(
        r"With 2000 n evaluations the scores are ([^a-z]*) and ([\d.]+) in 2, 3, 5, 10 and 20-D, "
        r"those of the lean variant ([^a-z]*) and ([\d.]+) in up to 10-D, "
        r"those of CMA-ES ([^a-z]*) and ([\d.]+)[.]",
        text,
    )
    assert found
    lists = zip(found.groups()[::2], found.groups()[1::2], strict=True)
    shown = [[*re.findall(r"[\d.]+\d", first), last.rstrip(".")] for first, last in lists]
    trials = trial_table.read(ROOT / "results/bbob-noisy/trials.csv.gz")
    for solver, scores in zip(("CAS-MORE-noise", "lean-noise", "CMA-ES"), shown, strict=True):
        own = [within(r, 2000 * r.dimension, r.instances) for r in trials if r.solver == solver]
        standings = league.standings([r for r in own if r is not None])
        assert scores == [f"{standing.ours[0].score:.3f}" for standing in standings]
