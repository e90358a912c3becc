"""What a grid search found: its table, the winners, and how they were chosen."""

from collections.abc import Sequence
from pathlib import Path

from casmore.studies.tables import End, read_ends

_RULE = """\
Of each algorithm the variant with the most runs at the target comes first; of equals that with
the fewest evaluations (ERT); where none got there, the one with the smallest value at the mean in
the end. These are medians of {runs} runs with other seeds than those of the study `rosenbrock`,
which uses the winners. MORE is also shown there with a larger trust region, which makes it diverge.
"""


def ranked(ends: Sequence[End]) -> list[End]:
    """Return variants by merit, the best first."""
    return sorted(ends, key=lambda end: (-end.reached, end.ert, end.value))


def by_algorithm(ends: Sequence[End]) -> dict[str, list[End]]:
    """Return the variants of each algorithm, whose name begins their labels, by merit."""
    groups: dict[str, list[End]] = {}
    for end in ends:
        groups.setdefault(end.label.partition("_")[0], []).append(end)
    return {name: ranked(group) for name, group in groups.items()}


def write_table(results: Path) -> list[Path]:
    """Write ``rosenbrock_grid.md`` from ``rosenbrock_grid_ends.csv``; return the file."""
    ends = read_ends(results / "rosenbrock_grid_ends.csv")
    groups = by_algorithm(ends)
    lines = ["# Grid search on the 15-D Rosenbrock function", "", _RULE.format(runs=ends[0].runs)]
    lines += [f"- **{name}**: {group[0].settings}" for name, group in groups.items()]
    for name, group in groups.items():
        lines += ["", f"## {name}", "", "| settings | at target | ERT | value at the mean |"]
        lines += ["| --- | --: | --: | --: |"]
        lines += [
            f"| {end.settings} | {end.reached}/{end.runs} | {end.ert:.0f} | {end.value:.2e} |"
            for end in group
        ]
    path = results / "rosenbrock_grid.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [path]
