"""configs/noisy.toml, made small: each of its solvers runs in noise."""

import tomllib
from pathlib import Path

import pytest
from clones import ROOT
from harness import write_toml

from casmore.cli import main


def test_each_solver_of_the_experiment_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tomllib.loads((ROOT / "configs/noisy.toml").read_text())
    suite = {"name": "bbob-noisy", "functions": "107", "dimensions": [2], "instances": "1"}
    small = {
        **data,
        "suite": suite,
        "budget": {"evaluations_per_dimension": 100},
        "run": {"workers": 1},
    }
    config = write_toml(tmp_path / "noisy.toml", small)
    assert main(["run", str(config), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    folders = {path.name for path in (tmp_path / "run/data").iterdir()}
    assert folders == {solver["label"] for solver in data["solvers"]}
    assert len(folders) == 6
