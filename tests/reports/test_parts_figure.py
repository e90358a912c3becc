"""The figures of the league's results, of runs whose points and fractions are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from casmore.reports import ReportError, trial_table
from casmore.reports.bbob import catalogue, ecdf_figure
from casmore.reports.parts_figure import group_points, parts
from casmore.reports.runtimes import TARGETS, Runtimes


def reaching(solver: str, function: int, n: int, per_dimension: float) -> Runtimes:
    """Return two trials that reach all targets after so many evaluations per dimension."""
    spent = np.full(2, per_dimension * n)
    return Runtimes(solver, function, n, (1, 2), spent, np.tile(spent, (len(TARGETS), 1)))


@pytest.fixture
def runtimes() -> list[Runtimes]:
    # 1 - log10(ERT / n) / 4: 75 points after 10 n evaluations, 50 after 100 n, 25 after 1000 n
    return [
        reaching(solver, function, n, budget)
        for solver, budgets in (
            ("whole", {1: 10, 2: 100, 8: 100}),
            ("part", {1: 100, 2: 1000, 8: 10}),
        )
        for n in (5, 20)
        for function, budget in budgets.items()
    ]


def texts(figure: Figure) -> list[list[str]]:
    return [[text.get_text() for text in ax.texts] for ax in figure.axes]


def test_points_are_averaged_over_groups_and_all_functions(runtimes: list[Runtimes]) -> None:
    names, points = group_points([r for r in runtimes if r.dimension == 5], "whole")
    assert names == ["separable", "moderate", "all"]
    assert points == pytest.approx([62.5, 50.0, 175 / 3])


def test_a_row_has_the_points_that_are_lost_without_the_part(runtimes: list[Runtimes]) -> None:
    figure = parts(runtimes)
    minus = "\N{MINUS SIGN}"
    assert texts(figure) == [["62", "50", "58", "+25", f"{minus}25", "+8"]] * 2
    assert [ax.get_title() for ax in figure.axes] == ["5-D", "20-D"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["whole", "part"]


def test_a_single_solver_has_no_parts_to_compare(runtimes: list[Runtimes]) -> None:
    with pytest.raises(ReportError, match="only whole"):
        parts([r for r in runtimes if r.solver == "whole"])


def test_a_panel_shows_all_functions_of_a_dimension(runtimes: list[Runtimes]) -> None:
    figure = ecdf_figure.by_dimension(runtimes)
    for ax, n in zip(figure.axes, (5, 20), strict=True):
        assert ax.get_title().startswith(f"{n}-D")
        best, whole, part = ax.lines
        assert best.get_label() == "best 2009"
        for budget, fractions in ((30, [1 / 3, 1 / 3]), (300, [1, 2 / 3])):
            steps = [np.asarray(line.get_data(), dtype=float) for line in (whole, part)]
            found = [y[np.searchsorted(x, budget) - 1] for x, y in steps]
            assert found == pytest.approx(fractions)


def test_the_catalogue_has_them_for_their_folders(runtimes: list[Runtimes], tmp_path: Path) -> None:
    for folder in ("league", "league_ablation"):
        (tmp_path / folder).mkdir()
        trial_table.write(tmp_path / folder / trial_table.FILE, runtimes)
    names = ["league/ecdf", "league/ecdf_05D", "league/league", "league_ablation/parts"]
    assert catalogue.names(tmp_path) == names
    for name in names:
        assert catalogue.is_known(name)
        png, pdf = catalogue.make(name, tmp_path)
        assert png.stat().st_size > 0
        assert pdf == tmp_path / f"{name}.pdf"


def test_the_league_has_the_peers_of_the_results_on_bbob(
    runtimes: list[Runtimes], tmp_path: Path
) -> None:
    league = [r for r in runtimes if r.dimension == 5]
    whole = [r for r in runtimes if r.solver == "whole"]
    stored = [replace(r, solver=name) for name in ("CMA-ES", "MORE", "part") for r in whole]
    for folder, table in (("league", league), ("bbob", stored)):
        (tmp_path / folder).mkdir()
        trial_table.write(tmp_path / folder / trial_table.FILE, table)
    found = [(r.solver, r.dimension) for r in catalogue.league_trials(tmp_path)]
    assert found == [*((r.solver, 5) for r in league), *[("CMA-ES", 5)] * 3]
