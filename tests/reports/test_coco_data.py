"""COCO's files as we read them, beside a log of every value, and beside cocopp."""

import math
import shutil
from pathlib import Path

import cocoex
import numpy as np
import pytest
from numpy.typing import NDArray

from casmore.reports import ReportError, coco_data, run_data
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.runtimes import TARGETS, Runtimes
from reports import logged
from reports.logged import LoggedRun


def test_runtimes_are_those_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        truth = [[trial.reached(target) or math.nan for trial in trials] for target in TARGETS]
        np.testing.assert_array_equal(r.evaluations, truth)
        assert list(r.spent) == [len(trial.precisions) for trial in trials]
        assert r.instances == (1, 2, 3)


def test_expected_running_time_is_that_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        for target, ert in zip(TARGETS, r.ert, strict=True):
            reached = [trial.reached(target) for trial in trials]
            # a trial that fails costs all its evaluations, one that succeeds those until then
            spent = sum(
                len(t.precisions) if count is None else count
                for t, count in zip(trials, reached, strict=True)
            )
            successes = sum(count is not None for count in reached)
            assert ert == (pytest.approx(spent / successes) if successes else math.inf)


def test_successes_are_those_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        truth = sum(trial.reached(1e-8) is not None for trial in trials)
        assert (r.successes, r.trials) == (truth, 3)
    # all, some and none: else these tests would leave out a case
    assert {r.successes for r in loaded} == {3, 2, 1, 0}


@pytest.fixture(scope="session")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random search on the instances of 2009, each three times; the last trial is missing."""
    folder = tmp_path_factory.mktemp("repeated")
    suite = cocoex.Suite("bbob", "year:2009", "function_indices: 1,3 dimensions: 2")
    observer = cocoex.Observer("bbob", {"outer_folder": str(folder), "result_folder": "random"})
    rng = np.random.default_rng(1)
    for problem in suite:
        problem.observe_with(observer)
        for x in rng.uniform(-5, 5, (60, 2)):
            problem(x)
        problem.free()
    del observer, suite
    for info in (folder / "random").glob("*.info"):
        text = info.read_text()
        info.write_text(text[: text.rindex(", ")])
        (data,) = info.parent.glob(f"data_{info.stem.split('_')[-1]}/*.dat")
        data.write_text(data.read_text()[: data.read_text().rindex("%")])
    return folder / "random"


def cocopps(folder: Path) -> dict[tuple[int, int], tuple[NDArray[np.float64], list[float], int]]:
    """Evaluations, ERT and successes to all targets, from cocopp."""
    import_cocopp()
    from cocopp.pproc import DataSetList

    targets = TARGETS * (1 + 1e-9)
    return {
        (int(d.dim), int(d.funcId)): (
            np.array(d.detEvals(targets))[:, : len(d.instancenumbers)],
            [float(e) for e in d.detERT(list(targets))],
            int(d.detSuccesses([targets[-1]], raw_values=True)[0]),
        )
        for d in DataSetList(str(folder))
    }


@pytest.mark.filterwarnings("ignore")  # cocopp's, of instances that are not those of a year
def test_cocopp_reads_the_same(run: LoggedRun, repeated: Path) -> None:
    compared = 0
    for folder in (*run_data.solver_folders(run.folder), repeated):
        truth = cocopps(folder)
        for r in coco_data.read(folder):
            evaluations, ert, successes = truth[r.dimension, r.function]
            np.testing.assert_array_equal(r.evaluations, evaluations)
            np.testing.assert_allclose(r.ert, ert, rtol=1e-12)
            assert r.successes == successes
            compared += 1
    assert compared == 10
    assert {len(set(r.weights)) for r in coco_data.read(repeated)} == {2}


def test_targets_need_not_be_those_of_the_data_to_the_last_bit(
    run: LoggedRun, loaded: list[Runtimes], monkeypatch: pytest.MonkeyPatch
) -> None:
    # powers come out differently on another processor
    monkeypatch.setattr(coco_data, "TARGETS", np.nextafter(TARGETS, 0))
    for r, same in zip(loaded, run_data.load(run.folder), strict=True):
        np.testing.assert_array_equal(r.evaluations, same.evaluations)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda text: text + "17 0 cut sho", r"DIM2\.dat: line \d+ .*'17 0 cut sho'"),
        (
            lambda text: text + "17 0 +1.0.0 1.0 1.0",
            r"DIM2\.dat: line \d+ .*'17 0 \+1\.0\.0 1\.0 1\.0'",
        ),
        (
            lambda text: text[: text[:-1].rindex("\n") + 1],  # without its last line
            r"do not end at the evaluations that .*info names\n.*`casmore verify RUN` makes them",
        ),
        (lambda text: text[: text.rindex("%")], r"has 2 trials, where .*info names 3"),
        (lambda text: None, r"No such file .*dat"),
    ],
)
def test_damaged_data_are_named(
    damage: object, complaint: str, run: LoggedRun, tmp_path: Path
) -> None:
    folder = shutil.copytree(run.folder / "data/first", tmp_path / "first")
    data = folder / "data_f1/bbobexp_f1_DIM2.dat"
    changed = damage(data.read_text())  # type: ignore[operator]
    data.unlink() if changed is None else data.write_text(changed)
    with pytest.raises(ReportError, match=rf"first can't be read: .*{complaint}"):
        coco_data.read(folder)


def test_a_damaged_info_file_is_named(tmp_path: Path) -> None:
    made = logged.make(tmp_path / "run", ["a"], [1], [2], instances=1, budget=5)
    (info,) = made.folder.glob("data/a/*.info")
    text = info.read_text()
    info.write_text(text.replace("funcId", "funcI"))
    with pytest.raises(ReportError, match=r"f1\.info has an entry that is not COCO's"):
        run_data.load(made.folder)
    info.write_text(text.replace("\n", " ", 1))
    with pytest.raises(ReportError, match=r"f1\.info has 2 lines; entries have three"):
        run_data.load(made.folder)


def test_restarts_are_those_that_were_signalled(tmp_path: Path) -> None:
    suite = cocoex.Suite("bbob", "instances: 1-3", "function_indices: 1 dimensions: 2")
    observer = cocoex.Observer("bbob", {"outer_folder": str(tmp_path), "result_folder": "r"})
    for count, problem in enumerate(suite):
        problem.observe_with(observer)
        for _ in range(2 * count):
            problem([1.0, 1.0])
            observer.signal_restart(problem)
        problem([1.0, 1.0])
        problem.free()
    del observer, suite
    (r,) = coco_data.read(tmp_path / "r")
    assert list(r.restarts) == [0, 2, 4]
    next((tmp_path / "r").rglob("*.rdat")).unlink()
    (r,) = coco_data.read(tmp_path / "r")
    assert np.isnan(r.restarts).all()
