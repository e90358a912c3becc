"""The note on the number of trials in a figure."""

from collections import Counter
from collections.abc import Sequence

from casmore.reports.runtimes import Runtimes


def trial_note(runtimes: Sequence[Runtimes]) -> str:
    """Return ``"15 trials of each function; 5 in 40-D of MORE, xNESas"``, for example."""
    usual, others = _numbers(runtimes)
    parts = [f"{_trials(usual)} of each function"]
    parts += [f"{trials} in {n}-D of {', '.join(names)}" for (trials, n), names in others.items()]
    return "; ".join(parts)


def short_trial_note(runtimes: Sequence[Runtimes]) -> str:
    """Return ``"15 trials; 5 of MORE, xNESas"``, for example, for trials of one dimension."""
    usual, others = _numbers(runtimes)
    parts = [f"{trials} of {', '.join(names)}" for (trials, _), names in others.items()]
    return "; ".join([_trials(usual), *parts])


def _trials(number: int) -> str:
    return f"{number} {'trial' if number == 1 else 'trials'}"


def _numbers(runtimes: Sequence[Runtimes]) -> tuple[int, dict[tuple[int, int], list[str]]]:
    """Return the most common number of trials; and by other numbers and dimension, the solvers."""
    usual = Counter(r.trials for r in runtimes).most_common(1)[0][0]
    others: dict[tuple[int, int], list[str]] = {}
    for r in runtimes:
        if r.trials != usual:
            names = others.setdefault((r.trials, r.dimension), [])
            if r.solver not in names:
                names.append(r.solver)
    return usual, others
