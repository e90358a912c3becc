"""docs/auto.md: its experiments, made small."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from clones import ROOT, blocks, clone, run, shrink

from casmore.reports import league, trial_table
from casmore.reports.runtimes import within

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


def test_the_table_of_scores() -> None:
    """The page's table follows from the stored trials."""
    table = (ROOT / PAGE).read_text().split("| | 2-D | 3-D |")[1].split("\n\n")[0]
    head, _, *rows = table.splitlines()
    dimensions = [2, 3, *(int(n) for n in re.findall(r"(\d+)-D", head))]
    shown = {}
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        shown[name] = {n: cell for n, cell in zip(dimensions, cells, strict=True) if cell}

    trials = trial_table.read(ROOT / "results/league/trials.csv.gz")
    confirming = [within(r, r.longest, range(71, 81)) for r in trials if r.dimension <= 20]
    for standing in league.standings(trials):
        n = standing.dimension
        (auto,) = (entrant for entrant in standing.ours if entrant.name == "auto")
        for entrant in standing.ours:
            if entrant is not auto:
                assert shown[entrant.name][n] == f"{entrant.score:.3f}"
        beside = {reference.name: reference.score for reference in standing.references}
        assert shown["`auto`"][n] == f"{auto.score:.3f}"
        assert shown["record of the archive"][n] == f"{standing.archive[0].score:.3f}"
        assert shown["best 2009"][n] == f"{beside['best 2009']:.3f}"
        assert shown["rank of `auto`"][n] == f"{standing.rank(auto)} of {standing.places}"
    for standing in league.standings([r for r in confirming if r is not None]):
        name, n = "`auto`, instances 71 to 80 only", standing.dimension
        (auto,) = (entrant for entrant in standing.ours if entrant.name == "auto")
        assert shown[name][n] == f"{auto.score:.3f}"
    for standing in league.standings(trial_table.read(ROOT / "results/bbob/trials.csv.gz")):
        for entrant in standing.ours:
            name = {"CMA-ES": "CMA-ES (pycma)", "Lean-CAS-MORE": "lean CAS-MORE"}.get(
                entrant.name, entrant.name
            )
            if name in shown:
                assert shown[name][standing.dimension] == f"{entrant.score:.3f}"


@pytest.mark.slow
def test_the_commands_of_the_league(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    for name in (*CONFIGS, PEER):
        dimensions = {"league": "[5]", "league_40d": "[3]"}.get(name, "[2]")
        shrink(folder / f"configs/{name}.toml", functions='"1,8"', dimensions=dimensions)
    for name in ("league", "league_ablation"):  # an export does not replace others' trials
        shutil.rmtree(folder / "results" / name)
    (block,) = blocks(PAGE, "bash")
    for command in block.splitlines():
        run(command, folder)
    for figure in ("league/ecdf", "league/ecdf_05D", "league/league", "league_ablation/parts"):
        assert (folder / f"results/{figure}.png").exists()
