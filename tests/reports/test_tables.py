"""Tables of pages, in Chromium: no column is out of reach, however narrow the window is."""

from pathlib import Path

import pytest
from browser import WIDE, address, resize
from selenium.webdriver import Chrome

from casmore.experiments.work_unit import Unit
from casmore.reports import run_page
from casmore.reports.unit_table import UnitRow

pytestmark = [pytest.mark.slow, pytest.mark.browser]

_REASONS = ["no progress in f", "step size too small", "condition number", "budget exhausted"]

# of each table: whether its last column is in the window at first, and whether it is when the table
# is scrolled to its end, with the first column still beside it
_MEASURE = """
const tables = [...document.querySelectorAll("table.data")];
return tables.filter(table => table.rows.length > 1).map(table => {
  const row = table.rows[1];
  const inside = (cell) => {
    const {left, right} = cell.getBoundingClientRect();
    return left >= 0 && right <= window.innerWidth;
  };
  const last = [...row.cells].findLast(cell => cell.textContent !== "");
  const before = inside(last);
  table.parentElement.scrollLeft = 1e6;
  const after = inside(last) && inside(row.cells[0]);
  table.parentElement.scrollLeft = 0;
  return [before, after];
});
"""


@pytest.fixture(scope="module")
def run_html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("tables") / "run.html"
    rows = [
        UnitRow(
            Unit(solver, 8, n, 3),
            {
                "evaluations": 200_000,
                "budget": 200_000,
                "final_target_hit": False,
                "best_value": 1234.5678,
                "restarts": 3,
                "stop_reasons": [[reason] for reason in _REASONS],
                "wall_seconds": 12345.678,
                "cpu_seconds": 12345.678,
                "warnings": ["overflow encountered in multiply"],
            },
            failed=False,
        )
        for solver in ("CAS-MORE", "a solver with a long label")
        for n in (2, 40)
    ]
    run_page.write(page, "wide", page.parent, rows)
    return page


@pytest.mark.parametrize(
    ("width", "at_once"), [(WIDE[0], True), (1100, True), (900, True), (730, False), (375, True)]
)
def test_no_column_of_the_run_s_page_is_out_of_reach(
    browser: Chrome, run_html: Path, width: int, at_once: bool
) -> None:
    resize(browser, (width, 800))
    browser.get(address(run_html))
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    cost, units = browser.execute_script(_MEASURE)
    assert cost[1]
    assert units[1]
    if at_once:  # how runs ended is seen without scrolling
        assert cost[0]
