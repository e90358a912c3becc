import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from casmore.reports import ReportError, runtimes
from casmore.reports.runtimes import ERT_TARGETS, FINAL_TARGET, TARGETS, Runtimes
from reports import logged
from reports.logged import LoggedRun


def test_solvers_are_in_the_order_of_the_config(run: LoggedRun, loaded: list[Runtimes]) -> None:
    assert [folder.name for folder in runtimes.solver_folders(run.folder)] == ["second", "first"]
    assert runtimes.solvers(loaded) == ["second", "first"]
    assert [(r.solver, r.dimension, r.function) for r in loaded] == [
        (solver, n, f) for solver in ("second", "first") for n in (2, 3) for f in (1, 6)
    ]


def test_runtimes_are_those_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        truth = [[trial.reached(target) or math.nan for trial in trials] for target in TARGETS]
        np.testing.assert_array_equal(r.evaluations, truth)


def test_expected_running_time_is_that_of_the_log(run: LoggedRun, loaded: list[Runtimes]) -> None:
    for r in loaded:
        trials = run.log[r.solver, r.dimension, r.function]
        for target, ert in zip(ERT_TARGETS, r.ert, strict=True):
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
        truth = sum(trial.reached(FINAL_TARGET) is not None for trial in trials)
        assert (r.successes, r.trials) == (truth, 3)
    # all, some and none: else these tests would leave out a case
    assert {r.successes for r in loaded} == {3, 2, 1, 0}


def test_targets_are_cocos() -> None:
    assert len(TARGETS) == 51
    assert TARGETS[0] == 100
    assert TARGETS[-1] == pytest.approx(1e-8, rel=1e-12)
    np.testing.assert_allclose(TARGETS[1:] / TARGETS[:-1], 10**-0.2)


def test_targets_need_not_be_those_of_the_data_to_the_last_bit(
    run: LoggedRun, loaded: list[Runtimes], monkeypatch: pytest.MonkeyPatch
) -> None:
    # powers come out differently on another processor
    monkeypatch.setattr(runtimes, "TARGETS", np.nextafter(TARGETS, 0))
    for r, same in zip(loaded, runtimes.load(run.folder), strict=True):
        np.testing.assert_array_equal(r.evaluations, same.evaluations)


@pytest.mark.parametrize(
    ("function", "group"),
    [
        (1, "separable"),
        (5, "separable"),
        (6, "moderate"),
        (9, "moderate"),
        (10, "ill-conditioned"),
        (15, "multi-modal"),
        (20, "weakly structured"),
        (24, "weakly structured"),
    ],
)
def test_groups(function: int, group: str) -> None:
    assert runtimes.group_of(function) == group


def test_no_such_function() -> None:
    with pytest.raises(ValueError, match="function 25: BBOB has functions 1 to 24"):
        runtimes.group_of(25)


def test_budget_is_the_configs_and_else_the_longest_trial(
    run: LoggedRun, loaded: list[Runtimes], tmp_path: Path
) -> None:
    assert runtimes.budgets(run.folder, loaded) == {2: 150, 3: 150}
    solved = [r for r in loaded if (r.solver, r.function) == ("second", 1)]
    longest = {n: max(len(t.precisions) / n for t in run.log["second", n, 1]) for n in (2, 3)}
    assert max(longest.values()) < 150
    assert runtimes.budgets(tmp_path, solved) == longest


def test_effort_is_summed_over_trials(run: LoggedRun) -> None:
    efforts = runtimes.efforts(run.folder)
    assert efforts.keys() == run.log.keys()
    for key, effort in efforts.items():
        assert effort.evaluations == sum(len(trial.precisions) for trial in run.log[key])
        assert effort.microseconds_per_evaluation == pytest.approx(
            1e6 * logged.CPU_SECONDS_PER_EVALUATION
        )


@pytest.mark.parametrize("content", ["not JSON", '{"evaluations": 3}', "[]"])
def test_broken_sidecar_is_named(tmp_path: Path, content: str) -> None:
    sidecar = tmp_path / "units" / "one" / "f001_d02_i001_r0" / "unit.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(content)
    with pytest.raises(ReportError, match=r"unit\.json is not a unit's record"):
        runtimes.efforts(tmp_path)


def test_only_common_functions_are_compared(loaded: list[Runtimes]) -> None:
    partial = [r for r in loaded if (r.solver, r.function) != ("first", 6)]
    found = runtimes.comparable(partial, 2)
    assert {s: [r.function for r in rs] for s, rs in found.items()} == {"second": [1], "first": [1]}


def test_no_data_says_which_command_makes_some(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"no unit has been merged yet.*casmore run CONFIG"):
        runtimes.load(tmp_path)
    with pytest.raises(ReportError, match=r"there is no such folder.*make bbob"):
        runtimes.load(tmp_path / "nowhere")


def test_data_cocopp_cannot_read_is_named(tmp_path: Path) -> None:
    run = logged.make(tmp_path / "run", ["broken"], [1], [2], instances=1, budget=5)
    (data,) = run.folder.glob("data/broken/data_f1/*.dat")
    data.write_text(data.read_text() + "17 0 cut sho")
    with pytest.raises(ReportError, match=r"cocopp can't read .*broken"):
        runtimes.load(run.folder)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_broken_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ReportError, match=r"config\.json"):
        runtimes.config(tmp_path)


OFFLINE = """
import json, socket
asked = []
def refuse(*arguments, **_):
    asked.append(repr(arguments))
    raise OSError("no network")
socket.getaddrinfo = socket.create_connection = refuse
from casmore.reports.cocopp.offline import import_cocopp
cocopp = import_cocopp()
assert cocopp is import_cocopp()
print(json.dumps(asked))
"""


def test_cocopp_is_imported_without_network_noise_or_trace(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env={"HOME": str(home), "PATH": "", "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
    assert done.stderr == ""
    assert list(home.rglob("*")) == []
