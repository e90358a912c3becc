"""The pages of docs/ and README.md, done as they say, with experiments made small.

Pages on one part of the package are tested beside the tests of that part.
"""

import gzip
import re
import shutil
import sys
import warnings
from pathlib import Path

import pytest
from clones import ROOT, blocks, clone, run, shrink

from casmore.experiments.config import check

STUDIES = "docs/studies.md"
AT_SCALE = "docs/at_scale.md"
BBOB = "docs/bbob.md"
# their Python blocks run alone
LIBRARY = (
    "README.md",
    "docs/index.md",
    "docs/library.md",
    "docs/noise.md",
    "docs/optuna.md",
    "docs/auto.md",
)
CODE = [
    pytest.param(code, id=f"{page}-{i}")
    for page in LIBRARY
    for i, code in enumerate(blocks(page, "python"))
]


def pages() -> list[Path]:
    """Return the pages of docs/, without what the build of the site copies."""
    return [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]


def test_each_page_with_code_has_a_test() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for path in pages():
        assert "```" not in path.read_text() or f"docs/{path.name}" in tests, path


@pytest.mark.parametrize("code", CODE)
def test_a_block_of_python_runs_alone(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, "block", "exec"), {"__name__": "__main__"})


def test_the_readme_leads_to_each_page() -> None:
    readme = (ROOT / "README.md").read_text()
    for path in (ROOT / "docs").glob("*.md"):
        if path.stem != "index":  # the first page of the site
            assert f"](docs/{path.name})" in readme


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub names them."""
    found = re.findall(r"^#+ (.*)", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().replace(" ", "-").lower() for heading in found}


def test_links_lead_somewhere() -> None:
    others = ("README.md", "CONTRIBUTING.md", "results/README.md")
    for path in (*(ROOT / page for page in others), *pages()):
        links = re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", path.read_text())
        for target, anchor in links:
            page = path.parent / target if target else path
            assert page.exists(), f"{path} points at {target}"
            assert not anchor or anchor in headings(page), f"{path} points at {target}#{anchor}"


def small(text: str) -> str:
    """Return a study's config with one short run of each variant."""
    text, runs = re.subn(r"^runs = \d+", "runs = 1", text, flags=re.MULTILINE)
    text, budget = re.subn(r"^evaluations = [\d_]+", "evaluations = 300", text, flags=re.MULTILINE)
    assert runs == budget == 1
    return text


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_run_in_a_clone(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    made_by_make = re.findall(r"^STUDY *\?= (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    studies = [folder / f"configs/{name}.toml" for name in made_by_make[0].split()]
    assert len(studies) >= 4
    for path in studies:
        path.write_text(small(path.read_text()))
    for picture in (folder / "results").glob("*.png"):
        picture.unlink()
    for block in blocks(STUDIES, "bash"):
        for command in block.splitlines():
            run(command, folder)
    made = {path.stem for path in (folder / "results").glob("*.png")}
    assert {"rosenbrock", "ablation", "sensitivity", "run_view"} <= made


@pytest.mark.slow
def test_a_study_of_ones_own_and_its_traces(tmp_path: Path) -> None:
    (config,) = blocks(STUDIES, "toml")
    (tmp_path / "mine.toml").write_text(small(config))
    (tmp_path / "results").symlink_to(ROOT / "results")
    run("casmore run mine.toml && casmore report runs/mine", tmp_path)
    for i, code in enumerate(blocks(STUDIES, "python")):
        (tmp_path / f"block{i}.py").write_text(code)
        run(f"{sys.executable} block{i}.py", tmp_path)
    assert (tmp_path / "cma.png").stat().st_size > 0
    assert (tmp_path / "run.png").stat().st_size > 0


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which the configs of the pages are small."""
    folder = clone(tmp_path_factory.mktemp("paper") / "clone")
    shrink(folder / "configs/paper.toml")
    for name, n in (("40d", 3), ("40d_five", 5), ("lean", 10), ("ca_more", 20)):
        shrink(folder / f"configs/paper_{name}.toml", dimensions=f"[{n}]")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_experiment_at_scale(paper: Path) -> None:
    folder = paper
    lines = [
        line
        for block in blocks(AT_SCALE, "bash")
        for command in block.splitlines()
        for line in run(command, folder).splitlines()
    ]
    assert lines.count("4 of 4 units done") == 2  # by status, of the run and of its shards
    assert "4 units checked, 0 damaged." in lines
    assert any(line.startswith("4 of 4 units are done.") for line in lines)  # by merge
    run("diff -r shared/paper/data runs/paper/data", folder)  # byte for byte

    shutil.copytree(folder / "shared/paper/data/CMA-ES", folder / "elsewhere/ANOTHER")
    run("casmore report paper --compare elsewhere/ANOTHER", folder)
    tables = folder / "runs/paper/reports/cocopp/comparison/pptables.html"
    assert {"CMA-ES", "ANOTHER"} <= set(re.findall(r"[A-Z-]+", tables.read_text("latin-1")))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_bbob_experiment(paper: Path) -> None:
    exported = paper / "results/bbob"
    for path in exported.iterdir():
        if path.is_file():  # the entry for the archive stays
            path.unlink()
    shrink(paper / "configs/quick.toml")
    run("casmore run quick", paper)
    printed = [
        run(command, paper) for block in blocks(BBOB, "bash") for command in block.splitlines()
    ]
    assert any("CAS-MORE" in text for text in printed)
    assert (exported / "trials.csv.gz").is_file()


@pytest.mark.slow
def test_the_comparison_under_noise(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    shrink(folder / "configs/noisy.toml", functions='"101"')
    shutil.rmtree(folder / "results/bbob-noisy")
    (block,) = blocks("docs/noise.md", "bash")
    for command in block.splitlines():
        run(command, folder)
    table = gzip.decompress((folder / "results/bbob-noisy/trials.csv.gz").read_bytes()).decode()
    assert table.count("\n") == 1 + 6  # of each solver


def test_settings_of_a_run_at_scale_are_known(tmp_path: Path) -> None:
    quick = (ROOT / "configs/quick.toml").read_text()  # which has no [run] of its own
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", (ROOT / AT_SCALE).read_text(), re.MULTILINE)
    backends = {name: re.findall(r"`(.+?)`", settings) for name, settings in rows[1:]}
    assert list(backends) == ["loky", "dask", "slurm"]
    sections = blocks(AT_SCALE, "toml")
    sections += [
        "\n".join(["[run]", f'backend = "{name}"', *settings])
        for name, settings in backends.items()
    ]
    assert len(sections) == 4
    for i, section in enumerate(sections):
        path = tmp_path / f"{i}.toml"
        path.write_text(f"{quick}\n{section}\n")
        assert f'backend = "{check.load(path).run.backend}"' in section
