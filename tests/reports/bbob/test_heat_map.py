"""The numbers in the cells of a heat map."""

import pytest

from casmore.reports.bbob.heat_map import spelled


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0049, "<.01"),
        (0.0051, ".01"),
        (0.994, ".99"),
        (0.996, "1.0"),
        (9.94, "9.9"),
        (9.96, "10"),
        (428.3, "428"),
    ],
)
def test_a_ratio_has_at_most_four_characters(ratio: float, text: str) -> None:
    assert spelled(ratio) == text
