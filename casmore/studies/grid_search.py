"""The result of a grid search: its table, ranked, and the winners."""

from collections.abc import Sequence
from pathlib import Path

from casmore.studies.run_table import Variant, read_variants

_RULE = """\
Variants are ranked by their expected running time (ERT) to 1e-8 at the mean: all evaluations
divided by the number of runs that reached it. Those that never did are ranked by the median of
their last value at the mean. Each variant has {runs} runs, with other seeds than the study
`rosenbrock`, which uses the winners.
"""


def ranked(variants: Sequence[Variant]) -> list[Variant]:
    """Return variants by merit, the best first."""
    return sorted(variants, key=lambda variant: (variant.attempts.ert, variant.value))


def by_algorithm(variants: Sequence[Variant]) -> dict[str, list[Variant]]:
    """Return the variants of each algorithm, whose name begins their labels, by merit."""
    groups: dict[str, list[Variant]] = {}
    for variant in variants:
        groups.setdefault(variant.label.partition("_")[0], []).append(variant)
    return {name: ranked(group) for name, group in groups.items()}


def write_table(results: Path) -> list[Path]:
    """Write ``rosenbrock_grid.md`` from ``rosenbrock_grid_runs.csv``; return the file."""
    variants = read_variants(results / "rosenbrock_grid_runs.csv")
    groups = by_algorithm(variants)
    rule = _RULE.format(runs=len(variants[0].runs))
    lines = ["# Grid search on the 15-D Rosenbrock function", "", rule]
    lines += [f"- **{name}**: {group[0].settings}" for name, group in groups.items()]
    for name, group in groups.items():
        lines += ["", f"## {name}", "", "| settings | at target | ERT | last value, median |"]
        lines += ["| --- | --: | --: | --: |"]
        lines += [
            f"| {variant.settings} | {variant.reached}/{len(variant.runs)} | "
            f"{variant.attempts.ert:.0f} | {variant.value:.2e} |"
            for variant in group
        ]
    path = results / "rosenbrock_grid.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [path]
