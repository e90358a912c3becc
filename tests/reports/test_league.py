"""The league beside scores computed from cocopp's ERTs, and beside published records."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from casmore.problems.suites import BBOB, BEST_2009, BEST_2016, NOISY
from casmore.reports import league, league_page
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.league import Standing
from casmore.reports.runtimes import Runtimes
from reports.logged import LoggedRun
from reports.pages import references as referred


@pytest.fixture(scope="module")
def standings(loaded: list[Runtimes]) -> list[Standing]:
    return league.standings(loaded)


@pytest.mark.filterwarnings("ignore")  # cocopp's, of instances that are not those of a year
def test_scores_are_those_of_cocopps_ert(run: LoggedRun, standings: list[Standing]) -> None:
    import_cocopp()
    from cocopp.pproc import DataSetList

    truth: dict[tuple[str, int], float] = {}
    for solver in ("first", "second"):
        for data in DataSetList(str(run.folder / "data" / solver)):
            worth = 0.0
            for ert in data.detERT([1e1, 1e0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7]):
                if math.isfinite(ert):
                    clipped = min(max(float(ert) / data.dim, 1.0), 1e4)
                    worth += 1 - math.log10(clipped) / 4
            key = (solver, int(data.dim))
            truth[key] = truth.get(key, 0.0) + worth / 7 / 24
    for standing in standings:
        for entrant in standing.ours:
            expected = truth[entrant.name, standing.dimension]
            assert 0 < expected < 0.1  # two functions of 24
            assert entrant.score == pytest.approx(expected, rel=1e-9)
            scores = [other.score for other in standing.archive]
            assert standing.rank(entrant) == 1 + sum(s > expected for s in scores)
            assert entrant.missing == [f for f in range(1, 25) if f not in (1, 6)]


def test_records_are_those_published() -> None:
    # of single algorithms, and of the virtual best ones; to three digits
    known = {
        2: (0.523, 0.592, 0.632),
        3: (0.471, 0.525, 0.575),
        5: (0.409, 0.461, 0.529),
        10: (0.385, 0.413, 0.491),
        20: (0.357, 0.377, 0.460),
        40: (0.315, 0.337, 0.389),
    }
    for n, expected in known.items():
        beside = {entrant.name: entrant.score for entrant in league._references(BBOB, n)}
        record = league._archive(n)[0].score
        found = (record, beside[BEST_2009], beside[BEST_2016])
        assert found == pytest.approx(expected, abs=5e-4)


def test_scores_of_the_best_with_noise_are_those_published() -> None:
    # of 2009 in 5, 10 and 20-D, and of 2009 to 2016 in 5-D, where these were measured before
    for n, expected in {5: 0.332, 10: 0.256, 20: 0.197}.items():
        beside = {entrant.name: entrant.score for entrant in league._references(NOISY, n)}
        assert list(beside) == [BEST_2016, BEST_2009]
        assert beside[BEST_2009] == pytest.approx(expected, abs=5e-4)
        assert n != 5 or beside[BEST_2016] == pytest.approx(0.370, abs=5e-4)


def test_a_solver_that_takes_the_record_is_first(standings: list[Standing]) -> None:
    standing = standings[0]
    best = league.Entrant("all at once", dict.fromkeys(range(1, 25), 1.0))
    worst = league.Entrant("never", dict.fromkeys(range(1, 25), 0.0))
    assert (best.score, standing.rank(best)) == (1.0, 1)
    assert (worst.score, standing.rank(worst)) == (0.0, standing.places)


def test_the_page_the_table_and_the_picture(standings: list[Standing], tmp_path: Path) -> None:
    league_page.write(tmp_path, "small", standings)
    page = (tmp_path / "league.html").read_text(encoding="utf-8")
    assert "3-D, function by function" in page
    assert "first in 3-D has data of f1, f6 only" in page
    local = referred(tmp_path / "league.html")
    assert local == {"league.csv", "league.png", "league.pdf"}
    assert all((tmp_path / name).exists() for name in local)
    with (tmp_path / "league.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    entrant = standings[1].ours[0]
    (row,) = (r for r in rows if (r["dimension"], r["name"]) == ("3", entrant.name))
    assert float(row["score"]) == pytest.approx(entrant.score, abs=1e-4)
    assert float(row["f6"]) == pytest.approx(entrant.points[6], abs=1e-4)
    assert row["f2"] == ""


def test_a_long_name_hides_no_number(standings: list[Standing]) -> None:
    own = standings[0].ours[0]
    standing = replace(standings[0], ours=(replace(own, name="a-name-of-forty-characters." * 2),))
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    league_page.print_places(console, [standing])
    text = console.export_text()
    cells = league.cells(standing, own)
    assert len(cells) == 8
    shown = " ".join(line.replace("│", " ") for line in text.splitlines() if "│" in line)
    for cell in (cells[0], *cells[2:]):
        assert f" {cell} " in shown


def test_the_places_are_printed(standings: list[Standing]) -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    league_page.print_places(console, standings)
    text = console.export_text()
    assert f"{standings[0].rank(standings[0].ours[0])} / 243" in text
    assert "Records: 2009 NELDERDOERR doerr (2-D), 2020 lq-CMA-ES Hansen (3-D)" in text
