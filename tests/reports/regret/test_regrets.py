"""The regret in a report, against a log of every value."""

import csv
import gzip
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from matplotlib.figure import Figure
from reports.logged import LoggedRun, Trial

from casmore.problems.regret import checkpoints
from casmore.problems.suites import BBOB
from casmore.reports import ReportError, ecdf, unit_table
from casmore.reports.bbob import catalogue
from casmore.reports.export import export
from casmore.reports.export_source import of_run
from casmore.reports.regret import regret_figure, regret_summary, regret_table
from casmore.reports.regret.regrets import (
    MEAN,
    SAMPLES,
    Regrets,
    average_log,
    collect,
    fraction,
    of_units,
)
from casmore.reports.runtimes import TARGETS, Runtimes


@pytest.fixture(scope="module")
def regrets(run: LoggedRun) -> list[Regrets]:
    return of_units(unit_table.load(run.folder))


def _median(trial: Trial, count: int) -> float:
    """Return the median of recent values; of an even number, the smaller one in the middle."""
    so_far = trial.precisions[:count]
    recent = sorted(so_far[-max(20, len(so_far) // 10) :])
    return recent[(len(recent) - 1) // 2]


def _of(regrets: list[Regrets], solver: str, dimension: int) -> list[Regrets]:
    return [r for r in regrets if (r.solver, r.dimension) == (solver, dimension)]


def test_the_fraction_counts_the_medians_of_the_log(run: LoggedRun, regrets: list[Regrets]) -> None:
    counts = np.array([1, 2, 10, 80, 100, 142, 447, 450])  # some trials end earlier
    trials = [t for f in (1, 6) for t in run.log["first", 3, f]]
    truth = [
        np.mean([_median(t, count) <= target for t in trials for target in TARGETS])
        for count in counts
    ]
    found = fraction(_of(regrets, "first", 3), SAMPLES, counts)
    assert found == pytest.approx(truth)
    assert truth[0] < truth[-1]


def test_the_mean_of_a_solver_whose_mean_is_its_best_point(
    loaded: list[Runtimes], regrets: list[Regrets]
) -> None:
    own = [r for r in loaded if (r.solver, r.dimension) == ("first", 2)]
    x, y = ecdf.curve(own)
    counts = np.array([1, 5, 16, 64, 200])
    usual = [y[np.count_nonzero(x <= count / 2) - 1] for count in counts]
    assert fraction(_of(regrets, "first", 2), MEAN, counts) == pytest.approx(usual)


def test_the_average_is_that_of_the_curve_on_a_logarithmic_axis(
    run: LoggedRun, regrets: list[Regrets]
) -> None:
    (regret,) = (r for r in _of(regrets, "second", 3) if r.function == 6)
    grid = np.geomspace(3, 450, 4000)
    for trial, found in zip(
        run.log["second", 3, 6], average_log(regret, SAMPLES, 450), strict=True
    ):
        values = [max(_median(trial, int(count)), 1e-8) for count in grid]
        # the curve between the points of the record is not known
        assert found == pytest.approx(np.mean(np.log10(values)), abs=0.1)


def test_the_table_keeps_two_decimals(regrets: list[Regrets], tmp_path: Path) -> None:
    path = tmp_path / regret_table.FILE
    regret_table.write(path, regrets)
    for one, two in zip(regrets, regret_table.read(path), strict=True):
        assert (one.solver, one.function, one.dimension) == (
            two.solver,
            two.function,
            two.dimension,
        )
        assert one.instances == two.instances
        np.testing.assert_array_equal(one.spent, two.spent)
        np.testing.assert_array_equal(one.evaluations, two.evaluations)
        for name in (SAMPLES, MEAN):
            exact = np.log10(np.maximum(getattr(one, name), 1e-8))
            np.testing.assert_allclose(np.log10(getattr(two, name)), exact, atol=0.00501)


@pytest.mark.parametrize("content", ["a,b\n1,2\n", ""])
def test_another_table_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / regret_table.FILE
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(ReportError, match="can't be read as a table of regret"):
        regret_table.read(path)


def test_a_damaged_record_is_named(run: LoggedRun) -> None:
    rows = unit_table.load(run.folder)
    del rows[0].record["regret"]["samples"][3]
    with pytest.raises(ReportError, match="regret in a unit's record of first on f1 in 2-D"):
        of_units(rows)


def test_units_of_older_versions_have_none(run: LoggedRun) -> None:
    rows = unit_table.load(run.folder)
    for row in rows:
        del row.record["regret"]
    assert of_units(rows) == []


def test_the_summary_is_the_mean_over_functions(regrets: list[Regrets], index: Path) -> None:
    lines = {
        (line.dimension, line.group, line.solver): line
        for line in regret_summary.lines(regrets, {2: 150.0, 3: 150.0}, BBOB)
    }
    assert {group for _, group, _ in lines} == {"separable", "moderate", "all"}
    of_functions = [average_log(r, SAMPLES, 450).mean() for r in _of(regrets, "first", 3)]
    assert lines[3, "separable", "first"].samples == pytest.approx(of_functions[0])
    assert lines[3, "all", "first"].samples == pytest.approx(fmean(of_functions))
    with (index.parent / "regret.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(lines)
    key = {"dimension": "3", "group": "all", "solver": "first"}
    (row,) = (row for row in rows if key.items() <= row.items())
    assert float(row["samples"]) == pytest.approx(lines[3, "all", "first"].samples, abs=1e-4)


def _heights(figure: Figure, title: str) -> list[float]:
    (ax,) = (ax for ax in figure.axes if ax.get_title() == title)
    return [float(np.asarray(line.get_ydata())[-1]) for line in ax.get_lines()]


def test_the_figure_shows_both_solvers(loaded: list[Runtimes], regrets: list[Regrets]) -> None:
    figure = regret_figure.by_dimension(loaded, regrets, {2: 150.0, 3: 150.0})
    expected = [fraction(_of(regrets, s, 3), SAMPLES, np.array([450])) for s in ("second", "first")]
    found = _heights(figure, "median of recent samples, 3-D")
    assert found == pytest.approx([float(value[0]) for value in expected])
    by_group = regret_figure.by_group(loaded, regrets, 3, 150.0)
    assert _heights(by_group, "all functions, 3-D")[1::2] == pytest.approx(found)


def test_the_stored_results_have_the_figures(
    run: LoggedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_SHOWN_DIMENSIONS", (3,))
    files = export([of_run(run.folder)], tmp_path / "bbob")
    assert tmp_path / "bbob" / regret_table.FILE in files
    names = [name for name in catalogue.names(tmp_path) if "regret" in name]
    assert names == ["bbob/regret", "bbob/regret_03D", "bbob/average_regret"]
    for name in names:
        assert all(path.stat().st_size > 500 for path in catalogue.make(name, tmp_path))
    assert "| 3 | all |" in (tmp_path / "bbob/average_regret.md").read_text()
    with pytest.raises(ReportError, match=r"the regret is known in \[2, 3\]-D"):
        catalogue.make("bbob/regret_07D", tmp_path)


def test_the_average_up_to_a_budget_of_n_is_the_value_there() -> None:
    record = (np.array([1.0, 2.0]), np.array([100.0, 10.0]), np.array([1e3, 1e4]))
    regret = collect("a", 1, 2, [1], [record])
    assert average_log(regret, SAMPLES, 2) == pytest.approx([1.0])
    assert average_log(regret, MEAN, 2) == pytest.approx([4.0])


def test_a_search_that_diverges_has_a_finite_average() -> None:
    grid = np.array(checkpoints(1000), dtype=float)
    record = (grid, np.full(len(grid), np.inf), np.full(len(grid), 1e-300))
    diverged = collect("a", 17, 5, [1], [record])
    assert average_log(diverged, SAMPLES, 1000) == pytest.approx([10.0])
    assert average_log(diverged, MEAN, 1000) == pytest.approx([-8.0])
