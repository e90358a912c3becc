"""The figures of the kept results, by name."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from reports.logged import LoggedRun

from casmore.plotting import style
from casmore.reports import ReportError
from casmore.reports.bbob import catalogue
from casmore.reports.bbob.ecdf_figure import by_dimension
from casmore.reports.bbob.heat_map import heat_map, ratio
from casmore.reports.bbob.scaling_figure import scaling
from casmore.reports.bbob.trial_note import trial_note
from casmore.reports.export import export
from casmore.reports.export_source import of_run
from casmore.reports.runtimes import Runtimes, within


@pytest.fixture(scope="module")
def results(run: LoggedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    export([of_run(run.folder)], folder / "bbob")
    return folder


def test_all_names_follow_from_the_table(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert catalogue.names(results) == [
        "bbob/ecdf",
        "bbob/scaling",
        "bbob/league",
        "bbob/scores",
        "bbob/scores_by_function",
        "bbob/second_vs_first",
        "bbob/regret",
        "bbob/average_regret",
    ]
    monkeypatch.setattr(catalogue, "_SHOWN_DIMENSIONS", (3,))
    assert catalogue.names(results)[:4] == [
        "bbob/ecdf",
        "bbob/ecdf_03D",
        "bbob/ecdf_functions_03D",
        "bbob/ert_ratios_03D",
    ]
    assert catalogue.names(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "ecdf_03D",
        pytest.param("ecdf_functions_02D", marks=pytest.mark.slow),
        "scaling",
        "league",
        "first_vs_second",
    ],
)
def test_figures_are_made_beside_the_table(name: str, results: Path) -> None:
    png, pdf = catalogue.make(f"bbob/{name}", results)
    assert (png, pdf) == (results / f"bbob/{name}.png", results / f"bbob/{name}.pdf")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_the_scores_are_a_table(results: Path) -> None:
    (table,) = catalogue.make("bbob/scores", results)
    assert "| n | functions | second | first | best 2009-16 | best 2009 |" in table.read_text()


def test_the_table_is_made_in_two_forms(results: Path) -> None:
    markdown, latex = catalogue.make("bbob/ert_ratios_02D", results)
    assert "| **f1 Sphere** |" in markdown.read_text(encoding="utf-8")
    assert r"\textbf{f1 Sphere}" in latex.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("bbob/nothing", "there is no figure bbob/nothing; there are ecdf, ecdf_05D"),
        ("bbob/second_vs_nobody", "there is no solver 'nobody'; there are second, first"),
        ("bbob/ecdf_05D", r"no trials in 5-D; there are some in \[2, 3\]-D"),
    ],
)
def test_an_unknown_name_is_refused(name: str, complaint: str, results: Path) -> None:
    with pytest.raises(ReportError, match=complaint):
        catalogue.make(name, results)


def test_without_the_table_the_message_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"casmore export RUN --out .*bbob"):
        catalogue.make("bbob/scaling", tmp_path)


def test_the_heat_map_shows_the_ratio_of_erts(loaded: list[Runtimes]) -> None:
    figure = heat_map(loaded, "second", "first")
    values = np.asarray(figure.axes[0].images[0].get_array())
    assert values.shape == (2, 24)
    of = {(r.solver, r.dimension, r.function): r for r in loaded}
    for i, n in enumerate((2, 3)):
        for f in (1, 6):
            a, b = of["second", n, f], of["first", n, f]
            row = max(k for k in range(51) if np.isfinite(a.ert[k]) and np.isfinite(b.ert[k]))
            assert ratio(a, b) == (a.ert[row] / b.ert[row], row)
            assert values[i, f - 1] == pytest.approx(a.ert[row] / b.ert[row])
    assert np.isnan(values[:, 1]).all()  # no data of f2


def test_the_scaling_figure_shows_the_ert(loaded: list[Runtimes]) -> None:
    figure = scaling(loaded)
    ax = figure.axes[0]
    assert ax.get_title() == "f1 Sphere"
    for i, solver in enumerate(("second", "first")):
        (line,) = (line for line in ax.get_lines() if line.get_label() == solver)
        assert to_hex(line.get_color()) == to_hex(style.line(i)["color"])
        ert = [
            r.ert[-1] / r.dimension if r.successes else np.nan
            for r in loaded
            if (r.solver, r.function) == (solver, 1)
        ]
        np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), ert)


def test_figures_of_the_same_table_are_the_same(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "bbob", tmp_path / "bbob")
    for name in ("bbob/scaling", "bbob/second_vs_first"):
        one, two = catalogue.make(name, results)[0], catalogue.make(name, tmp_path)[0]
        assert one.read_bytes() == two.read_bytes()


def test_figures_say_where_there_are_fewer_trials(loaded: list[Runtimes]) -> None:
    fewer = [
        (within(r, 100, (1, 2)) or r) if (r.solver, r.dimension) == ("first", 3) else r
        for r in loaded
    ]
    assert trial_note(loaded) == "3 trials of each function"
    assert trial_note(fewer) == "3 trials of each function; 2 in 3-D of first"
    alone = [single for r in loaded if (single := within(r, 100, (1,)))]
    assert trial_note(alone) == "1 trial of each function"
    assert "2 in 3-D of first" in scaling(fewer).get_supxlabel()
    titles = [ax.get_title() for ax in by_dimension(fewer).axes]
    assert titles == ["2-D   (3 trials)", "3-D   (3 trials; 2 of first)"]
