"""Tables for the terminal."""

from collections.abc import Collection, Sequence

from rich.table import Table


def terminal_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    ends: Collection[int],
    caption: str | None = None,
) -> Table:
    """Return a table in which headings and names are broken into lines, but no number is cut.

    Parameters
    ----------
    title
        Title of the table.
    headings
        Headings of the columns; the column of names has the heading "solver".
    rows
        At least one row of cells.
    ends
        The rows, counted from 0, below which there is a line.
    caption
        Text below the table.
    """
    table = Table(title=title, caption=caption)
    for heading, *column in zip(headings, *rows, strict=True):
        if heading == "solver":
            table.add_column(heading, overflow="fold")
            continue
        width = max(map(len, [*heading.split(), *column]))
        # a terminal may not know the letter
        name = heading.replace("µ", "u")
        table.add_column(name, justify="right", min_width=width, max_width=width)
    for i, row in enumerate(rows):
        table.add_row(*row, end_section=i in ends)
    return table
