import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from casmore.plotting import style
from casmore.reports import ecdf
from casmore.reports.runtimes import TARGETS, Runtimes
from reports.logged import LoggedRun


def of_solver(loaded: list[Runtimes], solver: str, dimension: int) -> list[Runtimes]:
    return [r for r in loaded if (r.solver, r.dimension) == (solver, dimension)]


def test_curve_counts_the_pairs_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    x, y = ecdf.curve(of_solver(loaded, "first", 3))
    trials = [t for f in (1, 6) for t in run.log["first", 3, f]]
    pairs = [trial.reached(target) for trial in trials for target in TARGETS]
    assert np.all(np.diff(x) > 0)
    for count in range(1, run.budget * 3 + 1):
        truth = sum(p is not None and p <= count for p in pairs) / len(pairs)
        steps = np.count_nonzero(x <= count / 3)
        assert (y[steps - 1] if steps else 0.0) == pytest.approx(truth)


def test_curve_gives_functions_equal_weight(loaded: list[Runtimes]) -> None:
    one, other = of_solver(loaded, "first", 2)
    fewer = replace(
        other,
        evaluations=other.evaluations[:, :1],
        instances=(1,),
        spent=other.spent[:1],
        restarts=other.restarts[:1],
    )
    last = ecdf.curve([one, fewer])[1][-1]
    parts = [np.mean(np.isfinite(r.evaluations)) for r in (one, fewer)]
    assert last == pytest.approx(np.mean(parts))


def test_curve_of_a_solver_that_reaches_nothing(loaded: list[Runtimes]) -> None:
    nothing = replace(loaded[0], evaluations=np.full((51, 3), math.nan))
    x, y = ecdf.curve([nothing])
    assert len(x) == len(y) == 0
    assert isinstance(ecdf.by_dimension([nothing], {2: 100.0}), Figure)


def shown(figure: Figure) -> dict[str, list[tuple[str, float]]]:
    """Color of each line and where it ends, by the titles of the panels."""
    return {
        ax.get_title(): [
            (to_hex(line.get_color()), float(np.asarray(line.get_ydata())[-1]))
            for line in ax.get_lines()
            if len(np.asarray(line.get_xdata())) > 1
        ]
        for ax in figure.axes
        if ax.get_visible()
    }


def test_figure_has_a_panel_for_each_dimension(loaded: list[Runtimes]) -> None:
    figure = ecdf.by_dimension(loaded, {2: 150.0, 3: 150.0})
    panels = shown(figure)
    assert list(panels) == ["2-D", "3-D"]
    for n in (2, 3):
        for i, (solver, (color, end)) in enumerate(
            zip(["second", "first"], panels[f"{n}-D"], strict=True)
        ):
            assert color == to_hex(style.line(i)["color"])
            assert end == pytest.approx(ecdf.curve(of_solver(loaded, solver, n))[1][-1])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["second", "first"]


def test_figure_says_what_is_in_it(loaded: list[Runtimes]) -> None:
    figure = ecdf.by_dimension(loaded, {2: 150.0, 3: 150.0})
    (note,) = figure.axes[0].texts
    assert note.get_text() == "2 functions, 51 targets\n3 trials each\nbudget 150$\\,n$"


def test_line_ends_at_the_budget(loaded: list[Runtimes]) -> None:
    figure = ecdf.by_dimension(of_solver(loaded, "first", 2), {2: 10.0})
    x, y = ecdf.curve(of_solver(loaded, "first", 2))
    ((_, end),) = shown(figure)["2-D"]
    assert end == y[np.count_nonzero(x <= 10) - 1] < y[-1]


def test_figure_has_a_panel_for_each_group(loaded: list[Runtimes]) -> None:
    figure = ecdf.by_group(loaded, 3, 150.0)
    panels = shown(figure)
    assert list(panels) == ["separable, 3-D", "moderate, 3-D"]
    sphere = [r for r in of_solver(loaded, "second", 3) if r.function == 1]
    assert panels["separable, 3-D"][0][1] == pytest.approx(ecdf.curve(sphere)[1][-1])


def test_no_data_of_that_dimension(loaded: list[Runtimes]) -> None:
    with pytest.raises(ValueError, match=r"no data in 5-D; there is some in \[2, 3\]"):
        ecdf.by_group(loaded, 5, 100.0)


def test_solvers_without_a_common_function(loaded: list[Runtimes]) -> None:
    first, other = loaded[0], replace(loaded[1], solver="other")
    assert first.function != other.function
    with pytest.raises(ValueError, match="no function in common in 2-D"):
        ecdf.by_group([first, other], 2, 100.0)


def test_lines_of_many_solvers_differ() -> None:
    looks = [(style.line(i)["color"], style.line(i)["linestyle"]) for i in range(28)]
    assert len(set(looks)) == 28


def test_saved_figures_are_the_same_each_time(loaded: list[Runtimes], tmp_path: Path) -> None:
    for name in ("one", "two"):
        style.save(ecdf.by_dimension(loaded, {2: 150.0, 3: 150.0}), tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
