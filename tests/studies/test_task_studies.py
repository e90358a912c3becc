"""Studies on tasks: tables against runs made up, claims against a known truth, figures."""

import shutil
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from casmore.experiments import runner
from casmore.experiments.config.check import check
from casmore.experiments.store.run_folder import RunFolder
from casmore.problems.episodic import TASKS
from casmore.reports.report_error import ReportError
from casmore.studies import figures
from casmore.studies.confidence import Verdict
from casmore.studies.episodic import task_claims, task_figures, task_pictures, task_tables
from casmore.studies.summarize import summarize
from casmore.trace import Trace


class MadeUp(Trace):
    """A trace of made-up columns."""

    def __init__(self, **columns: Any) -> None:
        super().__init__()
        self._loaded = {name: np.array(values, dtype=float) for name, values in columns.items()}


def test_a_row_describes_a_run() -> None:
    n = 101  # iterations of 10 episodes, and the start
    rising = np.linspace(0, 1, n)
    trace = MadeUp(
        evaluations=10 * np.arange(n),
        f_mean=-np.where(np.arange(n) < 60, 2.0, 1.0),
        f_samples=np.r_[np.nan, -rising[1:]],
        success_samples=np.r_[np.nan, rising[1:]],
        collision_samples=np.r_[np.nan, 1 - rising[1:]],
        collision_mean=np.arange(n) >= 76,
    )
    row = task_tables.describe("A", 3, trace)
    assert (row.label, row.run, row.evaluations) == ("A", 3, 1000)
    assert (row.best_early, row.best, row.return_mean) == pytest.approx((2, 2, 1))
    assert row.return_samples == row.success == pytest.approx(rising[-10:].mean())
    assert row.collision == pytest.approx(1 - row.success)
    assert row.falls == pytest.approx(25 / 51)  # of the iterations 50 to 100


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished study."""
    solvers = [
        {"name": name, "label": label, "restarts": "none", "population_size": 20}
        for name, label in (("cas-more", "CAS-MORE"), ("cma", "CMA-ES"))
    ]
    config = check(
        {
            "name": "hole_reaching_noisy",
            "study": {"task": "casmore/HoleReaching-Noisy-v0", "runs": 2, "evaluations": 200},
            "solvers": solvers,
        }
    )
    folder = tmp_path_factory.mktemp("study")
    runner.run(config, folder, workers=1)
    return folder


def test_tables_are_of_the_traces(study: Path, tmp_path: Path) -> None:
    paths = summarize(study, tmp_path)
    assert [p.name.rpartition("_")[2] for p in paths] == ["runs.csv", "curves.csv", "solution.csv"]
    runs, curves = task_tables.read_task_runs(paths[0]), task_tables.read_task_curves(paths[1])
    assert list(runs) == list(curves) == ["CAS-MORE", "CMA-ES"]
    traces = [Trace.load(path) for path in sorted(study.glob("units/CMA-ES/*/trace.npz"))]
    last = [-trace["f_samples"][-1] for trace in traces]
    assert [run.return_samples for run in runs["CMA-ES"]] == pytest.approx(last, rel=1e-4)
    curve = curves["CMA-ES"]
    assert curve.runs == 2
    assert curve.evaluations[-1] == 200
    assert curve.values["return_samples"][:, -1] == pytest.approx(
        [min(last), min(last), max(last)], rel=1e-3
    )
    solution = task_tables.read_solution(paths[2])
    assert any(np.allclose(solution, t["mean"][-1], rtol=1e-4) for t in traces) or any(
        np.allclose(solution, Trace.load(path)["mean"][-1], rtol=1e-4)
        for path in study.glob("units/CAS-MORE/*/trace.npz")
    )


def test_a_study_that_is_not_finished(study: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(study, copied)
    folder = RunFolder(copied)
    shutil.rmtree(next(iter(folder.root.glob("units/CMA-ES/*"))))
    with pytest.raises(ReportError, match="1 of 4 units"):
        summarize(copied, tmp_path)
    paths = summarize(copied, tmp_path, partial=True)
    runs = task_tables.read_task_runs(paths[0])
    assert {label: len(group) for label, group in runs.items()} == {"CAS-MORE": 2, "CMA-ES": 1}
    shutil.rmtree(folder.root / "units/CMA-ES")
    with pytest.raises(ReportError, match="no run of CMA-ES"):
        summarize(copied, tmp_path, partial=True)


def test_a_run_that_has_ended_keeps_the_mean_of_its_last_point() -> None:
    evaluations, values = np.arange(0, 61, 10.0), np.array([np.nan, 1, 2, 3, 4, 5, 7])
    points = task_tables._binned(evaluations, values, np.arange(0, 101, 20.0))
    assert points.tolist() == [1.5, 3.5, 6, 6, 6]
    points = task_tables._binned(evaluations, values, np.arange(0, 21, 5.0))
    assert points.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("name", ["hole_reaching_noisy", "hole_reaching_penalty"])
def test_figures_are_drawn_from_the_tables(name: str, study: Path, tmp_path: Path) -> None:
    for path in summarize(study, tmp_path):
        if name.endswith("penalty"):  # returns are negative there
            path.write_text(path.read_text().replace(",0.", ",-0.").replace(",1.", ",-1."))
        path.rename(path.with_name(path.name.replace("hole_reaching_noisy", name)))
    drawn = figures.make(name, tmp_path)
    assert all(path.stat().st_size > 5000 for path in drawn)
    with pytest.raises(ReportError, match="make study STUDY=beer_pong"):
        figures.make("beer_pong", tmp_path)


def test_a_strobe_shows_what_has_moved() -> None:
    background = np.full((4, 9, 3), 200, dtype=np.uint8)
    frames = [background.copy() for _ in range(8)]
    for i, frame in enumerate(frames):
        frame[1, 2 * min(i, 4)] = 10 * min(i, 4)  # a dot on its way; half of the time it rests
    composed = task_pictures.stroboscopic(frames, background)
    expected = np.full((4, 9, 3), 200)
    expected[1, ::2] = 10 * np.arange(5)[:, np.newaxis]
    assert np.array_equal(composed, expected)


def test_the_background_of_a_mujoco_scene_has_no_moving_bodies() -> None:
    env = gymnasium.make("casmore/TableTennis-v0", render_mode="rgb_array")
    env.reset(seed=1)
    frame = np.asarray(env.render()).astype(int)
    background = task_pictures.background(env.unwrapped, [])
    differs = np.abs(frame - background).sum(axis=2) > 100
    assert 0.005 < differs.mean() < 0.2  # arm, bat and ball
    assert np.array_equal(frame, np.asarray(env.render()))  # they are visible again
    env.close()


def test_a_film_strip_shows_an_episode(study: Path, tmp_path: Path) -> None:
    summarize(study, tmp_path)
    figure = task_pictures.film_strip(tmp_path, "hole_reaching_noisy", pictures=3)
    first, _, last = (np.asarray(ax.images[0].get_array()) for ax in figure.axes)
    assert first.shape == last.shape == (480, 480, 3)
    assert not np.array_equal(first, last)


def task_run(label: str, run: int, **changes: float) -> task_tables.TaskRun:
    whole: dict[str, float] = {
        "best_early": 1.5,
        "best": 1.9,
        "return_mean": 1.9,
        "return_samples": 1.8,
        "success": 0.9,
        "collision": 0.1,
        "falls": 0.0,
        **changes,
    }
    return task_tables.TaskRun(label, run, evaluations=1000, **whole)


def judged(statement: str, study: str, **runs: dict[str, float]) -> Verdict:
    """Return the verdict on a claim, on eight runs of each solver, a little different."""
    rng = np.random.default_rng(1)
    groups = {
        label.replace("_", "-"): [
            task_run(
                label.replace("_", "-"), i, **{k: v + rng.normal(0, 1e-3) for k, v in c.items()}
            )
            for i in range(8)
        ]
        for label, c in runs.items()
    }
    return task_claims.JUDGES[study][statement](groups)[1]


@pytest.mark.parametrize(
    ("bad", "verdict"), [(0.5, Verdict.YES), (0.1, Verdict.NOT_SHOWN), (0.02, Verdict.NO)]
)
def test_samples_rarely_collide(bad: float, verdict: Verdict) -> None:
    theirs = {"collision": bad}
    statement = "its samples rarely collide, theirs do"
    found = judged(
        statement, "hole_reaching", CAS_MORE={"collision": 0.1}, CMA_ES=theirs, xNES=theirs
    )
    assert found is verdict


def test_good_early_then_worse() -> None:
    statement = "CMA-ES and xNES are good early, then degrade"
    worse, same = {"best": 1.7, "return_mean": 0.5}, {"best": 1.7, "return_mean": 1.65}
    name = "hole_reaching_noisy"
    assert judged(statement, name, CMA_ES=worse, xNES=worse) is Verdict.YES
    assert judged(statement, name, CMA_ES=worse, xNES=same) is Verdict.NO


def test_the_penalty() -> None:
    (statement,) = task_claims.JUDGES["hole_reaching_penalty"]
    for robust, verdict in ((-0.01, Verdict.YES), (-0.5, Verdict.NO)):
        runs = {"CAS_MORE": {"best": robust}, "CAS_MORE_standard": {"best": -0.9}}
        assert judged(statement, "hole_reaching_penalty", **runs) is verdict


def test_few_runs_show_nothing_and_none_are_said_to_be_missing(tmp_path: Path) -> None:
    assert not task_claims.exist(tmp_path)
    rows = task_claims.claims(tmp_path)
    assert {claim.measured for claim in rows} == {"not run"}
    assert {claim.verdict for claim in rows} == {Verdict.NOT_SHOWN}
    runs = [task_run(label, 0) for label in ("CAS-MORE", "CMA-ES", "xNES", "CAS-MORE-standard")]
    task_tables.write_task_runs(tmp_path / "hole_reaching_runs.csv", runs)
    rows = [c for c in task_claims.claims(tmp_path) if c.measured != "not run"]
    assert len(rows) == 4
    assert {claim.verdict for claim in rows} == {Verdict.NOT_SHOWN}
    assert all("(1 runs each)" in claim.measured for claim in rows)


def test_every_study_has_a_task_and_a_figure() -> None:
    assert set(task_claims.JUDGES) <= set(task_figures.TASK_FIGURES)
    assert {name for name, _ in task_pictures.SOLVED.values()} <= set(TASKS)


def test_only_what_there_are_tables_of_is_drawn(study: Path, tmp_path: Path) -> None:
    drawn = {*task_figures.TASK_FIGURES, *task_pictures.TASK_PICTURES}
    assert not drawn & set(figures.names(tmp_path))
    summarize(study, tmp_path)
    names = figures.names(tmp_path)
    assert drawn & set(names) == {"hole_reaching_noisy", "tasks", "film_hole_reaching"}
    assert figures.make("tasks", tmp_path)[0].stat().st_size > 5000
