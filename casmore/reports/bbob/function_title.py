"""The titles of functions above panels of a quarter of the page's width."""

from casmore.problems.suites import Suite

_LONG = 28  # characters


def function_title_size(suite: Suite) -> float:
    """Return a font size with which all titles of the suite's functions fit."""
    return 7 if max(len(suite.title(f)) for f in suite.functions) < _LONG else 5.5
