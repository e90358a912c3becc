"""docs/bbob.md: the suites are as it says, and its config runs."""

import re
from pathlib import Path

import pytest
from clones import ROOT, blocks

from casmore.cli import main
from casmore.experiments.config.bbob import Config
from casmore.experiments.config.check import load
from casmore.experiments.config.ranges import parse_range
from casmore.problems.bbob import instances_of
from casmore.problems.suites import SUITES
from casmore.reports import league, trial_table

PAGE = "docs/bbob.md"


def test_the_table_of_suites() -> None:
    rows = re.findall(
        r"^\| `(bbob[\w-]*)`[^|]*\| (.*) \|$", (ROOT / PAGE).read_text(), re.MULTILINE
    )
    rows = [(name, cells) for name, cells in rows if cells.count("|") == 3]
    assert [name for name, _ in rows] == list(SUITES)
    for name, cells in rows:
        functions, dimensions, instances, best = (cell.strip() for cell in cells.split("|"))
        suite = SUITES[name]
        assert parse_range(functions) == tuple(suite.functions)
        assert parse_range(dimensions) == suite.dimensions
        assert parse_range(instances) == instances_of(suite)
        assert best == ", ".join(suite.best)


def test_the_config_of_another_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (config,) = blocks(PAGE, "toml")
    whole, small = tmp_path / "whole.toml", tmp_path / "small.toml"
    whole.write_text(config)
    experiment = load(whole)
    assert isinstance(experiment, Config)
    assert experiment.suite.functions == tuple(SUITES["bbob-noisy"].functions)
    for given, made in (('"101-130"', '"101"'), ("[2, 3, 5, 10, 20]", "[2]"), ('"1-15"', '"1"')):
        assert config.count(given) == 1
        config = config.replace(given, made)
    small.write_text(config.replace("10_000", "20") + "\n[run]\nworkers = 1\n")
    assert main(["run", "small.toml"]) == 0
    assert main(["league", "noise"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 2 units are done." in printed
    assert "Scores on bbob-noisy" in printed
    assert main(["verify", "noise"]) == 0


def test_the_table_of_scores() -> None:
    """The page's table follows from the stored trials."""
    text = (ROOT / PAGE).read_text()
    header = re.search(r"^\| n \| (.*) \| algorithms \|$", text, re.MULTILINE)
    assert header is not None
    solvers = header[1].split(" | ")
    rows = re.findall(r"^\| (\d+) \| (.*) \| (\d+) \|$", text, re.MULTILINE)
    standings = league.standings(trial_table.read(ROOT / "results/bbob/trials.csv.gz"))
    assert [int(n) for n, _, _ in rows] == [standing.dimension for standing in standings]
    for (_, cells, places), standing in zip(rows, standings, strict=True):
        ours = {entrant.name: entrant for entrant in standing.ours}
        for solver, cell in zip(solvers, cells.split(" | "), strict=True):
            if cell == "-":  # not run in this dimension
                assert solver not in ours
                continue
            assert cell == f"{ours[solver].score:.3f} ({standing.rank(ours[solver])})"
        assert int(places) == standing.places
