"""``casmore minimize``: a program's output as the value, failures, workers, stop and resume."""

import csv
import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest

import casmore
from casmore.cli import main
from casmore.experiments.store import locks
from cli.command_line import casmore as casmore_process

# 2 (x0 - 1)^2 + (x1 + 2)^2, with all digits
BOWL = """awk 'BEGIN { printf "%.17g\\n", 2 * ({x0} - 1)^2 + ({x1} + 2)^2 }'"""
START = ("--x0", "0", "0", "--sigma0", "0.5")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"./{path.name} {{x}}"


def minimize(command: str, *options: str, start: tuple[str, ...] = START) -> int:
    return main(["minimize", "--command", command, *start, *options])


def evaluations(folder: Path) -> list[tuple[str, ...]]:
    """Return value and point of the evaluations of a run, sorted."""
    with (folder / "evaluations.csv").open() as file:
        return sorted((row["f"], row["x0"], row["x1"]) for row in csv.DictReader(file))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("--target 1e-3", {"lean": True, "target": 1e-3}),
        ("--target 1e-3 --solver cas-more", {"target": 1e-3}),
        (
            "--target -1 --population-size 6 --restarts ipop --max-evaluations 400",
            {"lean": True, "target": -1, "population_size": 6, "restarts": "ipop", "budget": 400},
        ),
        (
            "--target 0.6 --bounds -1:0.5 :",
            {"lean": True, "target": 0.6, "bounds": [(-1, 0.5), (None, None)]},
        ),
    ],
)
def test_it_is_fmin_of_the_program(
    options: str, arguments: dict[str, Any], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert minimize(BOWL, "--seed", "3", "--workers", "3", *options.split()) == 0
    result = casmore.fmin(
        lambda x: 2 * (x[0] - 1) ** 2 + (x[1] + 2) ** 2,
        [0, 0],
        0.5,
        seed=3,
        **arguments,
    )
    stored = json.loads((here / "runs/minimize/result.json").read_text())
    assert stored["x"] == result.x.tolist()
    assert stored["evaluations"] == result.nfev == len(evaluations(here / "runs/minimize"))
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"f = {stored['f']!r}"
    assert shown[1] == f"x = {stored['x'][0]!r} {stored['x'][1]!r}"
    assert shown[2] == f"{result.nfev} evaluations: {result.message}"
    assert (result.restarts > 0) == ("restarts" in arguments)


def test_noise_is_detected_where_it_is_asked_for(here: Path) -> None:
    noisy = BOWL.replace("({x1} + 2)^2", "({x1} + 2)^2 + (1e6 * {x0}) % 1")
    for noise in ("none", "auto"):
        options = ("--noise", noise, "--max-evaluations", "100", "--seed", "1")
        assert minimize(noisy, *options, "--out", noise) == 0
        result = casmore.fmin(
            lambda x: 2 * (x[0] - 1) ** 2 + (x[1] + 2) ** 2 + math.fmod(1e6 * x[0], 1),
            [0, 0], 0.5, budget=100, seed=1, lean=True, noise=noise,
        )  # fmt: skip
        assert json.loads((here / noise / "result.json").read_text())["x"] == result.x.tolist()
    assert evaluations(here / "none") != evaluations(here / "auto")


WITHOUT_EXTRAS = """
import sys
for name in ("cocoex", "cocopp", "cma", "loky", "matplotlib", "pydantic", "rich", "threadpoolctl"):
    sys.modules[name] = None
"""

# Calls take numbers. The tenth, of the third iteration of four, waits until the log has a header
# and the other eleven evaluations, and ends the run.
COUNTED = """n=1; mkdir -p calls; until mkdir calls/$n 2> /dev/null; do n=$((n + 1)); done
if [ $n -eq 10 ]; then
  until [ "$(wc -l < runs/minimize/evaluations.csv)" -ge 12 ]; do sleep 0.02; done
  kill -{signal} $PPID; sleep 600
fi
{bowl}
"""


@pytest.mark.parametrize(("signal", "code"), [("INT", 130), ("TERM", 143), ("KILL", -9)])
def test_a_run_that_was_stopped_is_resumed_by_the_same_command(
    signal: str, code: int, here: Path
) -> None:
    bowl = BOWL.replace("{x0}", "'$1'").replace("{x1}", "'$2'")
    counted = COUNTED.replace("{signal}", signal).replace("{bowl}", bowl)
    command = script(here / "simulate", counted)
    call = ["--command", command, *START, "--max-evaluations", "20", "--workers", "2"]
    ended = casmore_process("minimize", *call, cwd=here, code=WITHOUT_EXTRAS)
    assert ended.returncode == code, ended.stderr
    before = len(evaluations(here / "runs/minimize"))
    assert before == 11  # all that had ended
    if signal != "KILL":
        assert f"{before} evaluations are kept in runs/minimize/evaluations.csv" in ended.stderr
        assert "To resume, give the same command" in ended.stderr
        assert "failed" not in ended.stderr
    calls = len(list((here / "calls").iterdir()))
    assert main(["minimize", *call]) == 0
    assert len(list((here / "calls").iterdir())) - calls == 20 - before
    assert minimize(BOWL, "--max-evaluations", "20", "--out", "whole") == 0
    assert evaluations(here / "runs/minimize") == evaluations(here / "whole")
    assert main(["minimize", *call]) == 0  # nothing is left to do
    assert len(list((here / "calls").iterdir())) - calls == 20 - before
    assert main(["minimize", *call[:-3], "24"]) == 0  # and now there is
    assert len(list((here / "calls").iterdir())) - calls == 24 - before


def test_a_line_that_was_being_written_when_the_power_failed_is_evaluated_again(here: Path) -> None:
    assert minimize(BOWL, "--max-evaluations", "12") == 0
    whole = evaluations(here / "runs/minimize")
    path = here / "runs/minimize/evaluations.csv"
    path.write_text(path.read_text()[:-9])
    assert minimize(BOWL, "--max-evaluations", "12") == 0
    assert evaluations(here / "runs/minimize") == whole


def test_evaluations_that_are_not_needed_are_kept(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert minimize(BOWL, "--max-evaluations", "12") == 0
    whole = evaluations(here / "runs/minimize")
    assert minimize(BOWL, "--max-evaluations", "8") == 0
    assert "did not need 4 evaluations in runs/minimize" in capsys.readouterr().err
    assert evaluations(here / "runs/minimize") == whole


def test_a_program_that_fails_is_a_value_that_ranks_last(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = """awk -v x="$1" -v y="$2" 'BEGIN { if (x > 0.8) exit 4; print (x - 1)^2 + y^2 }'"""
    assert minimize(script(here / "simulate", fails), "--max-evaluations", "60") == 0
    output = capsys.readouterr()
    stored = json.loads((here / "runs/minimize/result.json").read_text())
    x0, x1 = stored["x"]
    assert 0.7 < x0 <= 0.8
    assert stored["f"] == pytest.approx((x0 - 1) ** 2 + x1**2, rel=1e-4)  # awk prints six digits
    rows = evaluations(here / "runs/minimize")
    failed = sum(row[0] == "nan" for row in rows)
    assert failed == stored["failed"] == sum(float(row[1]) > 0.8 for row in rows) > 0
    reasons = (here / "runs/minimize/failures.log").read_text().splitlines()
    assert len(reasons) == failed
    assert all(line.endswith(" failed: its exit code is 4") for line in reasons)
    assert output.err.count("failed") == 1  # only the first is shown
    assert f"60 evaluations, of which {failed} failed: budget exhausted" in output.out


def test_a_program_that_always_fails_ends_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert minimize("sh -c 'echo no such model >&2; exit 1' {x}") == 1
    error = capsys.readouterr().err
    assert "evaluation 1 failed: its exit code is 1: no such model" in error
    assert "all of the first 20 evaluations failed" in error
    assert "Remove runs/minimize to start again" in error


def test_a_folder_holds_one_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--max-evaluations", "2")
    assert minimize(BOWL, *few) == 0
    assert minimize(BOWL, *few, start=("--x0", "0,0", "--sigma0=0.5")) == 0  # another spelling
    capsys.readouterr()
    assert minimize(BOWL, *few, "--seed", "2") == 2
    assert (
        "runs/minimize holds a run with --seed 1, not 2; remove it, or" in capsys.readouterr().err
    )
    assert minimize(BOWL.replace("2 *", "3 *"), *few) == 2
    assert "holds a run with --command" in capsys.readouterr().err
    with locks.exclusive(here / "runs/minimize/lock"):
        assert minimize(BOWL, *few) == 2
    assert "runs/minimize is in use by process" in capsys.readouterr().err


def test_numbers_may_be_negative_and_separated_by_commas(here: Path) -> None:
    start = ("--x0", "-1e-3,-2", "--sigma0", ".5", "1", "--bounds", "-3.5:3", ":-1e-9")
    assert minimize(BOWL, "--max-evaluations", "30", start=start) == 0
    call = json.loads((here / "runs/minimize/call.json").read_text())
    assert (call["x0"], call["sigma0"]) == ([-1e-3, -2.0], [0.5, 1.0])
    assert call["bounds"] == [[-3.5, 3.0], [None, -1e-9]]
    points = [(float(row[1]), float(row[2])) for row in evaluations(here / "runs/minimize")]
    assert all(-3.5 <= x <= 3 and y <= -1e-9 for x, y in points)


def test_infinite_bounds_are_none(here: Path) -> None:
    made = []
    for out, bounds in (("a", ("-inf:inf", "-5:inf")), ("b", (":", "-5:"))):
        options = ("--max-evaluations", "8", "--out", out, "--bounds", *bounds)
        assert minimize(BOWL, *options) == 0
        made.append((evaluations(here / out), json.loads((here / out / "call.json").read_text())))
    assert made[0] == made[1]


def test_a_damaged_call_costs_no_evaluation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert minimize(BOWL, "--max-evaluations", "8") == 0
    before = evaluations(here / "runs/minimize")
    call = here / "runs/minimize/call.json"
    call.write_bytes(b"")
    capsys.readouterr()
    assert minimize(BOWL, "--max-evaluations", "8") == 2
    assert (
        "call.json is damaged: it is empty; remove this file to resume" in capsys.readouterr().err
    )
    call.unlink()
    assert minimize(BOWL, "--max-evaluations", "8") == 0
    assert evaluations(here / "runs/minimize") == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--x0", "0", "a"), "--x0: could not convert string to float: 'a'"),
        (("--x0", "0", "nan"), "x0"),
        (("--sigma0", "0"), "sigma0 must be positive"),
        (("--bounds", "0-1"), "--bounds: '0-1' is not a pair LOW:HIGH such as 0:1, 0: or :1"),
        (("--bounds", "0:1", "0:1", "0:1"), "--bounds: give one pair or 2, not 3"),
        (("--bounds", "1:2"), "x0[0] = 0.0 is outside of its bounds [1.0, 2.0]"),
        (("--timeout", "-1"), "--timeout must be a positive number of seconds, not -1"),
        (("--seed", "-1"), "seed must be"),
        (("--command", "no-such-program {x}"), "the program 'no-such-program' of the command is"),
        (("--command", "echo"), "the command 'echo' has no place for the point"),
    ],
)
def test_mistakes_are_named_before_anything_runs(
    options: tuple[str, ...], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert minimize("echo {x0}", *options) == 2
    assert message in capsys.readouterr().err
    assert not (here / "runs").exists()


def test_an_evaluation_that_takes_too_long_fails(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = script(here / "simulate", 'mkdir first 2> /dev/null && sleep 600\necho "$1"')
    assert minimize(slow, "--max-evaluations", "6", "--timeout", "3") == 0
    assert "evaluation 1 failed: it took more than 3 s" in capsys.readouterr().err
    assert json.loads((here / "runs/minimize/result.json").read_text())["failed"] == 1


def test_a_time_limit_is_of_one_call(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = script(here / "simulate", 'sleep 0.1\necho "$1"')
    counts = []
    for _ in range(2):
        assert minimize(slow, "--max-seconds", "1", "--workers", "2") == 0
        assert "evaluations: time limit reached" in capsys.readouterr().out
        counts.append(len(evaluations(here / "runs/minimize")))
    assert 0 < counts[0] < counts[1] < 100


def test_no_time_for_an_evaluation_is_no_failure(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert minimize(BOWL, "--max-seconds", "1e-9") == 0
    assert "0 evaluations: time limit reached" in capsys.readouterr().out
    assert json.loads((here / "runs/minimize/result.json").read_text())["f"] is None
