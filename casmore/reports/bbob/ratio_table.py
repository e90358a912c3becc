"""The table of ERT ratios to the best of 2009, as in COCO's publications: Markdown and LaTeX.

For each function the first row gives the ERT of the virtual best solver of 2009 to seven targets.
Where a suite has no such solver, its oldest virtual best solver stands in its place.
Below it are the ratios of each solver's ERT to it, and how many trials reached 1e-8. Where no trial
reached a target, the median number of evaluations of its trials is given. The best solver is in
bold. A star marks one that is significantly better than all others: rank-sum test, p < 0.05 or
p < 10^-k with an exponent k, after Bonferroni's correction with the number of functions. An arrow
marks a solver that is better than the best of 2009: its ERT is smaller, and so are the runtimes of
at least 90 % of its trials; the number is that of the other trials.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from casmore.problems.suites import Suite
from casmore.reports import references
from casmore.reports.bbob.significance import p_value_against_all
from casmore.reports.report_error import ReportError
from casmore.reports.runtimes import ERT_ROWS, ERT_TARGETS, Runtimes, solvers, suite_of

_LEVEL = 0.05
_WORSE = 0.1  # at most this part of the trials may be worse than the best of 2009
_TARGETS = [f"1e{round(math.log10(target))}" for target in ERT_TARGETS]

CAPTION = (
    "ERT ratios to the {best} in {n}-D. First row of a function: ERT of the {best} in "
    "evaluations. #succ: trials that reached 1e-8. Bold: smallest ERT. Star: better than all other "
    "solvers (rank-sum test, p < 0.05, or p < 10^-k with the exponent k, Bonferroni correction "
    "with the number of functions). Arrow: better than the {best} in all but the given "
    "number of trials."
)


@dataclass(frozen=True)
class RatioCell:
    """A solver's result for one target.

    Attributes
    ----------
    ratio
        Its ERT divided by that of the best of 2009; infinite if the target was not reached.
    median
        The median number of evaluations of its trials.
    best
        Whether its ERT is the smallest of all solvers.
    exponent
        k if it is better than all others with p < 10^-k (0: p < 0.05); None if it is not.
    worse
        How many trials were worse than the best of 2009, if it is better than that; else None.
    """

    ratio: float
    median: float
    best: bool
    exponent: int | None
    worse: int | None


@dataclass(frozen=True)
class Row:
    """A solver's results on one function."""

    solver: str
    cells: tuple[RatioCell, ...]
    successes: int
    trials: int


@dataclass(frozen=True)
class Block:
    """The results on one function: ERT of the best of 2009, and a row for each solver."""

    suite: Suite
    function: int
    best: tuple[float, ...]
    rows: tuple[Row, ...]


def blocks(runtimes: Sequence[Runtimes], dimension: int) -> list[Block]:
    """Return the table of one dimension, a block for each function.

    Raises
    ------
    ReportError
        If there is no virtual best solver of the suite.
    """
    suite = suite_of(runtimes)
    if not suite.best:
        raise ReportError(f"there is no virtual best solver of {suite.name}, so no ratio to it")
    own = [r for r in runtimes if r.dimension == dimension]
    functions = sorted({r.function for r in own})
    order = solvers(runtimes)
    found = []
    for function in functions:
        group = sorted(
            (r for r in own if r.function == function), key=lambda r: order.index(r.solver)
        )
        best = references.best(suite, suite.best[-1])[dimension, function]
        rows = []
        for r in group:
            cells = tuple(
                _cell(r, group, row, float(best[row]), len(functions)) for row in ERT_ROWS
            )
            rows.append(Row(r.solver, cells, r.successes, r.trials))
        of_best = tuple(float(best[row]) for row in ERT_ROWS)
        found.append(Block(suite, function, of_best, tuple(rows)))
    return found


def _cell(own: Runtimes, group: Sequence[Runtimes], row: int, best: float, tests: int) -> RatioCell:
    ert, others = float(own.ert[row]), [r for r in group if r is not own]
    p = tests * p_value_against_all(own, others, row) if math.isfinite(ert) else 1.0
    exponent = max(0, -math.ceil(math.log10(max(p, 1e-99)))) if p < _LEVEL else None
    worse = None
    if math.isfinite(ert) and ert < best:
        evaluations = own.evaluations[row]
        slower = own.trials - np.sum(evaluations < best) - np.sum(evaluations == best) / 2
        if slower < _WORSE * own.trials:
            worse = math.floor(slower)
    return RatioCell(
        ratio=ert / best if math.isfinite(best) else (0.0 if math.isfinite(ert) else math.inf),
        median=float(np.median(own.spent)),
        best=math.isfinite(ert) and ert <= min(float(r.ert[row]) for r in group),
        exponent=exponent if exponent != 1 else 0,
        worse=worse,
    )


def _caption(table: Sequence[Block], dimension: int) -> str:
    best = table[0].suite.best[-1].replace("best ", "best of ")
    return CAPTION.format(best=best, n=dimension)


def markdown(table: Sequence[Block], dimension: int) -> str:
    """Return the table as Markdown."""
    lines = [_caption(table, dimension), "", f"| | {' | '.join(_TARGETS)} | #succ |"]
    lines.append("| --- |" + " ---: |" * (len(_TARGETS) + 1))
    for block in table:
        best = " | ".join(f"*{_number(ert)}*" for ert in block.best)
        lines.append(f"| **{block.suite.title(block.function)}** | {best} | |")
        for row in block.rows:
            cells = " | ".join(_markdown_cell(cell) for cell in row.cells)
            lines.append(f"| {row.solver} | {cells} | {row.successes}/{row.trials} |")
    return "\n".join(lines) + "\n"


def _markdown_cell(cell: RatioCell) -> str:
    if math.isinf(cell.ratio):
        return f"∞ *{_number(cell.median)}*"
    text = f"**{_number(cell.ratio)}**" if cell.best else _number(cell.ratio)
    if cell.exponent is not None:
        text += f"<sup>★{cell.exponent or ''}</sup>"
    if cell.worse is not None:
        text += f"<sub>↑{cell.worse or ''}</sub>"
    return text


def latex(table: Sequence[Block], dimension: int) -> str:
    """Return the table as LaTeX; it needs the packages ``booktabs`` and ``longtable``."""
    return "\n".join(_latex_lines(table, dimension)) + "\n"


def _latex_lines(table: Sequence[Block], dimension: int) -> Iterator[str]:
    yield r"\begin{longtable}{l" + "r" * (len(_TARGETS) + 1) + "}"
    caption = _caption(table, dimension).replace("#", r"\#").replace("%", r"\%")
    caption = caption.replace("p < 0.05", r"$p < 0.05$").replace("p < 10^-k", r"$p < 10^{-k}$")
    yield rf"\caption{{{caption.replace('exponent k', 'exponent $k$')}}}\\"
    yield r"\toprule"
    yield " & ".join(["", *_TARGETS, r"\#succ"]) + r" \\"
    yield r"\midrule"
    yield r"\endhead"
    for i, block in enumerate(table):
        if i:
            yield r"\addlinespace"
        name = block.suite.title(block.function).replace("ü", r"\"u")
        best = [rf"\textit{{{_latex_number(ert)}}}" for ert in block.best]
        yield " & ".join([rf"\textbf{{{name}}}", *best, ""]) + r" \\"
        for row in block.rows:
            cells = [_latex_cell(cell) for cell in row.cells]
            solver = row.solver.replace("_", r"\_")
            yield " & ".join([solver, *cells, f"{row.successes}/{row.trials}"]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{longtable}"


def _latex_cell(cell: RatioCell) -> str:
    if math.isinf(cell.ratio):
        return rf"$\infty$ \textit{{{_latex_number(cell.median)}}}"
    number = _latex_number(cell.ratio)
    text = rf"\textbf{{{number}}}" if cell.best else number
    if cell.exponent is not None:
        text += rf"$^{{\star {cell.exponent or ''}}}$"
    if cell.worse is not None:
        text += rf"$_{{\uparrow {cell.worse or ''}}}$"
    return text


def _latex_number(value: float) -> str:
    return r"$\infty$" if math.isinf(value) else _number(value)


def _number(value: float) -> str:
    """Return two or more digits, in the form that is shorter: 0.54, 7.3, 54, 540, 5.4e4."""
    if math.isinf(value):
        return "∞"
    for below, form in ((0.995, ".2f"), (9.95, ".1f"), (9999.5, ".0f")):
        if value < below:
            return format(value, form)
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"
