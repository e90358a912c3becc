"""The merged data against COCO's own sequential writing, byte for byte."""

import os
import shutil
import warnings
from pathlib import Path

import pytest
from harness import config, config_data, run_sequentially, tree

from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import check
from casmore.experiments.merge import check_merged, merge
from casmore.experiments.plan import make_plan
from casmore.experiments.store.checksums import write_checksums
from casmore.experiments.store.coco_append import append
from casmore.experiments.store.coco_files import BrokenDataError
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import run_unit


def _run_in_this_process(experiment: Config, root: Path, *, backwards: bool = False) -> RunFolder:
    folder = RunFolder(root)
    work = make_plan(experiment)
    for item in reversed(work) if backwards else work:
        assert run_unit(item, folder).error is None
    return folder


@pytest.mark.parametrize(
    "suite",
    [
        {"functions": "1,8,10", "dimensions": [2, 3], "instances": "1-3"},
        {"functions": "5,6", "dimensions": [2], "year": 2009},
        {"functions": [24], "dimensions": [5], "instances": "71,2"},
        {"functions": [3], "dimensions": [10, 20, 40], "instances": "1,2"},
        {"name": "bbob-noisy", "functions": "103,117", "dimensions": [2, 3], "instances": "2,1"},
        {"name": "bbob-largescale", "functions": [15], "dimensions": [20, 80], "instances": "1,2"},
        {"name": "bbob-boxed", "functions": "1,9", "dimensions": [2], "year": 2023},
    ],
    ids=[
        *("plain", "repeated instances", "instances out of order", "large dimensions"),
        *("noisy", "large-scale", "boxed"),
    ],
)
def test_units_merge_into_what_one_observer_would_have_written(
    suite: dict[str, object], tmp_path: Path
) -> None:
    experiment = config(suite=suite)
    folder = _run_in_this_process(experiment, tmp_path / "run", backwards=True)
    merged = merge(folder, [work.unit for work in make_plan(experiment)])["RANDOM"]
    sequential = run_sequentially(experiment, tmp_path)
    assert tree(merged) == tree(sequential)
    # the comparison is of something: restarts were logged too
    rows = [row for path in merged.rglob("*.rdat") for row in path.read_text().splitlines()]
    assert any(not row.startswith("%") for row in rows)


@pytest.mark.parametrize(
    "suite",
    [
        {"functions": "1,8", "dimensions": [2, 3], "instances": "1-3"},
        {"name": "bbob-noisy", "functions": "101", "dimensions": [2, 3], "instances": "1-3"},
    ],
    ids=["bbob", "bbob-noisy"],
)
def test_a_real_solver_merges_likewise(suite: dict[str, object], tmp_path: Path) -> None:
    data = config_data(suite=suite, budget={"evaluations_per_dimension": 400})
    data["solvers"] = [{"name": "cma", "label": "CMA-ES"}]
    experiment = check(data)
    assert isinstance(experiment, Config)
    folder = _run_in_this_process(experiment, tmp_path / "run")
    merged = merge(folder, [work.unit for work in make_plan(experiment)])["CMA-ES"]
    assert tree(merged) == tree(run_sequentially(experiment, tmp_path))


def test_runs_of_other_instances_and_dimensions_are_appended_likewise(tmp_path: Path) -> None:
    whole = {"functions": "1,8", "dimensions": [2, 3], "instances": "1-3"}
    parts = [
        {**whole, "dimensions": [2], "instances": "1,2"},
        {**whole, "dimensions": [2], "instances": "3"},
        {**whole, "dimensions": [3]},
    ]
    data = []
    for number, suite in enumerate(parts):
        experiment = config(suite=suite)
        folder = _run_in_this_process(experiment, tmp_path / str(number))
        data.append(merge(folder, [work.unit for work in make_plan(experiment)])["RANDOM"])
    joined = tmp_path / "joined"
    joined.mkdir()
    append(data, joined)
    assert tree(joined) == tree(run_sequentially(config(suite=whole), tmp_path))


def test_cocopp_reads_all_trials(tmp_path: Path) -> None:
    experiment = config(
        suite={"functions": "1,8", "dimensions": [2, 3], "instances": "1-5"},
        budget={"evaluations_per_dimension": 400},
    )
    folder = _run_in_this_process(experiment, tmp_path)
    plan = make_plan(experiment)
    merged = merge(folder, [work.unit for work in plan])["RANDOM"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no network, no wish for one
        import cocopp

        data = cocopp.load(str(merged))
    assert sorted((d.funcId, d.dim) for d in data) == [(1, 2), (1, 3), (8, 2), (8, 3)]
    for d in data:
        assert sorted(d.instancenumbers) == [1, 2, 3, 4, 5]
        assert d.algId == "RANDOM"
        target = 1.0
        # ERT by its definition, from the units' own files
        evaluations, successes = 0, 0
        for work in plan:
            if (work.unit.function, work.unit.dimension) == (d.funcId, d.dim):
                hit, last = _first_hit(folder.unit(work.unit), target)
                evaluations += last if hit is None else hit
                successes += hit is not None
        assert successes > 0
        assert d.detERT([target])[0] == pytest.approx(evaluations / successes)


def _first_hit(unit: Path, target: float) -> tuple[int | None, int]:
    (data,) = unit.glob("*/*.dat")
    rows = [line.split() for line in data.read_text().splitlines() if not line.startswith("%")]
    hits = [int(row[0]) for row in rows if float(row[2]) <= target]
    return (hits[0] if hits else None), int(rows[-1][0])


def test_nothing_is_written_when_nothing_changed(tmp_path: Path) -> None:
    experiment = config(suite={"functions": "1", "dimensions": [2], "instances": "1-2"})
    folder = _run_in_this_process(experiment, tmp_path)
    units = [work.unit for work in make_plan(experiment)]
    merged = merge(folder, units)["RANDOM"]
    before = os.stat(merged)
    merge(folder, units)
    assert os.stat(merged).st_ino == before.st_ino


def test_a_part_merges_and_is_replaced_when_more_is_there(tmp_path: Path) -> None:
    experiment = config()
    plan = make_plan(experiment)
    units = [work.unit for work in plan]
    folder = RunFolder(tmp_path / "run")
    assert merge(folder, units) == {}
    for work in plan[::2]:
        run_unit(work, folder)
    part = tree(merge(folder, units)["RANDOM"])
    for work in plan[1::2]:
        run_unit(work, folder)
    whole = tree(merge(folder, units)["RANDOM"])
    assert whole == tree(run_sequentially(experiment, tmp_path))
    assert len(b"".join(part.values())) < len(b"".join(whole.values()))
    assert list((tmp_path / "run" / "private").glob("*/*")) == []


def test_units_that_cocopp_would_not_merge_are_refused(tmp_path: Path) -> None:
    experiment = config(suite={"functions": "1", "dimensions": [2], "instances": "1-2"})
    folder = _run_in_this_process(experiment, tmp_path)
    units = [work.unit for work in make_plan(experiment)]
    (info,) = folder.unit(units[1]).glob("*.info")
    info.write_text(info.read_text().replace("coco_version = '", "coco_version = '9"))
    write_checksums(folder.unit(units[1]))
    with pytest.raises(BrokenDataError, match=r"f001_d02_i002_r0 and .* do not fit together"):
        merge(folder, units)
    assert not (folder.data / "RANDOM").exists()


def test_a_run_can_be_merged_elsewhere_and_stays_as_it_is(tmp_path: Path) -> None:
    experiment = config(suite={"functions": "1", "dimensions": [2], "instances": "1-2"})
    folder = _run_in_this_process(experiment, tmp_path / "run")
    units = [work.unit for work in make_plan(experiment)]
    before = tree(folder.root)
    elsewhere = merge(folder, units, place=RunFolder(tmp_path / "elsewhere"))["RANDOM"]
    assert elsewhere == tmp_path / "elsewhere/data/RANDOM"
    assert tree(folder.root) == before
    assert not folder.data.exists()
    assert tree(elsewhere) == tree(merge(folder, units)["RANDOM"])


def test_data_whose_units_are_all_gone_are_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solvers = [{"name": "random-search", "label": label} for label in ("RANDOM", "OTHER")]
    experiment = config(
        suite={"functions": "1", "dimensions": [2], "instances": "1-2"}, solvers=solvers
    )
    folder = _run_in_this_process(experiment, tmp_path)
    plan = make_plan(experiment)
    units = [work.unit for work in plan]
    data = tree(merge(folder, units)["OTHER"])
    shutil.rmtree(folder.units / "OTHER")
    assert check_merged(folder, units).outdated == ("OTHER",)
    assert merge(folder, units).keys() == {"RANDOM"}
    assert f"OTHER has no units left; its data: {folder.quarantine}" in capsys.readouterr().err
    assert not (folder.data / "OTHER").exists()
    (aside,) = (folder.quarantine / "OTHER").iterdir()
    assert tree(aside) == data
    assert check_merged(folder, units).outdated == ()
    for work in plan:
        if work.unit.label == "OTHER":
            run_unit(work, folder)
    assert tree(merge(folder, units)["OTHER"]) == data


def test_data_without_any_units_stay(tmp_path: Path) -> None:
    """Data may be copied without the units, which take more room."""
    experiment = config(suite={"functions": "1", "dimensions": [2], "instances": "1-2"})
    folder = _run_in_this_process(experiment, tmp_path)
    units = [work.unit for work in make_plan(experiment)]
    data = tree(merge(folder, units)["RANDOM"])
    shutil.rmtree(folder.units)
    assert merge(folder, units) == {}
    assert tree(folder.data / "RANDOM") == data
