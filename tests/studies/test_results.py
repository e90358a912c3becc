"""results/README.md lists the tables and figures of the studies, and their columns."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from casmore.studies.figures import FIGURES, TABLES
from casmore.studies.run_table import StudyRun

RESULTS = Path(__file__).parents[2] / "results"
README = (RESULTS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.*")), ids=lambda path: path.name)
def test_each_file_is_listed(path: Path) -> None:
    general = re.sub(r"^.+(_runs|_curves|_solution)\.csv$", r"NAME\1.csv", path.name)
    listed = set(re.findall(r"`([^`]+)`", README))
    stems = {Path(word).stem for word in listed}
    assert {path.name, general} & listed or path.stem in stems or path.name == "README.md"


@pytest.mark.parametrize("name", [*FIGURES, *TABLES])
def test_each_command_that_makes_one_is_listed(name: str) -> None:
    assert f"`make figures FIG={name}`" in README


@pytest.mark.parametrize("name", [field.name for field in fields(StudyRun)])
def test_each_column_of_a_run_is_listed(name: str) -> None:
    assert f"`{name}`" in README
