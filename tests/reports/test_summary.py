import csv
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from casmore.reports import run_data, summary, unit_table
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, TARGETS, Runtimes
from casmore.reports.summary import ecdf_area
from casmore.reports.unit_table import Effort
from reports.logged import LoggedRun


def of(evaluations: list[list[float]], dimension: int = 2, **other: object) -> Runtimes:
    """Runtimes with these evaluations to some targets, in trials of 100 evaluations."""
    trials = len(evaluations[0])
    spent = np.full(trials, 100.0)
    blank = Runtimes("s", 1, dimension, tuple(range(trials)), spent, np.array(evaluations))
    return replace(blank, **other)  # type: ignore[arg-type]


def with_ert(*ert: float, trials: int = 1, **other: Any) -> Runtimes:
    """Runtimes whose ERT to the targets of the tables is this, and else unknown."""
    evaluations = np.full((51, trials), math.nan)
    evaluations[ERT_ROWS[: len(ert)]] = np.array(ert)[:, None]
    return of(evaluations.tolist(), **other)


def area_by_steps(pairs: list[float], dimension: int, budget: float) -> float:
    """Integrate the ECDF step by step: between two runtimes it is constant."""
    edges = sorted({1.0, budget} | {p / dimension for p in pairs if 1 < p / dimension < budget})
    area = 0.0
    for left, right in pairwise(edges):
        reached = sum(1 for p in pairs if p / dimension <= left)
        area += reached / len(pairs) * (math.log10(right) - math.log10(left))
    return area / math.log10(budget)


def test_area_is_that_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        pairs = [float(trial.reached(t) or math.nan) for trial in trials for t in TARGETS]
        truth = area_by_steps(pairs, r.dimension, run.budget)
        assert 0 < truth < 1
        assert ecdf_area(r, run.budget) == pytest.approx(truth, rel=1e-12)


@given(
    pairs=st.lists(st.one_of(st.integers(1, 3000).map(float), st.just(math.nan)), min_size=1),
    dimension=st.integers(1, 40),
    budget=st.floats(1.5, 1e4),
)
def test_area_is_that_of_the_steps(pairs: list[float], dimension: int, budget: float) -> None:
    area = ecdf_area(of([pairs], dimension), budget)
    assert 0 <= area <= 1
    assert area == pytest.approx(area_by_steps(pairs, dimension, budget), abs=1e-12)


@pytest.mark.parametrize(
    ("evaluations", "area"),
    [
        (1, 1.0),  # at once
        (2, 1.0),  # within n evaluations
        (20, 0.5),  # after 10 n of 100 n
        (200, 0.0),  # with the last evaluation
        (203, 0.0),  # by a last population that went beyond the budget
        (math.nan, 0.0),  # never
    ],
)
def test_area_of_one_pair(evaluations: float, area: float) -> None:
    assert ecdf_area(of([[evaluations]]), 100) == pytest.approx(area, abs=1e-15)


def test_area_of_a_budget_of_n_is_the_fraction_reached_within_n_evaluations() -> None:
    r = of([[1.0], [2.0], [3.0], [math.nan]], dimension=2)
    assert ecdf_area(r, 1) == pytest.approx(2 / 4)
    assert ecdf_area(r, 1 + 1e-9) == pytest.approx(2 / 4)


def test_area_needs_a_budget_beyond_its_start() -> None:
    with pytest.raises(ValueError, match=r"budget = 0.5 evaluations per dimension.*must be >= 1"):
        ecdf_area(of([[1.0]]), 0.5)


def test_csv_has_it_all(run: LoggedRun, loaded: list[Runtimes], tmp_path: Path) -> None:
    path = tmp_path / "reports" / "summary.csv"
    budgets, efforts = (
        run_data.budgets(run.folder, loaded),
        unit_table.efforts(unit_table.load(run.folder)),
    )
    summary.write_csv(path, loaded, budgets, efforts)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    # other people's scripts rely on these names and on their order
    assert path.read_text().splitlines()[0] == (
        "solver,dimension,function,group,trials,successes,"
        "ert_1e1,ert_1e0,ert_1e-1,ert_1e-2,ert_1e-3,ert_1e-5,ert_1e-7,"
        "ecdf_area,budget_per_dimension,evaluations,cpu_us_per_evaluation"
    )
    assert len(rows) == len(loaded) == 8
    for row, r in zip(rows, loaded, strict=True):
        assert (row["solver"], int(row["dimension"])) == (r.solver, r.dimension)
        assert (int(row["function"]), row["group"]) == (r.function, r.group)
        assert (int(row["trials"]), int(row["successes"])) == (r.trials, r.successes)
        for target, ert in zip(ERT_TARGETS, r.ert[ERT_ROWS], strict=True):
            name = f"ert_1e{round(math.log10(target))}"
            assert float(row[name]) == pytest.approx(ert, rel=1e-5)
        assert float(row["ecdf_area"]) == pytest.approx(ecdf_area(r, 150), abs=1e-6)
        assert float(row["budget_per_dimension"]) == 150
        assert int(row["evaluations"]) == efforts[r.solver, r.dimension, r.function].evaluations
        assert float(row["cpu_us_per_evaluation"]) == pytest.approx(30)


def test_csv_leaves_unknown_effort_empty(loaded: list[Runtimes], tmp_path: Path) -> None:
    path = tmp_path / "summary.csv"
    summary.write_csv(path, loaded[:1], {2: 100.0}, {})
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["evaluations"], row["cpu_us_per_evaluation"]) == ("", "")


def test_comparison_by_hand() -> None:
    named = [
        with_ert(10, 20, 40, solver="a", function=1, trials=2),
        with_ert(5, solver="a", function=2, trials=2),
        with_ert(20, 10, math.nan, 80, solver="b", function=1, trials=2),
        with_ert(45, solver="b", function=2, trials=2),
    ]
    named[2].evaluations[-1] = 90.0  # solved, in both trials
    efforts = {("a", 2, 1): Effort(100, 0.001), ("a", 2, 2): Effort(300, 0.007)}
    a, b = summary.compare(named, {2: 100.0}, efforts)
    assert (a.dimension, a.solver, a.functions) == (2, "a", 2)
    areas = [area_by_steps(list(r.evaluations.ravel()), 2, 100.0) for r in named]
    assert a.area == pytest.approx((areas[0] + areas[1]) / 2)
    assert b.area == pytest.approx((areas[2] + areas[3]) / 2)
    assert (a.solved_functions, a.solved_trials, a.trials) == (0, 0, 4)
    assert (b.solved_functions, b.solved_trials, b.trials) == (1, 2, 4)
    assert a.ert_ratio == 1
    # 20/10, 10/20 and 45/5 are the targets that both reach
    assert b.ert_ratio == pytest.approx(9 ** (1 / 3))
    assert a.microseconds == pytest.approx(20)
    assert math.isnan(b.microseconds)


def test_comparison_without_the_first_solver_or_anything_in_common() -> None:
    lines = summary.compare(
        [
            with_ert(1, solver="a"),
            with_ert(solver="b"),
            with_ert(3, solver="b", dimension=3),
        ],
        {2: 100.0, 3: 100.0},
        {},
    )
    assert [(line.dimension, line.solver) for line in lines] == [(2, "a"), (2, "b"), (3, "b")]
    assert lines[0].ert_ratio == 1
    assert math.isnan(lines[1].ert_ratio)  # no target that both reach
    assert math.isnan(lines[2].ert_ratio)  # nothing to compare with


def test_table_shows_the_comparison() -> None:
    line = summary.Line(
        dimension=5,
        solver="CAS-MORE",
        functions=24,
        area=0.45678,
        solved_functions=20,
        solved_trials=90,
        trials=120,
        ert_ratio=math.nan,
        microseconds=48.7,
    )
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(summary.table([line, replace(line, dimension=10)], console.width))
    text = console.export_text()
    row = next(shown for shown in text.splitlines() if "CAS-MORE" in shown)
    cells = [cell.strip() for cell in row.strip("│ ").split("│")]
    assert cells == ["5", "CAS-MORE", "0.457", "20 / 24", "90 / 120", "-", "49"]
    assert "that of CAS-MORE" in text
