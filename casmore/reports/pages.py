"""Pages from the templates in ``reports/templates``."""

from pathlib import Path
from typing import Any

import jinja2

from casmore.atomic_io import write_text

_LONGEST_WORD = 24


def write(page: Path, template: str, **content: Any) -> None:
    """Fill a template and write the page in one atomic step.

    Parameters
    ----------
    page
        The file.
    template
        The template's name, ``"index.html"`` for example.
    content
        The template's variables; their values are escaped.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(is_number=_is_number, is_long=_is_long)
    write_text(page, environment.get_template(template).render(content))


def _is_number(cell: object) -> bool:
    return str(cell).translate(str.maketrans("", "", " ,./-+")).isdigit() or cell == "-"


def _is_long(cell: object) -> bool:
    """Whether a word would widen its column so much that it must be broken."""
    return any(len(word) > _LONGEST_WORD for word in str(cell).split())
