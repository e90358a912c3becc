"""The commands of README.md and CONTRIBUTING.md, run as a newcomer would.

``make lint`` and ``make test`` are what CI itself calls; here it is checked that it does. Python
blocks are run by ``test_docs.py``.
"""

import re
from pathlib import Path

import pytest
from clones import ROOT, blocks, clone, run

PAGES = ("README.md", "CONTRIBUTING.md")
TINY = """
name = "quick"
[suite]
functions = "1"
dimensions = [2, 3]
instances = "1-2"
[budget]
evaluations_per_dimension = 50
[[solvers]]
name = "cas-more"
label = "CAS-MORE"
[[solvers]]
name = "cma"
label = "CMA-ES"
"""
RUN_BY_CI = ("make lint", "make test")


def commands() -> list[str]:
    found = [block for page in PAGES for block in blocks(page, "bash")]
    return list(dict.fromkeys(line for block in found for line in block.splitlines()))


def test_ci_runs_the_commands_that_check() -> None:
    (made,) = re.findall(r"^make ([\w -]+)", (ROOT / ".ci/run").read_text(), flags=re.MULTILINE)
    for command in RUN_BY_CI:
        assert command.removeprefix("make ") in made.split()
        assert command in commands()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_other_commands_run_in_a_clone(tmp_path: Path) -> None:
    """In the order of the pages, with the quick experiment made small."""
    folder = clone(tmp_path / "clone")
    (folder / "configs/quick.toml").write_text(TINY)
    printed = "".join(run(line, folder) for line in commands() if line not in RUN_BY_CI)
    assert "CAS-MORE" in printed
    assert (folder / "runs/quick/reports/index.html").is_file()
    assert (folder / "runs/quick/data/CAS-MORE").is_dir()


def test_targets_of_make_that_are_mentioned_exist() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for page in (*(ROOT / page for page in PAGES), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert target in targets, f"{page}: make {target}"
