"""One unit, run in this process: what is published, and what is not."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from harness import config

from casmore.experiments.manifest import versions
from casmore.experiments.plan import make_plan
from casmore.experiments.shard import WHOLE
from casmore.experiments.store.coco_files import BrokenDataError, check_trial
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.work_unit import Work
from casmore.experiments.worker import Workplace, run_batch, run_unit
from casmore.solvers import registry


@pytest.fixture
def work() -> Work:
    return make_plan(config())[0]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    work = make_plan(config())[0]
    assert run_unit(work, folder).error is None
    return folder.unit(work.unit)


def test_the_record(finished: Path) -> None:
    record = json.loads((finished / "unit.json").read_text())
    assert (record["label"], record["function"], record["dimension"]) == ("RANDOM", 1, 2)
    assert (record["instance"], record["repeat"]) == (1, 0)
    assert record["evaluations"] == record["budget"] == 120
    assert record["final_target_hit"] is False
    # populations of 5, then 10: the second restart is cut off by the budget
    assert record["restarts"] == 1
    assert record["stop_reasons"] == [
        {"no progress in f": 10.0},
        {"budget exhausted": 120.0},
    ]
    assert record["wall_seconds"] > 0
    assert record["cpu_seconds"] > 0
    assert record["seed_entropy"][0] == "7"
    assert record["config"] == config().digest
    assert {"casmore", "numpy", "coco-experiment"} <= set(record["versions"])
    rows = (finished / "data_f1/bbobexp_f1_DIM2.tdat").read_text().splitlines()
    assert record["best_value"] == pytest.approx(float(rows[-1].split()[4]), rel=1e-9)
    # COCO's log gives the best precision after the last evaluation
    regret = record["regret"]
    assert regret["evaluations"][-1] == 120
    assert min(row[0] for row in regret["samples"]) == pytest.approx(
        float(rows[-1].split()[2]), rel=1e-5
    )


def test_the_versions_of_the_packages_of_all_solvers_are_recorded() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = {solver.extra for solver in registry.registered() if solver.extra}
    needed = {
        re.split("[>=<]", requirement)[0]
        for extra in extras
        for requirement in project["optional-dependencies"][extra]
    }
    assert {"cma", "cmaes"} <= needed <= versions().keys()


def test_restarts_that_a_solver_does_by_itself_are_logged(tmp_path: Path) -> None:
    suite = {"functions": "24", "dimensions": [2], "instances": "1"}
    solver = {"name": "auto", "restarts": "none", "settings": {"lower": -5.0, "upper": 5.0}}
    work = make_plan(
        config(suite=suite, solvers=[solver], budget={"evaluations_per_dimension": 400})
    )[0]
    folder = RunFolder(tmp_path)
    assert run_unit(work, folder).error is None
    unit = folder.unit(work.unit)
    record = json.loads((unit / "unit.json").read_text())
    assert record["restarts"] > 1
    (logged,) = unit.rglob("*.rdat")
    rows = [row for row in logged.read_text().splitlines() if not row.startswith("%")]
    assert len(rows) == record["restarts"]


def test_the_first_warnings_are_in_the_record_once(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    plan = make_plan(config(solver="odd_solvers:Warns"))
    for work in (plan[0], plan[1], plan[-1]):
        assert run_unit(work, folder).error is None
        found = json.loads(folder.sidecar(work.unit).read_text())["warnings"]
        assert found[:3] == [f"{work.unit.dimension}-D is little", "step 5", "step 10"]
        assert len(found) == len(set(found)) <= 20


def test_the_same_unit_gives_the_same_data(finished: Path, work: Work, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    run_unit(work, folder)
    for path in finished.rglob("*.*dat"):
        again = folder.unit(work.unit) / path.relative_to(finished)
        assert again.read_bytes() == path.read_bytes()


def test_a_published_unit_is_not_replaced(work: Work, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    run_unit(work, folder)
    before = folder.sidecar(work.unit).stat().st_ino
    assert run_unit(work, folder).error is None
    assert folder.sidecar(work.unit).stat().st_ino == before
    assert folder.leftovers() == []


def test_a_solver_that_raises_no_ordinary_exception_fails_its_unit_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.session() as token:
        plan = make_plan(config(solver="odd_solvers:RefusesIn3D"))
        outcomes = run_batch(plan, Workplace(tmp_path, WHOLE, token))
    errors = {outcome.unit.dimension: outcome.error for outcome in outcomes}
    assert len(outcomes) == len(plan)
    assert errors == {2: None, 3: "KeyboardInterrupt: not in 3-D"}
    failures = [json.loads(folder.failure(unit).read_text()) for unit in folder.failed()]
    assert len(failures) == 6
    assert all("in tell" in failure["traceback"] for failure in failures)


def test_a_long_error_is_shortened_to_a_line(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "the output of a program:\n  " + "line\n" * 200

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr("casmore.experiments.worker.registry.factory", fail)
    folder = RunFolder(tmp_path)
    error = run_unit(work, folder).error
    assert error is not None
    assert error.startswith("RuntimeError: the output of a program: line line ")
    assert len(error) < 600
    assert text in json.loads(folder.failure(work.unit).read_text())["traceback"]


def test_a_unit_with_broken_data_is_not_published(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # an observer that loses an evaluation: COCO's data are then not what was run
    from casmore.problems.bbob import ObservedProblem

    monkeypatch.setattr(
        ObservedProblem, "evaluations", property(lambda self: self._problem.evaluations + 1)
    )
    folder = RunFolder(tmp_path)
    outcome = run_unit(work, folder)
    assert outcome.error is not None
    assert "BrokenDataError" in outcome.error
    assert not folder.is_published(work.unit)
    assert "BrokenDataError" in json.loads(folder.failure(work.unit).read_text())["traceback"]
    monkeypatch.undo()
    assert run_unit(work, folder).error is None
    assert not folder.failure(work.unit).exists()


@pytest.mark.parametrize(
    ("total", "free", "fits"), [(2**40, 2**23, True), (2**40, 2**23 - 1, False), (0, 0, True)]
)
def test_a_trial_needs_room_on_the_disk(
    total: int, free: int, fits: bool, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(shutil.disk_usage(tmp_path))(total, total - free, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    outcome = run_unit(work, RunFolder(tmp_path))
    assert (outcome.error is None) == fits
    assert fits or "no space left on the disk" in (outcome.error or "")


def _cut(path: Path, characters: int) -> None:
    path.write_text(path.read_text()[:-characters])


def _lose_line(path: Path, number: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    del lines[number]
    path.write_text("".join(lines))


def _join_lines(path: Path) -> None:
    """Lose all of the first line but its first character: a full disk does that."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1][0] + lines[2], *lines[3:]]))


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda f: _cut(f / "data_f1/bbobexp_f1_DIM2.dat", 3), "the last line is cut short"),
        (
            lambda f: _lose_line(f / "data_f1/bbobexp_f1_DIM2.tdat", -1),
            "goes from evaluation 1 to 112, not",
        ),
        (lambda f: (f / "data_f1/bbobexp_f1_DIM2.tdat").unlink(), "tdat is missing"),
        (lambda f: (f / "data_f1/bbobexp_f1_DIM2.dat").write_text(""), "the last line is cut"),
        (lambda f: _lose_line(f / "data_f1/bbobexp_f1_DIM2.dat", 0), "has no header"),
        (lambda f: _lose_line(f / "data_f1/bbobexp_f1_DIM2.dat", 1), "goes from evaluation 2 to"),
        (lambda f: _lose_line(f / "data_f1/bbobexp_f1_DIM2.rdat", 1), "has 0 lines of data for 1"),
        (lambda f: (f / "data_f1/bbobexp_f1_DIM2.mdat").write_text(""), "mdat: the last line"),
        (lambda f: (f / "data_f1/bbobexp_f1_DIM2.mdat").write_text("% f\n"), "begins with '% f'"),
        (lambda f: _join_lines(f / "data_f1/bbobexp_f1_DIM2.tdat"), "out of order, the line '3"),
        (lambda f: _cut(f / "bbobexp_f1.info", 1), "names the trials"),
        (lambda f: _cut(f / "bbobexp_f1.info", 12), "names the trials"),
        (lambda f: (f / "bbobexp_f1.info").unlink(), "has 0 .info files"),
        (lambda f: (f / "bbobexp_f1.info").write_text("one\n"), "has 1 lines; entries have three"),
    ],
)
def test_damaged_data_are_seen(
    damage: object, complaint: str, finished: Path, tmp_path: Path
) -> None:
    unit = tmp_path / "unit"
    shutil.copytree(finished, unit)
    check_trial(unit, dimension=2, instance=1, evaluations=120, restarts=1)
    assert callable(damage)
    damage(unit)
    with pytest.raises(BrokenDataError, match=complaint):
        check_trial(unit, dimension=2, instance=1, evaluations=120, restarts=1)


def test_a_line_that_lost_a_number_is_seen(finished: Path, tmp_path: Path) -> None:
    unit = tmp_path / "unit"
    shutil.copytree(finished, unit)
    data = unit / "data_f1/bbobexp_f1_DIM2.tdat"
    head, first, second, *rest = data.read_text().splitlines()
    data.write_text("\n".join([head, first, second.rpartition(" ")[0], *rest]) + "\n")
    with pytest.raises(BrokenDataError, match="7 numbers are expected in the line"):
        check_trial(unit, dimension=2, instance=1, evaluations=120, restarts=1)


@pytest.mark.parametrize(
    "wrong", [{"instance": 2}, {"evaluations": 119}, {"dimension": 3}, {"restarts": 2}]
)
def test_data_of_another_trial_are_seen(wrong: dict[str, int], finished: Path) -> None:
    right = {"dimension": 2, "instance": 1, "evaluations": 120, "restarts": 1}
    with pytest.raises(BrokenDataError):
        check_trial(finished, **{**right, **wrong})
