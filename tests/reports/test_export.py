"""The exported table is what COCO's files say, without them."""

import csv
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from casmore.reports import ReportError, trial_table
from casmore.reports.export import export
from casmore.reports.export_source import of_run
from casmore.reports.runtimes import TARGETS, Runtimes
from reports.logged import LoggedRun


@pytest.fixture(scope="module")
def exported(run: LoggedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    export([of_run(run.folder)], folder)
    return folder


def test_a_row_for_each_trial_as_in_the_log(run: LoggedRun, exported: Path) -> None:
    with gzip.open(exported / "trials.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2 * 3
    for row in rows:
        key = (row["solver"], int(row["dimension"]), int(row["function"]))
        trial = run.log[key][int(row["instance"]) - 1]
        assert int(row["evaluations"]) == len(trial.precisions)
        for column in trial_table.TARGET_COLUMNS:
            reached = trial.reached(float("1e0") * 10 ** float(column[2:]))
            assert row[column] == ("" if reached is None else str(reached))


def test_reading_gives_back_what_was_written(loaded: list[Runtimes], exported: Path) -> None:
    for own, r in zip(trial_table.read(exported / "trials.csv.gz"), loaded, strict=True):
        assert (own.solver, own.function, own.dimension) == (r.solver, r.function, r.dimension)
        assert own.instances == r.instances
        np.testing.assert_array_equal(own.spent, r.spent)
        np.testing.assert_array_equal(own.evaluations, r.evaluations)


def test_the_columns_are_the_targets() -> None:
    exponents = [float(column.removeprefix("1e")) for column in trial_table.TARGET_COLUMNS]
    np.testing.assert_allclose(10.0 ** np.array(exponents), TARGETS, rtol=1e-12)


def test_the_same_data_give_the_same_bytes(run: LoggedRun, exported: Path, tmp_path: Path) -> None:
    export([of_run(run.folder)], tmp_path)
    for path in exported.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_the_config_and_the_cost_are_beside_the_table(run: LoggedRun, exported: Path) -> None:
    (provenance,) = json.loads((exported / "runs.json").read_text())
    assert provenance["config"]["budget"] == {"evaluations_per_dimension": 150}
    with (exported / "cost.csv").open(newline="") as file:
        costs = list(csv.DictReader(file))
    for row in costs:
        trials = [
            trial
            for (solver, dimension, _), own in run.log.items()
            for trial in own
            if (solver, str(dimension)) == (row["solver"], row["dimension"])
        ]
        assert int(row["trials"]) == len(trials) == 6
        assert int(row["evaluations"]) == sum(len(trial.precisions) for trial in trials)
    readme = (exported / "README.md").read_text()
    for column in trial_table.KEYS:
        assert f"`{column}`" in readme


def test_several_runs_make_one_table(run: LoggedRun, tmp_path: Path) -> None:
    parts = []
    for solver in ("first", "second"):
        parts.append(tmp_path / f"run-{solver}")
        shutil.copytree(run.folder / "data" / solver, parts[-1] / "data" / solver)
    export([of_run(part) for part in parts], tmp_path / "out")
    both = trial_table.read(tmp_path / "out/trials.csv.gz")
    assert [r.solver for r in both] == ["first"] * 4 + ["second"] * 4
    with pytest.raises(ReportError, match=r"first on f1 in 2-D, instance 1, is in another run"):
        export([of_run(part) for part in [*parts, parts[0]]], tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, r"casmore export RUN"),
        (b"no gzip", r"can't be read"),
        (
            gzip.compress(b"a,b\n1,2\n"),
            r"is not a table of trials: its columns are \[\['a', 'b'\]\]",
        ),
        (gzip.compress(b"solver,function\n" * 99)[:-12], r"can't be read"),
    ],
    ids=["missing", "no gzip", "another table", "cut short"],
)
def test_what_is_no_table_is_named(content: bytes | None, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.csv.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ReportError, match=complaint):
        trial_table.read(path)
