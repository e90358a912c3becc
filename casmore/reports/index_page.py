"""The report's first page: ranks, comparison, figures, and links to all other pages."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from casmore.reports import league, pages
from casmore.reports.cocopp.report import COMPARISON, SINGLE_INDEX
from casmore.reports.league import Standing
from casmore.reports.summary import HEADINGS, Line, caption, cells

# cocopp's pages of a comparison, and what is on them; not every report has all of them
_COCOPP_PAGES = {
    "pprldmany.html": "ECDFs of runtimes: over all functions and for each group, in each dimension",
    "pprldflex.html": "the same ECDFs, to be browsed with the arrow keys",
    "ppfigs.html": "ERT scaling with the dimension, for each function",
    "pptables.html": "tables of ERT, for each function in each dimension",
    "ppscatter.html": "scatter plots of ERT, one solver against the other",
    "pprldistr2.html": "ECDFs for single targets, and of ERT ratios",
}


def write(
    page: Path,
    title: str,
    lines: Sequence[Line],
    standings: Sequence[Standing],
    figures: Sequence[tuple[str, Sequence[Path]]],
    *,
    failed: int = 0,
) -> None:
    """Write the page ``page``, beside which everything it links to already is.

    ``figures`` are PNG files, below headings, and a PDF file is beside each. ``failed`` units are
    missing in all that is shown, which the page says.
    """
    folder = page.parent
    pages.write(
        page,
        "index.html",
        title=title,
        headings=HEADINGS,
        rows=[cells(line) for line in lines],
        first=[i for i in range(1, len(lines)) if lines[i].dimension != lines[i - 1].dimension],
        caption=caption(lines[0].solver),
        failed=failed,
        place_title=league.title(standings),
        place_headings=league.headings(standings),
        places=[league.cells(s, entrant) for s in standings for entrant in s.ours],
        place_notes=league.notes(standings),
        figures=[
            (heading, [_link(folder, path.with_suffix("")) for path in paths])
            for heading, paths in figures
        ],
        links=[(_link(folder, path), text) for path, text in _cocopp_links(folder / "cocopp")],
    )


def _cocopp_links(report: Path) -> Iterator[tuple[Path, str]]:
    for name, text in _COCOPP_PAGES.items():
        if (report / COMPARISON / name).exists():
            yield report / COMPARISON / name, text
    for single in sorted(report.glob("single-*")):
        yield single / SINGLE_INDEX, f"{single.name.removeprefix('single-')} alone"
    yield report.with_name(report.name + ".log"), "cocopp's log"


def _link(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
