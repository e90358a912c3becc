"""A run that explains itself: its units as CSV, and its own page."""

import csv
import html
import json
import re
from pathlib import Path

import pytest
from harness import casmore, config_data, write_toml

from casmore.reports import ReportError, run_page, unit_table
from reports import logged


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 4 units, of which those in 3-D have failed."""
    folder = tmp_path_factory.mktemp("units")
    suite = {"functions": "1", "dimensions": [2, 3], "instances": "1-2"}
    data = config_data(suite=suite, solver="odd_solvers:FailsIn3D")
    done = casmore("run", write_toml(folder / "c.toml", data), "--out", folder / "run")
    assert done.returncode == 1, done.stderr
    return folder / "run"


def test_the_table_has_every_unit_with_what_it_took(run: Path, tmp_path: Path) -> None:
    unit_table.write_csv(tmp_path / "units.csv", unit_table.load(run))
    with (tmp_path / "units.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["dimension"], r["instance"], r["state"]) for r in rows] == [
        ("2", "1", "done"),
        ("2", "2", "done"),
        ("3", "1", "failed"),
        ("3", "2", "failed"),
    ]
    done, failed = rows[0], rows[2]
    record = json.loads((run / "units/RANDOM/f001_d02_i001_r0/unit.json").read_text())
    for name in ("evaluations", "budget", "restarts", "wall_seconds", "cpu_seconds", "best_value"):
        assert float(done[name]) == record[name]
    assert done["stop_reasons"] == "no progress in f; budget exhausted"
    assert done["error"] == ""
    assert failed["error"] == "ArithmeticError: no luck in 3-D"
    assert failed["evaluations"] == ""


def test_totals_count_every_run_that_ended(run: Path) -> None:
    two, three = unit_table.totals(unit_table.load(run))
    assert (two.solver, two.dimension, two.done, two.failed) == ("RANDOM", 2, 2, 0)
    assert (two.evaluations, two.restarts) == (240, 2)
    assert two.reasons == {"no progress in f": 2, "budget exhausted": 2}
    assert (three.done, three.failed, three.evaluations) == (0, 2, 0)


def test_the_page_says_how_the_run_came_about(run: Path, tmp_path: Path) -> None:
    run_page.write(tmp_path / "run.html", "tiny & co", run, unit_table.load(run))
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]*>", " ", page))
    manifest = json.loads((run / "manifest.json").read_text())
    (session,) = manifest["sessions"]
    assert "tiny & co: the run" in text
    assert "Failures: 2" in text
    assert "raise ArithmeticError" in text  # the traceback
    assert session["command"] in text
    assert session["machine"]["host"] in text
    assert session["git"]["commit"][:12] in text
    for package, version in session["versions"].items():
        assert re.search(rf"{package}\s+{re.escape(version)}", text)
    assert "numpy.random.SeedSequence" in text
    assert manifest["config_digest"] in text
    assert '"evaluations_per_dimension": 60' in text
    assert 'href="units.csv"' in page
    # on a narrow screen a cell is shown with the name of its column
    assert '<td data-name="runs ended by">no progress in f (2); budget exhausted (2)</td>' in page
    assert page.count("<tr") >= 4 + 4


def test_a_failure_of_a_unit_that_was_done_since_is_none(run: Path, tmp_path: Path) -> None:
    failure = run / "failures/RANDOM/f001_d02_i001_r0.json"
    failure.write_text(json.dumps({"error": "of a worker that was taken for dead"}))
    rows = unit_table.load(run)
    failure.unlink()
    assert [row.failed for row in rows] == [False, False, True, True]


def test_a_failure_whose_record_is_lost_is_on_the_page(run: Path, tmp_path: Path) -> None:
    failure = run / "failures/RANDOM/f001_d03_i001_r0.json"
    record = failure.read_bytes()
    failure.write_bytes(b"")
    rows = unit_table.load(run)
    failure.write_bytes(record)
    run_page.write(tmp_path / "run.html", "tiny", run, rows)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "Failures: 2" in page
    assert f"{failure} can&#39;t be read" in page


def test_data_that_came_without_a_run_have_a_page_too(tmp_path: Path) -> None:
    run_page.write(tmp_path / "run.html", "bare", tmp_path, [])
    assert "Sessions: 0" in (tmp_path / "run.html").read_text()


def test_effort_is_summed_over_trials(run: Path, tmp_path: Path) -> None:
    made = logged.make(tmp_path / "run", ["a", "b"], [1, 6], [2], instances=2, budget=20)
    efforts = unit_table.efforts(unit_table.load(made.folder))
    assert efforts.keys() == made.log.keys()
    for key, effort in efforts.items():
        assert effort.evaluations == sum(len(trial.precisions) for trial in made.log[key])
        assert effort.microseconds_per_evaluation == pytest.approx(
            1e6 * logged.CPU_SECONDS_PER_EVALUATION
        )
    # failed units have none
    assert list(unit_table.efforts(unit_table.load(run))) == [("RANDOM", 2, 1)]


@pytest.mark.parametrize("content", ["not JSON", '{"evaluations": 3}', "[]"])
def test_a_broken_record_is_named(tmp_path: Path, content: str) -> None:
    sidecar = tmp_path / "units" / "one" / "f001_d02_i001_r0" / "unit.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(content)
    with pytest.raises(ReportError, match=r"f001_d02_i001_r0.* is not a unit's record"):
        unit_table.efforts(unit_table.load(tmp_path))
