"""The page to explore, used in Chromium: what it shows is what casmore's own code computes."""

import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import PHONE, WIDE, address, messages, requests, resize
from numpy.typing import NDArray
from reports.logged import LoggedRun, Trial
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from casmore.atomic_io import write_text
from casmore.problems.suites import BBOB, BEST_2009, BOXED
from casmore.reports import ecdf, league, references, run_data, summary
from casmore.reports.bbob import ecdf_figure, heat_map
from casmore.reports.explore import page as explore_page
from casmore.reports.regret import regrets
from casmore.reports.regret.regrets import Regrets
from casmore.reports.runtimes import TARGETS, Runtimes, comparable

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def report(
    run: LoggedRun, loaded: list[Runtimes], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("explore") / "a report"
    budgets, standings = run_data.budgets(run.folder, loaded), league.standings(loaded)
    explore_page.write(folder, "logged", loaded, budgets, standings, _recorded(run))
    summary.write_csv(folder / "summary.csv", loaded, budgets, {})
    write_text(folder / "league.csv", league.table_csv(standings))
    return folder


def _recorded(run: LoggedRun) -> list[Regrets]:
    """The median of recent samples; in place of the mean's, the values of single samples."""
    found = []
    for (solver, n, f), trials in run.log.items():
        records = []
        for trial in trials:
            ends = _ends(trial)
            samples = [_median(trial, end) for end in ends]
            single = [trial.precisions[end - 1] for end in ends]
            records.append((np.array(ends, float), np.array(samples), np.array(single)))
        found.append(regrets.collect(solver, f, n, [1, 2, 3], records))
    return found


def _ends(trial: Trial) -> list[int]:
    last = len(trial.precisions)
    grid = {math.ceil(10 ** (k / 20)) for k in range(200)} | {last}
    return sorted(end for end in grid if end <= last)


def _median(trial: Trial, end: int) -> float:
    recent = trial.precisions[max(0, end - 20) : end]
    return sorted(recent)[(len(recent) + 1) // 2 - 1]


@pytest.fixture
def page(browser: Chrome, report: Path) -> Chrome:
    """The page as it is when it is opened, in a wide window."""
    resize(browser, WIDE)
    browser.get("about:blank")
    requests(browser)
    browser.get(address(report / "explore.html"))
    _wait(browser, "document.body.dataset.ready === 'yes'")
    return browser


def _wait(page: Chrome, condition: str) -> None:
    WebDriverWait(page, 120).until(lambda page: page.execute_script(f"return {condition}"))


def _element(page: Chrome, selector: str) -> WebElement:
    return page.find_element("css selector", selector)


def _choose(page: Chrome, name: str, value: object) -> None:
    Select(_element(page, f"#{name}")).select_by_value(str(value))


def _rows(page: Chrome, table: str) -> list[list[str]]:
    """The cells of a table of the page."""
    return page.execute_script(  # type: ignore[no-any-return]
        "return [...document.getElementById(arguments[0]).rows]"
        ".map(row => [...row.cells].map(cell => cell.textContent))",
        table,
    )


def _lines(page: Chrome) -> list[str]:
    """The lines of the ECDF, as drawn."""
    found = page.find_elements("css selector", "#ecdf .scatterlayer path.js-line")
    return [str(path.get_attribute("d")) for path in found]


def _point_at(page: Chrome, figure: str, right: float, down: float) -> list[str]:
    """Move the pointer into a figure; the shares are those of its axes. Return what appears."""
    area = _element(page, f"#{figure} .nsewdrag")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    width, height = area.size["width"], area.size["height"]
    ActionChains(page).move_to_element_with_offset(
        area, round((right - 0.5) * width), round((down - 0.5) * height)
    ).perform()
    shown = f"#{figure} .hoverlayer text"
    _wait(page, f"document.querySelector('{shown}') !== null")
    # the lines of a label are elements of their own
    return page.execute_script(  # type: ignore[no-any-return]
        "return [...document.querySelectorAll(arguments[0])].flatMap(text => "
        "text.children.length ? [...text.children].map(line => line.textContent) "
        ": [text.textContent])",
        shown,
    )


def _at(steps: tuple[NDArray[np.float64], NDArray[np.float64]], x: float) -> float:
    reached = np.count_nonzero(steps[0] <= x)
    return float(steps[1][reached - 1]) if reached else 0.0


def _summary(report: Path) -> dict[tuple[str, int, int], dict[str, str]]:
    with (report / "summary.csv").open(newline="", encoding="utf-8") as file:
        return {
            (row["solver"], int(row["dimension"]), int(row["function"])): row
            for row in csv.DictReader(file)
        }


def test_the_page_loads_without_complaints_and_without_a_network(
    page: Chrome, report: Path
) -> None:
    assert messages(page) == []
    files = {address(report / name) for name in ("explore.html", "plotly.min.js")}
    assert {url for url in requests(page) if not url.startswith(("data:", "blob:"))} == files
    assert page.find_elements("css selector", "#problem:not([hidden])") == []


def test_the_missing_script_is_named(browser: Chrome, report: Path, tmp_path: Path) -> None:
    alone = tmp_path / "explore.html"
    alone.write_bytes((report / "explore.html").read_bytes())
    browser.get(address(alone))
    assert _element(browser, "#problem").text == "plotly.min.js is missing beside this page."
    messages(browser)


def test_a_click_takes_a_solver_away_and_brings_it_back(page: Chrome) -> None:
    before = _lines(page)
    assert len(before) == 3
    box = _element(page, "input[value=second]")
    box.click()
    _wait(page, "document.querySelectorAll('#ecdf path.js-line').length === 2")
    assert _lines(page) == before[1:]
    assert [name for name, *_ in _rows(page, "values")] == ["first", "best 2009"]
    box.click()
    _wait(page, "document.querySelectorAll('#ecdf path.js-line').length === 3")
    assert _lines(page) == before


@pytest.mark.parametrize(
    ("n", "choice", "functions"),
    [(2, "all", [1, 6]), (3, "separable", [1]), (3, "f6", [6])],
)
def test_values_under_the_pointer_are_those_of_the_ecdf(
    page: Chrome, loaded: list[Runtimes], n: int, choice: str, functions: list[int]
) -> None:
    _choose(page, "dimension", n)
    _choose(page, "functions", choice)
    curves = {
        solver: ecdf.curve([r for r in own if r.function in functions])
        for solver, own in comparable(loaded, n).items()
    }
    best = references.best(BBOB, BEST_2009)
    curves["best 2009"] = ecdf_figure.curve([best[n, f][:, None] for f in functions], n)
    seen = set()
    for right in (0.5, 0.7, 0.9):
        place, *values = _point_at(page, "ecdf", right, 0.5)
        x = float(place.removesuffix(" evaluations / dimension"))
        seen.add(x)
        assert [value.split(" : ")[0] for value in values] == list(curves)
        for value, curve in zip(values, curves.values(), strict=True):
            assert value.split(" : ")[1] == f"{_at(curve, x):.4f}"
    assert len(seen) == 3


@pytest.mark.parametrize("kind", ["samples", "mean"])
def test_typical_samples_have_curves_too(page: Chrome, run: LoggedRun, kind: str) -> None:
    before = _lines(page)
    _choose(page, "kind", kind)
    assert _lines(page)[:2] != before[:2]
    for right in (0.6, 0.8, 0.95):
        place, *values = _point_at(page, "ecdf", right, 0.5)
        x = float(place.removesuffix(" evaluations / dimension"))
        # the best of 2009 has no samples
        assert [value.split(" : ")[0] for value in values] == ["second", "first"]
        for value in values:
            solver, fraction = value.split(" : ")
            reached = []
            for trial in (t for f in (1, 6) for t in run.log[solver, 2, f]):
                past = [end for end in _ends(trial) if end <= 2 * x]
                last = past[-1] if past else 0
                regret = math.inf
                if last:
                    single = trial.precisions[last - 1]
                    regret = _median(trial, last) if kind == "samples" else single
                reached.append(np.mean(regret <= TARGETS))
            assert fraction == f"{np.mean(reached):.4f}"


def test_areas_and_values_in_the_table_are_those_of_the_summary(page: Chrome, report: Path) -> None:
    for (solver, n, f), row in _summary(report).items():
        _choose(page, "dimension", n)
        _choose(page, "functions", f"f{f}")
        areas = {name: area for name, _, area in _rows(page, "values")}
        assert float(areas[solver]) == pytest.approx(float(row["ecdf_area"]), abs=6e-5)


def test_the_area_up_to_a_budget_of_n_is_the_value_there(page: Chrome) -> None:
    steps = "{x: [0.5, 1, 2], y: [0.1, 0.2, 0.7]}"
    assert page.execute_script(f"return area({steps}, 1)") == 0.2


def test_the_slider_chooses_the_place_of_the_values(page: Chrome, loaded: list[Runtimes]) -> None:
    slider = _element(page, "#at")
    assert slider.accessible_name == "Values at evaluations / dimension"
    slider.send_keys(Keys.ARROW_LEFT * 40)
    x = float(_element(page, "#place").text)
    assert 10 < x < 150
    rows = {name: value for name, value, _ in _rows(page, "values")}
    for solver, own in comparable(loaded, 2).items():
        assert rows[solver] == f"{_at(ecdf.curve(own), x):.4f}"


@pytest.mark.parametrize("column", ["ert_1e1", "ert_1e-1", "ert_1e-7"])
def test_erts_under_the_pointer_are_those_of_the_summary(
    page: Chrome, report: Path, column: str
) -> None:
    summary = _summary(report)
    Select(_element(page, "#target")).select_by_visible_text(column.removeprefix("ert_"))
    for i, n in enumerate((2, 3)):
        for j, f in enumerate((1, 6)):
            heading, *lines = _point_at(page, "ratios", (j + 0.6) / 2, (i + 0.4) / 2)
            assert heading.startswith(f"f{f} ")
            assert f", {n}-D" in heading
            erts = [summary[solver, n, f][column] for solver in ("second", "first")]
            shown = [line.split(": ")[1].replace("not reached", "inf") for line in lines[:2]]
            assert [float(text) for text in shown] == [float(ert) for ert in erts]


def test_ratios_are_those_of_the_heat_map(page: Chrome, loaded: list[Runtimes]) -> None:
    table = {(r.solver, r.dimension, r.function): r for r in loaded}
    for (_, n, f), other in [item for item in table.items() if item[0][0] == "first"]:
        ratio, row = heat_map.ratio(table["second", n, f], other)
        found = page.execute_script(f"return compare('second', 'first', 'common', {n}, {f})")
        assert found["row"] == row
        assert found["ratio"] == pytest.approx(ratio)


def test_the_first_solver_can_be_compared_with_the_best_of_2009(page: Chrome) -> None:
    _choose(page, "second", "best 2009")
    _choose(page, "target", 20)
    _choose(page, "functions", "f1")
    best = references.best(BBOB, BEST_2009)[2, 1][20]
    assert f"ERT of best 2009: {best:.6g};" in _element(page, "#cell").text


def test_a_click_on_a_cell_chooses_its_dimension_and_function(page: Chrome) -> None:
    before = _lines(page)
    assert not _element(page, "#trials").is_displayed()
    _point_at(page, "ratios", 0.8, 0.8)
    ActionChains(page).click().perform()
    _wait(page, "document.getElementById('functions').value === 'f6'")
    assert _element(page, "#dimension").get_attribute("value") == "3"
    assert _lines(page) != before
    assert _element(page, "#trials").is_displayed()


def test_trials_are_drawn_one_by_one(page: Chrome, run: LoggedRun) -> None:
    _choose(page, "functions", "f6")
    drawn = page.execute_script(
        "return document.getElementById('trials').data.filter(t => t.mode === 'lines')"
        ".map(t => [t.name, t.x, t.y, t.text])"
    )
    assert len(drawn) == 2 * 3
    for name, x, y, text in drawn:
        solver, instance = re.fullmatch(r"(\w+), instance (\d)", name).groups()  # type: ignore[union-attr]
        trial = run.log[solver, 2, 6][int(instance) - 1]
        reached = [(t, count) for t in TARGETS if (count := trial.reached(t)) is not None]
        assert y[: len(reached)] == pytest.approx([target for target, _ in reached])
        assert x[: len(reached)] == pytest.approx([count / 2 for _, count in reached])
        if trial.reached(TARGETS[-1]) is None:
            assert x[-1] == len(trial.precisions) / 2
            assert text[-1].endswith(f" at the end, after {len(trial.precisions)} evaluations")


def test_the_league_is_that_of_the_report(page: Chrome, report: Path) -> None:
    with (report / "league.csv").open(newline="", encoding="utf-8") as file:
        truth = {(row["name"], row["dimension"]): row for row in csv.DictReader(file)}
    rows = _rows(page, "ranks")
    assert len(rows) == 2 * 2
    for n, solver, score, rank in rows:
        row = truth[solver, n]
        assert float(score) == pytest.approx(float(row["score"]), abs=6e-5)
        assert rank == f"{row['rank']} of {row['places']}"


def test_the_choices_are_in_the_address(page: Chrome, report: Path) -> None:
    _choose(page, "dimension", 3)
    _choose(page, "functions", "f6")
    _element(page, "input[value=first]").click()
    kept = page.current_url
    page.get("about:blank")
    page.get(kept)
    _wait(page, "document.body.dataset.ready === 'yes'")
    assert [name for name, *_ in _rows(page, "values")] == ["second", "best 2009"]
    assert _element(page, "#what").text.startswith("Of the best value so far: 1 function in 3-D")
    assert _element(page, "#dimension").get_attribute("value") == "3"


def test_a_suite_that_nobody_is_known_on(
    browser: Chrome, loaded: list[Runtimes], tmp_path: Path
) -> None:
    boxed = [replace(r, suite=BOXED) for r in loaded]
    explore_page.write(tmp_path, "boxed", boxed, {2: 150.0, 3: 150.0}, league.standings(boxed))
    messages(browser)
    browser.get(address(tmp_path / "explore.html"))
    _wait(browser, "document.body.dataset.ready === 'yes'")
    assert messages(browser) == []
    assert len(_lines(browser)) == 2
    assert [row[:2] for row in _rows(browser, "ranks")] == [
        [n, solver] for n in ("2", "3") for solver in ("second", "first")
    ]
    assert "rank" not in _element(browser, "body").text


def test_every_choice_has_a_name_and_is_reached_with_the_keyboard(page: Chrome) -> None:
    fields = page.find_elements("css selector", "select, input")
    named = {field.id: field.accessible_name for field in fields if field.is_displayed()}
    assert all(named.values())
    reached = set()
    for _ in range(60):
        ActionChains(page).send_keys(Keys.TAB).perform()
        reached.add(page.switch_to.active_element.id)
    assert named.keys() <= reached


def test_on_a_phone_nothing_is_cut_off(page: Chrome) -> None:
    resize(page, PHONE)
    _wait(page, "document.getElementById('ratios')._fullLayout.width < 375")
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    # functions are the rows, and there is room for a number in a cell
    _point_at(page, "ratios", 0.75, 0.25)
    ActionChains(page).click().perform()
    _wait(page, "document.getElementById('functions').value === 'f1'")
    assert _element(page, "#dimension").get_attribute("value") == "3"
    assert messages(page) == []
