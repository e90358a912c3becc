import json
from html.parser import HTMLParser
from itertools import accumulate, product
from pathlib import Path

import numpy as np
import pytest
from reports.logged import LoggedRun

from casmore.problems.suites import BBOB, BEST_2009
from casmore.reports import league, references
from casmore.reports.explore import page
from casmore.reports.explore.document import document
from casmore.reports.regret import regrets
from casmore.reports.runtimes import TARGETS, Runtimes

BUDGETS = {2: 150.0, 3: 150.0}


def test_trials_are_those_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    trials = document("run", loaded, BUDGETS, [])["trials"]["best"]
    for (solver, dimension, function), log in run.log.items():
        found = trials[solver][dimension][function]
        assert [instance for instance, *_ in found] == [1, 2, 3]
        for (_, spent, *gaps), trial in zip(found, log, strict=True):
            assert spent == len(trial.precisions)
            truth = [trial.reached(target) for target in TARGETS]
            assert list(accumulate(gaps)) == [count for count in truth if count is not None]


def test_reference_is_the_best_of_2009(loaded: list[Runtimes]) -> None:
    best = document("run", loaded, BUDGETS, [])["references"][BEST_2009]
    assert best.keys() == {2, 3}
    for n in (2, 3):
        assert best[n].keys() == {1, 6}
        for f in (1, 6):
            assert best[n][f] == pytest.approx(references.best(BBOB, BEST_2009)[n, f], rel=1e-5)


def test_league_has_the_points_of_each_function(loaded: list[Runtimes]) -> None:
    standings = league.standings(loaded)
    shown = document("run", loaded, BUDGETS, standings)["league"]
    for standing in standings:
        entries = shown[standing.dimension]["archive"]
        assert [name for name, *_ in entries] == [e.name for e in standing.archive]
        scores = [sum(p or 0.0 for p in points) / 24 for _, *points in entries]
        assert scores == pytest.approx([e.score for e in standing.archive], abs=1e-6)
        assert [name for name, *_ in shown[standing.dimension]["ours"]] == ["second", "first"]


class _Data(HTMLParser):
    """Collects the data in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "script" and ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.text += data


def test_no_name_ends_the_data(tmp_path: Path, loaded: list[Runtimes]) -> None:
    title = "</script><!-- & <b>µ"
    page.write(tmp_path, title, loaded, BUDGETS, league.standings(loaded))
    parser = _Data()
    parser.feed((tmp_path / "explore.html").read_text(encoding="utf-8"))
    assert json.loads(parser.text)["title"] == title


def test_the_paper_s_experiment_is_a_page_of_few_megabytes() -> None:
    """Six solvers, here the same one six times."""
    rng = np.random.default_rng(1)
    stored = {(r.dimension, r.function): r for r in references.peers() if r.solver == "CAS-MORE"}
    dimensions, instances = (2, 3, 5, 10, 20), range(1, 16)
    runtimes, recorded = [], []
    for n, f in product(dimensions, range(1, 25)):
        source = stored[min(n, 10), f]
        trials = rng.integers(source.trials, size=15)
        runtimes.append(
            Runtimes(
                solver="one",
                function=f,
                dimension=n,
                instances=tuple(instances),
                spent=source.spent[trials],
                evaluations=source.evaluations[:, trials],
            )
        )
        points = regrets.points(1e4 * n)  # to the largest budget, wherever the trials ended
        values = np.zeros(len(points))
        recorded.append(regrets.collect("one", f, n, instances, [(points, values, values)] * 15))
    found = document(
        "paper", runtimes, dict.fromkeys(dimensions, 1e4), league.standings(runtimes), recorded
    )
    trials_size, size = (len(json.dumps(part)) for part in (found["trials"], found))
    assert size + 5 * trials_size < 5e6
