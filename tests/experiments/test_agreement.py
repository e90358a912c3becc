"""Which configs are the same, and what becomes of a record that is lost."""

import math
import tempfile
from datetime import date, datetime, time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from harness import config, config_data
from hypothesis import given, settings
from toml_strategies import VALUES

from casmore.experiments.agreement import (
    ConfigChangedError,
    LoggerChangedError,
    agree_on_config,
)
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import check, load
from casmore.experiments.config.record import recorded_config
from casmore.experiments.plan import make_plan
from casmore.experiments.runner import run
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.worker import run_unit

ODD_VALUES = [
    *(math.inf, -math.inf, math.nan, 0.0, -0.0, 0, False, 1, 1.0, True, "", "inf", "nan"),
    *(date(2024, 2, 29), datetime(2024, 2, 29), time(0), "2024-02-29", [], [1], {}, {"a": 1}),
    {"$float": "inf"},
]


def _with_setting(value: Any) -> Any:
    solver = {"name": "odd_solvers:takes_any_setting", "label": "ODD", "settings": {"any": value}}
    return config(solvers=[solver])


@pytest.mark.parametrize("old", ODD_VALUES, ids=repr)
def test_a_changed_setting_is_found(old: Any, tmp_path: Path) -> None:
    folder, first = RunFolder(tmp_path), _with_setting(old)
    agree_on_config(folder, first)
    agree_on_config(folder, _with_setting(old))
    for new in ODD_VALUES:
        if new is old:
            continue
        second = _with_setting(new)
        assert first.digest != second.digest
        with pytest.raises(ConfigChangedError, match=r"0\]\.settings\.any.*: .+ there, .+ now\n"):
            agree_on_config(folder, second)


def test_the_difference_is_shown_as_it_was_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    agree_on_config(folder, _with_setting(math.inf))
    with pytest.raises(ConfigChangedError, match=r"any: inf there, 2024-02-29 now\n"):
        agree_on_config(folder, _with_setting(date(2024, 2, 29)))
    folder.config.unlink()
    agree_on_config(folder, _with_setting({}))
    with pytest.raises(ConfigChangedError, match=r"any\.a: not given there, 1 now\n"):
        agree_on_config(folder, _with_setting({"a": 1}))


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_any_setting_is_recorded_and_compared(one: Any, other: Any) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root))
        first, second = (
            Config.model_validate(config_data(solvers=[{"name": "cma", "settings": {"any": v}}]))
            for v in (one, other)
        )
        agree_on_config(folder, first)
        recorded = recorded_config(folder)
        assert repr(recorded.solvers[0].settings) == repr({"any": one})
        assert recorded.digest == first.digest
        if first.digest == second.digest:
            agree_on_config(folder, second)
        else:
            with pytest.raises(ConfigChangedError, match="there"):
                agree_on_config(folder, second)


def test_a_whole_number_is_a_number(tmp_path: Path) -> None:
    one, other = (config(start={"lower": v, "upper": 4, "sigma0": 2}) for v in (-4, -4.0))
    agree_on_config(RunFolder(tmp_path), one)
    agree_on_config(RunFolder(tmp_path), other)
    assert one.digest == other.digest


_SETTINGS = """
limits = [inf, -inf, nan, 1.0, 1]
day = 1979-05-27
at = 07:32:00
moment = 1979-05-27T00:32:00-07:00
local = 1979-05-27T07:32:00
switches = { on = true, "$float" = "inf" }
"""


def test_a_solver_gets_the_same_in_the_trial_in_the_run_and_when_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import odd_solvers

    file = tmp_path / "c.toml"
    file.write_text(
        'name = "odd"\n[suite]\nfunctions = 1\ndimensions = [2]\ninstances = "1-2"\n'
        "[budget]\nevaluations_per_dimension = 20\n"
        '[[solvers]]\nname = "odd_solvers:takes_any_setting"\nlabel = "ODD"\n'
        f"[solvers.settings]\n{_SETTINGS}",
        encoding="utf-8",
    )
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(odd_solvers, "SEEN", seen)
    folder = RunFolder(tmp_path / "run")
    experiment = load(file)
    assert run_unit(make_plan(experiment)[0], folder).error is None
    agree_on_config(folder, experiment)
    resumed = recorded_config(folder)
    assert resumed.digest == experiment.digest
    assert run_unit(make_plan(resumed)[1], folder).error is None
    import tomllib

    assert len(seen) > 2
    assert {repr(settings) for settings in seen} == {repr(tomllib.loads(_SETTINGS))}


def test_a_solver_that_changes_its_settings_changes_those_of_no_other_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import odd_solvers

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(odd_solvers, "SEEN", seen)
    solver = {"name": "odd_solvers:spoils_its_settings", "label": "ODD", "settings": {"list": [1]}}
    experiment = config(solvers=[solver], suite={"functions": "1", "dimensions": [2]})
    for work in make_plan(experiment)[:2]:
        assert run_unit(work, RunFolder(tmp_path)).error is None
    assert [s["list"] for s in seen].count([1]) == 3  # the trial's, and each unit's first


@pytest.mark.parametrize(
    "content",
    [None, b"", bytes(100), b'{"name": "ti', b"[]", b"\xff"],
    ids=["missing", "empty", "NUL", "cut", "a list", "not UTF-8"],
)
@pytest.mark.parametrize("witness", ["units", "manifest"])
def test_a_lost_record_is_written_again_for_the_same_config_alone(
    content: bytes | None, witness: str, tmp_path: Path
) -> None:
    folder, experiment, other = RunFolder(tmp_path), config(), config(seed=8)
    agree_on_config(folder, experiment)
    recorded = folder.config.read_bytes()
    if witness == "units":
        run_unit(make_plan(experiment)[0], folder)
    else:
        folder.manifest.write_text(f'{{"config_digest": "{experiment.digest}"}}')
    if content is None:
        folder.config.unlink()
    else:
        folder.config.write_bytes(content)
        with pytest.raises(ValueError, match=r"config\.json is damaged: .*`casmore run CONFIG"):
            recorded_config(folder)
    with pytest.raises(
        ConfigChangedError, match=r"config\.json is [^\n]*\n.* another config than this"
    ):
        agree_on_config(folder, other)
    agree_on_config(folder, experiment)
    assert folder.config.read_bytes() == recorded


def test_what_is_no_value_of_toml_is_refused() -> None:
    solver = {"name": "cma", "settings": {"a": {"b": [object()]}}}
    with pytest.raises(ValueError, match=r"solvers\[0\]\.settings: .*object.* not a value of TOML"):
        check({"name": "odd", "solvers": [solver]})


def test_a_run_is_not_resumed_with_another_version_of_coco(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs could not be merged, which would be found at the end."""
    experiment = config(suite={"functions": "1", "dimensions": [2], "instances": "1-2"})
    folder, (first, second) = RunFolder(tmp_path), make_plan(experiment)
    assert run_unit(first, folder).error is None
    logged = metadata.version("coco-experiment")
    monkeypatch.setattr(metadata, "version", lambda package: "9.9")
    with pytest.raises(LoggerChangedError, match=rf"pip install coco-experiment=={logged}\."):
        run(experiment, tmp_path, workers=1)
    assert set(folder.published()) == {first.unit}
    # of a complete run nothing needs to be logged
    assert run_unit(second, folder).error is None
    assert run(experiment, tmp_path, workers=1).published == 2
