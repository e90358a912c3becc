"""Labels may have forty characters: no figure of a report cuts them off."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from casmore.reports import ecdf, league
from casmore.reports.bbob.heat_map import heat_map
from casmore.reports.league_figure import strips
from casmore.reports.runtimes import Runtimes, solvers


@pytest.fixture
def long_named(loaded: list[Runtimes]) -> list[Runtimes]:
    """Six solvers whose labels are as long as possible."""
    return [replace(r, solver=f"{r.solver}-{k}".ljust(40, "x")) for k in range(3) for r in loaded]


@pytest.mark.parametrize(
    "draw",
    [
        lambda rs: ecdf.by_dimension(rs, {2: 150.0, 3: 150.0}),
        lambda rs: heat_map(rs, *solvers(rs)[:2]),
        lambda rs: strips(league.standings(rs)),
    ],
    ids=["ECDF", "heat map", "league"],
)
def test_every_label_is_inside_of_the_figure(
    draw: Callable[[list[Runtimes]], Figure], long_named: list[Runtimes]
) -> None:
    figure = draw(long_named)
    figure.draw_without_rendering()
    names = solvers(long_named)
    # of the others, the labels of ticks outside of the axes are not drawn
    texts = [t for t in figure.findobj(Text) if any(name in t.get_text() for name in names)]
    assert len(texts) >= 2
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 <= box.x1 <= figure.bbox.width + 1, text
        assert -1 <= box.y0 <= box.y1 <= figure.bbox.height + 1, text
