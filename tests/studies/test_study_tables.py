"""The tables of a study against its traces and records."""

import errno
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from clones import ROOT

from casmore.atomic_io import read_json
from casmore.experiments.agreement import agree_on_config
from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan
from casmore.experiments.store.run_folder import RunFolder
from casmore.experiments.study_trial import FILE
from casmore.experiments.worker import run_unit
from casmore.reports import ReportError
from casmore.studies import curve_table, run_table
from casmore.studies.summarize import summarize
from casmore.trace import Trace
from studies.synthetic import study_run


def loaded(folder: Path, study: str, label: str, function: int) -> list[Trace]:
    run = folder / "runs" / study / "units" / label
    return [Trace.load(run / f"f{function:03d}_d03_i001_r{i}" / FILE) for i in range(3)]


def test_the_curves_are_quantiles_of_the_traces(folder: Path) -> None:
    curve = curve_table.read_curves(folder / "results" / "rosenbrock_curves.csv")[2]
    runs = loaded(folder, "rosenbrock", "MORE", 8)
    assert (curve.label, curve.function, curve.runs) == ("MORE", 8, 3)
    for i in (0, 17, 60, 120):
        x = curve.evaluations[i]
        values = sorted(t["f_mean"][t["evaluations"] <= x][-1] for t in runs)
        entropies = sorted(t["entropy"][t["evaluations"] <= x][-1] for t in runs)
        # of three runs, the 5 % and 95 % quantiles are the extremes
        assert curve.f_mean[:, i] == pytest.approx(values, rel=1e-3)
        assert curve.entropy[:, i] == pytest.approx(entropies, rel=1e-3)


def test_the_rows_are_the_runs(folder: Path) -> None:
    variants = run_table.read_variants(folder / "results" / "sensitivity_runs.csv")
    assert len(variants) == 10
    for variant in variants:
        traces = loaded(folder, "sensitivity", variant.label, variant.function)
        for i, (run, trace) in enumerate(zip(variant.runs, traces, strict=True)):
            unit = folder / "runs/sensitivity/units" / variant.label
            record = read_json(unit / f"f{variant.function:03d}_d03_i001_r{i}" / "unit.json")
            assert run.run == i
            assert run.evaluations == record["evaluations"]
            assert run.reached == record["final_target_hit"]
            assert run.f_end == pytest.approx(trace["f_mean"][-1], rel=1e-5)
            passed = trace["evaluations"][trace["f_mean"] <= 1e-2]
            assert run.to_1e_2 == (passed[0] if len(passed) else math.inf)
    assert {variant.reached for variant in variants} > {0}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    runs = [
        study_run("A", settings="clip = 6", run=0, to_1=math.inf, first_fall=12.5),
        study_run("A", settings="clip = 6", run=1, reached=False, f_end=math.inf),
        study_run("B", function=6),
    ]
    run_table.write_runs(tmp_path / "x_runs.csv", runs)
    a, b = run_table.read_variants(tmp_path / "x_runs.csv")
    assert repr([*a.runs, *b.runs]) == repr(runs)  # NaN is not equal to itself


def test_a_full_disk_costs_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x_runs.csv"
    run_table.write_runs(path, [study_run("a", run=0)])
    before = path.read_bytes()

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        run_table.write_runs(path, [study_run("a", run=run) for run in range(9)])
    assert path.read_bytes() == before


def test_evaluations_between_two_values_are_of_the_runs_that_came_so_far() -> None:
    runs = (
        study_run("A", to_1=100.0, to_1e_7=300.0),
        study_run("A", to_1=200.0, to_1e_7=math.inf, evaluations=900, reached=False),
        study_run("A", to_1=math.inf, to_1e_7=math.inf, evaluations=900, reached=False),
    )
    between = run_table.Variant(runs).attempts_between(1.0, 1e-7)
    assert between.spent.tolist() == [200, 700]
    assert between.reached.tolist() == [True, False]


def test_three_phases_of_the_entropy_by_hand() -> None:
    x = np.arange(0, 5001, 50.0)
    # 30 nats in the first 1000, 2 in the next 1000, then 20 and 40 and 40
    entropy = np.interp(x, [0, 1000, 2000, 3000, 5000], [100, 70, 68, 48, -32])
    assert run_table.entropy_falls(x, entropy) == pytest.approx((30, 2, 40))
    assert np.isnan(run_table.entropy_falls(x[:50], entropy[:50])).all()


def test_a_run_that_has_ended_keeps_its_last_value_and_nan_is_the_worst() -> None:
    trace = Trace()
    trace._loaded = {
        "evaluations": np.array([0.0, 10.0, 20.0]),
        "f_mean": np.array([3.0, math.nan, 1.0]),
    }
    x = np.array([0.0, 9.0, 10.0, 19.0, 20.0, 500.0])
    assert curve_table.at(trace, "f_mean", x).tolist() == [3, 3, math.inf, math.inf, 1, 1]


def test_an_unfinished_study_is_not_summarized(folder: Path, tmp_path: Path) -> None:
    config = check(read_json(folder / "runs" / "ablation" / "config.json"))
    run = RunFolder(tmp_path)
    agree_on_config(run, config)
    run_unit(make_plan(config)[0], run)
    with pytest.raises(ReportError, match="17 of 18 units"):
        summarize(tmp_path, tmp_path)


def test_a_damaged_unit_is_named(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "rosenbrock"
    shutil.copytree(folder / "runs" / "rosenbrock", run)
    trace = next(run.rglob("trace.*"))
    trace.write_bytes(trace.read_bytes()[:-20])
    script = [sys.executable, str(ROOT / "scripts" / "summarize_study.py"), str(run)]
    ended = subprocess.run(script, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert str(trace.parent) in ended.stderr
    assert "casmore verify" in ended.stderr
