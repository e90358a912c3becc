"""The table of default hyper-parameters against the code."""

from math import ceil, floor, log, pi
from pathlib import Path

import pytest

from casmore.algorithms.cas_more import CasMoreParameters
from casmore.studies import hyper_parameters

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("entry", hyper_parameters.ENTRIES, ids=lambda entry: entry.name)
def test_the_tables_formulas_are_the_codes_defaults(entry: hyper_parameters.Entry) -> None:
    names = {"log": log, "floor": floor, "ceil": ceil, "max": max, "pi": pi}
    for n in (*range(1, 50), 70, 84):  # beyond, the default is the diagonal model
        expected = getattr(CasMoreParameters.default(n), entry.name)
        formula = entry.formula or str(getattr(CasMoreParameters.default(2), entry.name))
        assert eval(formula, {**names, "n": n}) == pytest.approx(expected, rel=1e-12)


def test_the_committed_table_is_the_codes() -> None:
    committed = (RESULTS / "hyper_parameters.md").read_text(encoding="utf-8")
    assert committed == hyper_parameters.markdown()
