"""The table of scores, of trials whose scores are known."""

import numpy as np

from casmore.reports.league import standings
from casmore.reports.league_figure import strips
from casmore.reports.runtimes import Runtimes
from casmore.reports.score_table import by_function, by_group


def solver(name: str, functions: range, evaluations: float, dimension: int) -> list[Runtimes]:
    """A solver that reaches all targets after the same number of evaluations."""
    reached = np.full((51, 1), evaluations)
    spent = np.array([evaluations])
    return [Runtimes(name, f, dimension, (1,), spent, reached) for f in functions]


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {(n, group): [cell.strip() for cell in cells] for n, group, *cells in table}


def test_scores_of_groups_and_of_all_functions() -> None:
    runtimes = [
        *solver("tens", range(1, 25), 50.0, 5),  # 10 n evaluations: a quarter less than 1
        *solver("thousands", range(1, 10), 5000.0, 5),
        *solver("thousands", range(1, 25), 2e4, 20),
    ]
    found = rows(by_group(standings(runtimes)))
    assert found["n", "functions"][:2] == ["tens", "thousands"]
    assert found["5", "separable"][:2] == ["**0.750**", "0.250"]
    assert found["5", "moderate"][:2] == ["**0.750**", "0.250"]
    # without data of all functions of the group
    assert found["5", "multi-modal"][:2] == ["**0.750**", ""]
    assert found["5", "all"][:2] == ["**0.750**", ""]
    assert found["20", "all"][:2] == ["", "**0.250**"]


def test_columns_have_the_order_of_the_data_though_a_dimension_lacks_a_solver() -> None:
    runtimes = [
        *solver("first", range(1, 25), 50.0, 5),
        *solver("second", range(1, 25), 50.0, 20),
        *solver("third", range(1, 25), 50.0, 5),
    ]
    found = standings(runtimes)
    assert rows(by_group(found))["n", "functions"][:3] == ["first", "second", "third"]
    legend = strips(found).legends[0]
    assert [text.get_text() for text in legend.get_texts()][:3] == ["first", "second", "third"]


def test_scores_of_single_functions() -> None:
    found = rows(by_function(standings(solver("tens", range(1, 12), 50.0, 5))))
    assert found["n", "function"][0] == "tens"
    assert found["5", "f11 Discus"][0] == "**0.750**"
    assert found["5", "f12 Bent cigar"][0] == ""


def test_virtual_best_solvers_are_beside_them() -> None:
    found = rows(by_group(standings(solver("one", range(1, 25), 5.0, 5))))
    assert found["n", "functions"] == ["one", "best 2009-16", "best 2009"]
    # of COCO's archive, by another program
    assert found["5", "all"] == ["**1.000**", "0.529", "0.461"]
