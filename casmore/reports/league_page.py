"""The league in the terminal, and as a page with a picture and a table of all functions."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from casmore.atomic_io import write_text
from casmore.plotting import style
from casmore.reports import pages
from casmore.reports.league import (
    Standing,
    cells,
    function_headings,
    function_rows,
    headings,
    notes,
    table_csv,
)
from casmore.reports.league import title as league_title
from casmore.reports.league_figure import strips
from casmore.reports.terminal_table import terminal_table


def write(folder: Path, title: str, standings: Sequence[Standing], *, back: str = "") -> None:
    """Write ``league.png``, ``league.pdf``, ``league.csv`` and ``league.html`` to ``folder``.

    ``back`` is the page that this one belongs to, if there is one.
    """
    style.save(strips(standings), folder / "league")
    write_text(folder / "league.csv", table_csv(standings))
    pages.write(
        folder / "league.html",
        "league.html",
        title=title,
        back=back,
        suite=standings[0].suite,
        headings=headings(standings),
        places=[cells(s, entrant) for s in standings for entrant in s.ours],
        notes=notes(standings),
        function_headings=function_headings(standings),
        functions=[(s.dimension, len(s.ours), function_rows(s)) for s in standings],
    )


def print_places(console: Console, standings: Sequence[Standing]) -> None:
    """Print the places of the solvers."""
    placed = [(standing, entrant) for standing in standings for entrant in standing.ours]
    table = terminal_table(
        league_title(standings),
        headings(standings),
        [cells(*place) for place in placed],
        width=console.width,
        ends=[i for i, (standing, entrant) in enumerate(placed) if entrant is standing.ours[-1]],
    )
    console.print(table)
    for note in notes(standings):
        console.print(note, markup=False, highlight=False)
