"""Tables for the terminal."""

from collections.abc import Collection, Sequence

from rich.table import Table


def terminal_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    ends: Collection[int],
    caption: str | None = None,
) -> Table:
    """Return a table; if it is too wide, headings and names are broken into lines, but no number.

    Parameters
    ----------
    title
        Title of the table.
    headings
        Headings of the columns; the column of names has the heading "solver".
    rows
        At least one row of cells.
    width
        Width of the terminal, in characters.
    ends
        The rows, counted from 0, below which there is a line.
    caption
        Text below the table.
    """
    table = Table(title=title, caption=caption)
    columns = list(zip(headings, *rows, strict=True))
    fits = sum(max(map(len, column)) + 3 for column in columns) + 1 <= width  # with the borders
    for heading, *column in columns:
        if heading == "solver":
            table.add_column(heading, overflow="fold")
            continue
        narrow = None if fits else max(map(len, [*heading.split(), *column]))
        # a terminal may not know the letter
        name = heading.replace("µ", "u")
        table.add_column(name, justify="right", min_width=narrow, max_width=narrow)
    for i, row in enumerate(rows):
        table.add_row(*row, end_section=i in ends)
    return table
