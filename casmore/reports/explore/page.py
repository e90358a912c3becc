"""Write the page to explore, with Plotly's script beside it."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from markupsafe import Markup

from casmore.atomic_io import write_text
from casmore.reports import league, pages
from casmore.reports.explore.document import document
from casmore.reports.league import Standing
from casmore.reports.regret.regrets import Regrets
from casmore.reports.runtimes import Runtimes, suite_of

PAGE, PLOTLY = "explore.html", "plotly.min.js"
_SCRIPTS = ("numbers.js", "figures.js", "controls.js")


def write(
    folder: Path,
    title: str,
    runtimes: Sequence[Runtimes],
    budgets: Mapping[int, float],
    standings: Sequence[Standing],
    regrets: Sequence[Regrets] = (),
) -> None:
    """Write ``explore.html`` and ``plotly.min.js`` to ``folder``; no network is needed to use them.

    The arguments are those of `document`.
    """
    from plotly.offline import get_plotlyjs

    write_text(folder / PLOTLY, get_plotlyjs())
    pages.write(
        folder / PAGE,
        "explore.html",
        title=title,
        plotly=PLOTLY,
        suite=suite_of(runtimes),
        league_title=league.title(standings),
        data=_in_script(document(title, runtimes, budgets, standings, regrets)),
        scripts=[
            Markup(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
            for name in _SCRIPTS
        ],
    )


def _in_script(data: object) -> Markup:
    """Return data as JSON that no name in it can end the script element of."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))
