"""The table of default hyper-parameters, with values from the code.

The formulas are Python expressions; a test compares them with the defaults.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from casmore.algorithms.cas_more import CasMoreParameters

DIMENSIONS = (2, 5, 10, 20, 40)


@dataclass(frozen=True)
class Entry:
    """A row of the table.

    Attributes
    ----------
    name
        The field of `CasMoreParameters`.
    symbol
        The paper's symbol, in TeX.
    meaning
        Description.
    formula
        Python expression in ``n``; empty for a constant, whose value comes from the code.
    tex
        The formula in TeX.
    """

    name: str
    symbol: str
    meaning: str
    formula: str = ""
    tex: str = ""


ENTRIES = (
    Entry(
        "population_size",
        "K",
        "population size",
        "4 + floor(3 * log(n))",
        r"4 + \lfloor 3 \log n \rfloor",
    ),
    Entry(
        "queue_size",
        r"Q_\mathrm{max}",
        "maximum queue size",
        "max(ceil(1.5 * (1 + n + n * (n + 1) / 2)), 8 * (n + 1))",
        r"\max\{\lceil 1.5 (1 + n + n (n + 1) / 2) \rceil, 8 (n + 1)\}",
    ),
    Entry("epsilon_mean", r"\epsilon_\mu", "trust region of the mean"),
    Entry(
        "epsilon_covariance",
        r"\epsilon_\Sigma",
        "trust region of the covariance",
        "1.5 / (10 + n**1.5)",
        r"1.5 / (10 + n^{1.5})",
    ),
    Entry(
        "path_smoothing",
        r"c_\sigma",
        "smoothing factor of the evolution path",
        "1 / (2 + n**0.75)",
        r"1 / (2 + n^{0.75})",
    ),
    Entry("path_gain", r"\alpha", "gain of the entropy control"),
    Entry(
        "desired_angle",
        r"\theta",
        "desired angle between evolution path and step",
        "3 * pi / 8",
        r"3 \pi / 8",
    ),
    Entry("clip", r"v_\mathrm{clip}", "clip value of the robust normalization"),
    Entry("kurtosis_threshold", "k", "excess kurtosis threshold"),
    Entry("ridge", r"\lambda", "ridge of the regression"),
    Entry("samples_per_parameter", r"Q_\mathrm{min} / P", "samples that a model parameter needs"),
)
SYMBOLS = {entry.name: f"${entry.symbol}$" for entry in ENTRIES}


def write_tables(results: Path) -> list[Path]:
    """Write the table as Markdown and as TeX; return the files."""
    results.mkdir(parents=True, exist_ok=True)
    written = [results / "hyper_parameters.md", results / "hyper_parameters.tex"]
    for path, table in zip(written, (markdown(), latex()), strict=True):
        path.write_text(table, encoding="utf-8")
    return written


def markdown() -> str:
    """Return the table in Markdown, with the values in some dimensions."""
    head = ["parameter", "symbol", "default", *(f"n = {n}" for n in DIMENSIONS)]
    lines = [_row(head), _row(["---"] * 3 + ["--:"] * len(DIMENSIONS))]
    for entry in ENTRIES:
        formula = f"`{entry.formula}`" if entry.formula else _values(entry)[0]
        lines.append(_row([entry.meaning, f"${entry.symbol}$", formula, *_values(entry)]))
    note = "Default hyper-parameters of CAS-MORE, made by `make figures FIG=hyper_parameters`.\n\n"
    return note + "\n".join(lines) + "\n"


def latex() -> str:
    """Return the table in TeX, for the package booktabs."""
    columns = "ll" + "r" * len(DIMENSIONS)
    head = " & ".join(["Parameter", "Default", *(f"$n = {n}$" for n in DIMENSIONS)])
    rows = [
        " & ".join([f"${e.symbol}$: {e.meaning}", f"${e.tex}$" if e.tex else _tex(e)[0], *_tex(e)])
        + r" \\"
        for e in ENTRIES
    ]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head + r" \\", r"\midrule"]
    return "\n".join([*lines, *rows, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _values(entry: Entry) -> list[str]:
    defaults = (getattr(CasMoreParameters.default(n), entry.name) for n in DIMENSIONS)
    return [f"{value:.3g}" if isinstance(value, float) else str(value) for value in defaults]


def _tex(entry: Entry) -> list[str]:
    """Return the values with powers of ten as TeX writes them."""
    return [re.sub(r"^1e(-?)0*(\d+)$", r"$10^{\1\2}$", value) for value in _values(entry)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
