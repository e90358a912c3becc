"""The studies' tables against their traces; every figure from tiny data; the paper's claims."""

import csv
import math
from math import ceil, floor, log
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from casmore.algorithms.cas_more import CasMoreParameters
from casmore.algorithms.targets import robust
from casmore.atomic_io import read_json
from casmore.experiments.agreement import agree_on_config
from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.study_trial import FILE
from casmore.experiments.worker import run_unit
from casmore.reports import ReportError
from casmore.studies import (
    claims,
    figures,
    grid_search,
    hyper_parameters,
    normalization_illustration,
    path_illustration,
    tables,
)
from casmore.studies.convergence import ABLATION, ROSENBROCK
from casmore.studies.tables import End
from casmore.trace import Trace

Array = NDArray[np.float64]
RESULTS = Path(__file__).parents[2] / "results"
VARIED = ("epsilon_mean", "queue_size")


def solver(name: str, label: str) -> dict[str, object]:
    return {"name": name, "label": label, "restarts": "none"}


STUDIES = {
    "rosenbrock": {
        "functions": [8],
        "solvers": [solver("cma" if k == "CMA-ES" else "more", k) for k in ROSENBROCK],
    },
    "ablation": {"functions": [6, 8], "solvers": [solver("cas-more", k) for k in ABLATION]},
    "rosenbrock_grid": {
        "functions": [8],
        "grids": [{"name": "more", "label": "MORE", "values": {"epsilon": [0.1, 0.5]}}],
    },
    "sensitivity": {
        "functions": [1, 8],
        "variations": [{"label": "default", "defaults": list(VARIED), "factors": [0.5, 2]}],
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny studies in ``runs/``, their tables in ``results/``."""
    root = tmp_path_factory.mktemp("studies")
    for name, parts in STUDIES.items():
        shape = {"functions": parts["functions"], "dimension": 3, "runs": 3, "evaluations": 300}
        rest = {key: value for key, value in parts.items() if key != "functions"}
        config = check({"name": name, "study": shape, **rest})
        run = RunFolder(root / "runs" / name)
        run.root.mkdir(parents=True)
        agree_on_config(run, config)
        for work in make_plan(config):
            assert run_unit(work, run).error is None
        tables.summarise(run.root, root / "results")
    return root


def loaded(folder: Path, study: str, label: str, function: int) -> list[Trace]:
    run = folder / "runs" / study / "units" / label
    return [Trace.load(run / f"f{function:03d}_d03_i001_r{i}" / FILE) for i in range(3)]


def test_the_curves_are_quantiles_of_the_traces(folder: Path) -> None:
    curve = tables.read_curves(folder / "results" / "rosenbrock.csv")[2]
    runs = loaded(folder, "rosenbrock", "MORE", 8)
    assert (curve.label, curve.function, curve.runs) == ("MORE", 8, 3)
    for i in (0, 17, 60, 120):
        x = curve.evaluations[i]
        values = sorted(t["f_mean"][t["evaluations"] <= x][-1] for t in runs)
        entropies = sorted(t["entropy"][t["evaluations"] <= x][-1] for t in runs)
        # of three runs, the 5 % and 95 % quantiles are the extremes
        assert curve.f_mean[:, i] == pytest.approx(values, rel=1e-3)
        assert curve.entropy[:, i] == pytest.approx(entropies, rel=1e-3)


def test_the_ends_are_those_of_the_runs(folder: Path) -> None:
    for end in tables.read_ends(folder / "results" / "sensitivity_ends.csv"):
        label = end.label
        units = (folder / "runs" / "sensitivity" / "units" / label).glob(f"f{end.function:03d}*")
        records = [read_json(unit / "unit.json") for unit in units]
        spent = sum(record["evaluations"] for record in records)
        reached = sum(record["final_target_hit"] for record in records)
        assert (end.runs, end.reached) == (3, reached)
        assert end.ert == pytest.approx(spent / reached if reached else math.inf, rel=1e-3)
    assert {e.reached for e in tables.read_ends(folder / "results/sensitivity_ends.csv")} > {0}


def test_a_run_that_has_ended_keeps_its_last_value_and_nan_is_the_worst() -> None:
    trace = Trace()
    trace._loaded = {
        "evaluations": np.array([0.0, 10.0, 20.0]),
        "f_mean": np.array([3.0, math.nan, 1.0]),
    }
    x = np.array([0.0, 9.0, 10.0, 19.0, 20.0, 500.0])
    assert tables.at(trace, "f_mean", x).tolist() == [3, 3, math.inf, math.inf, 1, 1]


def test_an_unfinished_study_is_not_summarised(folder: Path, tmp_path: Path) -> None:
    config = check(read_json(folder / "runs" / "ablation" / "config.json"))
    run = RunFolder(tmp_path)
    agree_on_config(run, config)
    run_unit(make_plan(config)[0], run)
    with pytest.raises(ReportError, match="17 of 18 units"):
        tables.summarise(tmp_path, tmp_path)


@pytest.mark.parametrize("name", figures.FIGURES)
def test_each_figure_is_drawn_as_pdf_and_png(name: str, folder: Path) -> None:
    png, pdf = figures.make(name, folder / "results")
    assert (png.suffix, pdf.suffix) == (".png", ".pdf")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert png.stat().st_size > 10_000
    before = pdf.read_bytes()
    figures.make(name, folder / "results")
    assert pdf.read_bytes() == before  # the same data give the same file


@pytest.mark.parametrize("name", figures.TABLES)
def test_each_table_is_written(name: str, folder: Path) -> None:
    for path in figures.make(name, folder / "results"):
        assert len(path.read_text(encoding="utf-8").splitlines()) > 5


def test_a_figure_says_how_many_runs_and_which_quantiles(folder: Path) -> None:
    figure = figures.FIGURES["rosenbrock"](folder / "results")
    assert "3 runs each: median, 5 % and 95 % quantiles" in _texts(figure)
    assert all(ax.get_xlabel() == "evaluations" for ax in figure.axes)
    figure = figures.FIGURES["sensitivity"](folder / "results")
    assert "medians (10-D, 3 runs each)" in figure.get_supxlabel()


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_an_unknown_figure_and_missing_data_are_said(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="did you mean 'rosenbrock'"):
        figures.make("rosenbrok", tmp_path)
    with pytest.raises(ReportError, match="make study STUDY=ablation"):
        figures.make("ablation", tmp_path)


@pytest.mark.parametrize("entry", hyper_parameters.ENTRIES, ids=lambda entry: entry.name)
def test_the_tables_formulas_are_the_codes_defaults(entry: hyper_parameters.Entry) -> None:
    names = {"log": log, "floor": floor, "ceil": ceil, "max": max}
    for n in (*range(1, 50), 100, 333):
        expected = getattr(CasMoreParameters.default(n), entry.name)
        formula = entry.formula or str(getattr(CasMoreParameters.default(2), entry.name))
        assert eval(formula, {**names, "n": n}) == pytest.approx(expected, rel=1e-12)


def test_the_committed_table_is_the_codes() -> None:
    committed = (RESULTS / "hyper_parameters.md").read_text(encoding="utf-8")
    assert committed == hyper_parameters.markdown()


@pytest.mark.parametrize("seed", range(20))
def test_the_levels_drawn_are_those_of_the_normalisation(seed: int) -> None:
    y = normalization_illustration.data(seed)
    innermost = normalization_illustration.levels(y)[-1]
    kept = innermost.values[innermost.inside]
    values = robust(y)
    assert values.min() == pytest.approx(kept.min())
    assert values.max() == pytest.approx(kept.max())


def test_each_level_is_standardised() -> None:
    for level in normalization_illustration.levels(normalization_illustration.data()):
        assert level.values.mean() == pytest.approx(0, abs=1e-12)
        assert level.values.std() == pytest.approx(1)
        assert (np.abs(level.values[level.inside]) < 3).all()


def test_the_paths_drawn_are_short_as_desired_and_long() -> None:
    short, right, long = path_illustration.windows()
    assert short.ratio < 0.5
    assert right.ratio == pytest.approx(1, abs=0.1)
    assert long.ratio > 1.4


def end(label: str, reached: int, ert: float, value: float) -> End:
    return End(label, 8, "", 5, reached, ert, ert, value)


def test_variants_are_ranked_by_runs_at_the_target_then_speed_then_value() -> None:
    ends = [
        end("A_1", 0, math.inf, 1e-3),
        end("A_2", 0, math.inf, 1e-6),
        end("A_3", 4, 900.0, 1e-9),
        end("A_4", 5, 1000.0, 1e-9),
        end("B_1", 5, 990.0, 1e-9),
    ]
    groups = grid_search.by_algorithm(ends)
    assert [e.label for e in groups["A"]] == ["A_4", "A_3", "A_2", "A_1"]
    assert [e.label for e in groups["B"]] == ["B_1"]


def test_the_papers_claims_hold() -> None:
    found = claims.claims(RESULTS)
    assert len(found) == 6
    for claim in found:
        assert claim.holds, f"{claim.statement}: {claim.measured}"


def test_the_study_uses_the_winners_of_the_grid_search() -> None:
    groups = grid_search.by_algorithm(tables.read_ends(RESULTS / "rosenbrock_grid_ends.csv"))
    with (RESULTS / "rosenbrock_ends.csv").open(newline="", encoding="utf-8") as file:
        used = {row["label"]: row["settings"] for row in csv.DictReader(file)}
    for name, group in groups.items():
        assert used[name] == group[0].settings
