import importlib.util
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from casmore.reports import ReportError, build
from reports import logged
from reports.logged import LoggedRun
from reports.pages import references


def test_report_has_everything(run: LoggedRun, index: Path) -> None:
    reports = run.folder / "reports"
    assert index == reports / "index.html"
    comparison = reports / "cocopp" / "comparison"
    # in each dimension an ECDF over all functions and one for each group
    for n in (2, 3):
        for part in ("noiselessall", "separ", "lcond"):
            assert (comparison / f"pprldmany_{n:02d}D_{part}.svg").stat().st_size > 5000
    for f in (1, 6):
        assert (comparison / f"ppfigs_f{f:03d}.svg").stat().st_size > 5000  # ERT scaling
    tables = (comparison / "pptables.html").read_text(encoding="latin-1")
    for solver in ("first", "second"):
        assert solver in tables
    assert (reports / "summary.csv").exists()
    for stem in ("ecdf", "ecdf_groups_02D", "ecdf_groups_03D"):
        assert (reports / f"{stem}.png").exists()
        assert (reports / f"{stem}.pdf").exists()


def test_pages_refer_to_nothing_that_is_missing(index: Path) -> None:
    pages = list(index.parent.rglob("*.html"))
    assert len(pages) >= 6
    for page in pages:
        missing = {name for name in references(page) if not (page.parent / name).exists()}
        assert not missing, page


def test_first_page_leads_to_cocopps(index: Path) -> None:
    linked = references(index)
    for name in ("pprldmany", "ppfigs", "pptables", "ppscatter"):
        assert f"cocopp/comparison/{name}.html" in linked
    assert {
        "summary.csv",
        "explore.html",
        "run.html",
        "ecdf.png",
        "ecdf.pdf",
        "cocopp.log",
    } <= linked
    assert "<h1>logged</h1>" in index.read_text(encoding="utf-8")


def test_nothing_else_is_left(run: LoggedRun, index: Path) -> None:
    names = {path.name for path in (index.parent / "cocopp").iterdir()}
    assert names == {"index.html", "cocopp_commands.tex", "comparison", ".made-of"}
    assert [path.name for path in index.parent.iterdir() if path.name.startswith(".")] == []
    # cocopp leaves pickles beside what it reads, and reads them the next time
    assert list(run.folder.rglob("*.pickle*")) == []


def test_reference_data_is_unpacked_outside_of_the_package(index: Path) -> None:
    log = (index.parent / "cocopp.log").read_text(encoding="utf-8")
    folders = re.findall(r"archive extracted to folder (\S+)", log)
    assert len(folders) == 1
    package = importlib.util.find_spec("cocopp")
    assert package is not None
    assert package.origin is not None
    for folder in map(Path, folders):
        assert not folder.is_relative_to(Path(package.origin).parent)
        assert not folder.exists()  # gone with the process


@pytest.mark.slow
def test_one_algorithm(tmp_path: Path) -> None:
    run = logged.make(tmp_path / "run", ["alone"], [1], [2], instances=2, budget=20)
    (tmp_path / "run" / "config.json").unlink()  # data from elsewhere has none
    output = io.StringIO()
    index = build(run.folder, console=Console(file=output, width=200))
    cocopps = run.folder / "reports" / "cocopp"
    assert (cocopps / "comparison" / "pprldmany_02D_noiselessall.svg").exists()
    assert (cocopps / "single-alone" / "ppfigdim_f001.svg").exists()
    assert "cocopp/single-alone/index1.html" in references(index)
    for page in index.parent.rglob("*.html"):
        assert all((page.parent / name).exists() for name in references(page)), page
    assert "alone" in output.getvalue()
    assert f"report: {index.resolve()}" in output.getvalue()


def test_no_data(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="has no COCO data"):
        build(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_league_is_a_section_of_the_first_page(index: Path) -> None:

    assert {"league.html", "league.png"} <= references(index)
    assert "index.html" in references(index.parent / "league.html")
