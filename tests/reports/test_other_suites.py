"""Reports of runs on suites other than bbob, beside cocopp's numbers."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from harness import config
from rich.console import Console

from casmore.experiments.merge import merge
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import run_unit
from casmore.problems.suites import NOISY
from casmore.reports import ReportError, build, league, own_part, run_data, trial_table
from casmore.reports.archive_entry import Run, pack
from casmore.reports.bbob import catalogue, ecdf_figure
from casmore.reports.bbob.scaling_figure import scaling
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.export import export
from casmore.reports.export_source import of_run
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, Runtimes, suite_of
from reports import logged
from reports.pages import references as referred

SUITES = {
    "bbob-noisy": {"functions": "101,107,122", "dimensions": [5]},
    "bbob-largescale": {"functions": "1,15", "dimensions": [20]},
    "bbob-boxed": {"functions": "1,20", "dimensions": [2]},
}


@pytest.fixture(scope="module", params=SUITES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the harness on each of the suites."""
    root = tmp_path_factory.mktemp("suites") / "run"
    suite = {"name": request.param, **SUITES[request.param], "instances": "1-3"}
    experiment = config(suite=suite, budget={"evaluations_per_dimension": 100}, solver="cma")
    folder, plan = RunFolder(root), make_plan(experiment)
    for work in plan:
        assert run_unit(work, folder).error is None
    folder.config.write_text(json.dumps(experiment.document()), encoding="utf-8")
    merge(folder, [work.unit for work in plan])
    return root


@pytest.fixture(scope="module")
def loaded(run: Path) -> list[Runtimes]:
    return run_data.load(run)


@pytest.mark.filterwarnings("ignore")  # cocopp's, of instances that are not those of a year
def test_runtimes_and_scores_are_cocopps(run: Path, loaded: list[Runtimes]) -> None:
    cocopp = import_cocopp()
    suite = suite_of(loaded)
    assert suite.name == run_data.config(run)["suite"]["name"]
    cocopp.testbedsettings.load_current_testbed(suite.name, cocopp.pproc.TargetValues)
    truth = {(d.dim, d.funcId): d for d in cocopp.pproc.DataSetList(str(run / "data/RANDOM"))}
    assert truth.keys() == {(r.dimension, r.function) for r in loaded}
    scores = dict.fromkeys((r.dimension for r in loaded), 0.0)
    for r in loaded:
        theirs = truth[r.dimension, r.function]
        ert = theirs.detERT([target * (1 + 1e-9) for target in ERT_TARGETS])
        np.testing.assert_allclose(r.ert[ERT_ROWS], ert, rtol=1e-9)
        assert theirs.nbRuns() == r.trials == 3
        worth = [1 - math.log10(min(max(e / r.dimension, 1), 1e4)) / 4 for e in ert]
        scores[r.dimension] += sum(worth) / len(worth) / len(suite.functions)
    for standing in league.standings(loaded):
        assert standing.ours[0].score == pytest.approx(scores[standing.dimension], rel=1e-9)
        assert standing.ours[0].score > 0
        assert [entrant.name for entrant in standing.references] == list(suite.best)


def test_the_report(run: Path, loaded: list[Runtimes], tmp_path: Path) -> None:
    suite = suite_of(loaded)
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    content = own_part.make(run, loaded, tmp_path, console)
    page = own_part.write_index(content, tmp_path)
    text = console.export_text()
    assert f"Scores on {suite.name}" in text
    assert "rank" not in text
    assert all(name in text for name in suite.best)
    for name in ("index.html", "league.html"):
        html = (tmp_path / name).read_text(encoding="utf-8")
        assert name == "league.html" or f"Scores on {suite.name}" in html
        missing = {link for link in referred(tmp_path / name) if not (tmp_path / link).exists()}
        assert missing <= {"cocopp.log"}
    assert page.name == "index.html"
    groups = {r.group for r in loaded}
    assert groups <= {group.name for group in suite.groups}
    rows = (tmp_path / "summary.csv").read_text(encoding="utf-8")
    assert all(group in rows for group in groups)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_cocopps_pages(run: Path, loaded: list[Runtimes], tmp_path: Path) -> None:
    page = build(run, out=tmp_path)
    comparison = tmp_path / "cocopp/comparison"
    everything = "nzall" if suite_of(loaded) is NOISY else "noiselessall"
    for r in loaded:
        ecdf = comparison / f"pprldmany_{r.dimension:02d}D_{everything}.svg"
        assert ecdf.stat().st_size > 5000
        assert (comparison / f"ppfigs_f{r.function:03d}.svg").stat().st_size > 5000
    pages = list(tmp_path.rglob("*.html"))
    assert page in pages
    for path in pages:
        missing = {name for name in referred(path) if not (path.parent / name).exists()}
        assert not missing, path
    # cocopp has no page for browsing the ECDFs of noisy functions
    assert (comparison / "pprldflex.html").exists() == (suite_of(loaded) is not NOISY)
    assert (comparison / "pprldflex-config.js").exists() == (suite_of(loaded) is not NOISY)
    # unpacked elsewhere
    log = (tmp_path / "cocopp.log").read_text(encoding="utf-8")
    package = str(Path(str(import_cocopp().__file__)).parent)
    folders = re.findall(r"archive extracted to folder (\S+)", log)
    assert bool(folders) == (suite_of(loaded) is NOISY)
    assert not any(folder.startswith(package) for folder in folders)


def test_the_table_keeps_the_suite(run: Path, loaded: list[Runtimes], tmp_path: Path) -> None:
    suite = suite_of(loaded)
    export([of_run(run)], tmp_path / suite.name)
    again = trial_table.read(tmp_path / suite.name / trial_table.FILE)
    assert suite_of(again) is suite
    assert f"# Results on {suite.name}\n" in (tmp_path / suite.name / "README.md").read_text()
    for ours, theirs in zip(loaded, again, strict=True):
        np.testing.assert_array_equal(ours.ert, theirs.ert)
    names = catalogue.names(tmp_path)
    assert f"{suite.name}/scaling" in names
    assert any("ert_ratios" in name for name in names) == bool(suite.best)
    if not suite.best:
        with pytest.raises(ReportError, match="no virtual best solver of bbob-boxed"):
            catalogue.make(f"{suite.name}/ert_ratios_02D", tmp_path)
    else:
        n = min(set(suite.dimensions) & {5, 20})
        markdown, _ = catalogue.make(f"{suite.name}/ert_ratios_{n:02d}D", tmp_path)
        year = suite.best[-1].removeprefix("best ")
        text = markdown.read_text(encoding="utf-8")
        assert text.startswith(f"ERT ratios to the best of {year} in {n}-D.")
        assert all(f"**{suite.title(r.function)}**" in text for r in loaded if r.dimension == n)


def test_figures(run: Path, loaded: list[Runtimes]) -> None:
    suite = suite_of(loaded)
    n = loaded[-1].dimension
    elsewhere = [replace(r, solver="elsewhere", dimension=n + 1) for r in loaded[:1]]
    figure = ecdf_figure.by_group([*elsewhere, *loaded], n)
    titles = [ax.get_title() for ax in figure.axes if ax.get_visible()]
    for group in suite.groups:
        assert any(title.startswith(group.name) for title in titles)
    assert len(titles) == (4 if suite is NOISY else 6)
    labels = {line.get_label() for line in figure.axes[0].get_lines()}
    assert (set(suite.best[-1:]) | {"RANDOM"}) <= labels
    assert "elsewhere" not in labels  # not run in this dimension
    assert [ax.get_title() for ax in scaling(loaded).axes if ax.get_visible()] == [
        suite.title(f) for f in dict.fromkeys(r.function for r in loaded)
    ]


def test_a_submission_names_the_suite(run: Path, loaded: list[Runtimes], tmp_path: Path) -> None:
    cocopp = import_cocopp()
    cocopp.testbedsettings.load_current_testbed(suite_of(loaded).name, cocopp.pproc.TargetValues)
    *_, description = pack([Run(run, run / "data")], tmp_path)
    text = description.read_text(encoding="utf-8")
    assert re.search(rf"suite: {suite_of(loaded).name}, \d functions in", text)


def test_suites_are_not_mixed(run: Path, loaded: list[Runtimes], tmp_path: Path) -> None:
    other = logged.make(tmp_path / "bbob", ["other"], [1], [2], instances=1, budget=5)
    with pytest.raises(ReportError, match=r"different suites \(bbob, bbob-.*treat each suite by"):
        export([of_run(run), of_run(other.folder)], tmp_path / "out")
    with pytest.raises(ValueError, match="data of one suite are expected, not of bbob-"):
        suite_of([*loaded, Runtimes("x", 1, 2, (1,), np.ones(1), np.ones((51, 1)))])
