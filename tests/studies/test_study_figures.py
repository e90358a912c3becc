"""Every figure and table of the studies, made from tiny data."""

import csv
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from casmore.reports import ReportError
from casmore.studies import figures, grid_search
from casmore.studies.run_table import read_variants
from studies.synthetic import variant

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("name", figures.FIGURES)
def test_each_figure_is_drawn_as_pdf_and_png(name: str, folder: Path) -> None:
    png, pdf = figures.make(name, folder / "results")
    assert (png.suffix, pdf.suffix) == (".png", ".pdf")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert png.stat().st_size > 10_000


def test_the_same_data_give_the_same_file(folder: Path) -> None:
    _, pdf = figures.make("sensitivity", folder / "results")
    before = pdf.read_bytes()
    figures.make("sensitivity", folder / "results")
    assert pdf.read_bytes() == before


@pytest.mark.parametrize("name", figures.TABLES)
def test_each_table_is_written(name: str, folder: Path) -> None:
    for path in figures.make(name, folder / "results"):
        assert len(path.read_text(encoding="utf-8").splitlines()) > 5


def test_a_figure_says_how_many_runs_and_which_quantiles(folder: Path) -> None:
    figure = figures.FIGURES["rosenbrock"](folder / "results")
    assert "3 runs each: median, 5 % and 95 % quantiles" in _texts(figure)
    assert all(ax.get_xlabel() == "evaluations" for ax in figure.axes)
    figure = figures.FIGURES["sensitivity"](folder / "results")
    assert "95 % confidence intervals (10-D, 3 runs each)" in figure.get_supxlabel()


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_an_unknown_figure_and_missing_data_are_said(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="did you mean 'rosenbrock'"):
        figures.make("rosenbrok", tmp_path)
    with pytest.raises(ReportError, match="make study STUDY=ablation"):
        figures.make("ablation", tmp_path)


def test_variants_are_ranked_by_ert_then_value() -> None:
    variants = [
        variant("A_1", [], failures=2),
        variant("A_2", [12_000], reached=False, f_end=1e-3),
        variant("A_3", [900], failures=1),  # ERT 12900
        variant("A_4", [1000, 1100]),
        variant("B_1", [990]),
    ]
    groups = grid_search.by_algorithm(variants)
    assert [v.label for v in groups["A"]] == ["A_4", "A_3", "A_2", "A_1"]
    assert [v.label for v in groups["B"]] == ["B_1"]


def test_the_study_uses_the_winners_of_the_grid_search() -> None:
    tried = read_variants(RESULTS / "rosenbrock_grid_runs.csv")
    groups = grid_search.by_algorithm(tried)
    with (RESULTS / "rosenbrock_runs.csv").open(newline="", encoding="utf-8") as file:
        used = {row["label"]: row["settings"] for row in csv.DictReader(file)}
    assert set(groups) == {"MORE", "CA-MORE", "CAS-MORE"}
    for name, group in groups.items():
        assert used[name] == group[0].settings
