"""docs/auto.md: its experiments, made small."""

import re
import tomllib
from pathlib import Path

import pytest
from clones import ROOT, blocks, clone, run, shrink

PAGE = "docs/auto.md"
CONFIGS = ("league", "league_40d", "league_ablation")
PEER = "league_lq_cma"


def test_the_page_shows_the_solver_as_the_league_runs_it() -> None:
    (shown,) = blocks(PAGE, "toml")
    for name in CONFIGS:
        config = tomllib.loads((ROOT / f"configs/{name}.toml").read_text())
        assert tomllib.loads(shown)["solvers"][0] == config["solvers"][0]


def test_all_settings_of_the_page_exist() -> None:
    from casmore.solvers.auto import AutoParameters

    named = re.search(r"Settings switch\s+the parts off: (.*?)[.]", (ROOT / PAGE).read_text(), re.S)
    assert named
    for name in re.findall(r"`(\w+)`", named[1]):
        assert hasattr(AutoParameters(), name) or name == "search", name


@pytest.mark.slow
def test_the_commands_of_the_league(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    for name in (*CONFIGS, PEER):
        dimensions = "[3]" if name == "league_40d" else "[2]"
        shrink(folder / f"configs/{name}.toml", functions='"1,8"', dimensions=dimensions)
    (block,) = blocks(PAGE, "bash")
    for command in block.splitlines():
        run(command, folder)
    for figure in ("league/ecdf", "league/league", "league_ablation/parts"):
        assert (folder / f"results/{figure}.png").exists()
