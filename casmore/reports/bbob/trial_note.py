"""The note on the number of trials in a figure."""

from collections import Counter
from collections.abc import Sequence

from casmore.reports.runtimes import Runtimes


def trial_note(runtimes: Sequence[Runtimes]) -> str:
    """Return ``"15 trials of each function; 5 in 40-D (MORE, xNESas)"``, for example."""
    counts = Counter(r.trials for r in runtimes)
    usual = counts.most_common(1)[0][0]
    parts = [f"{usual} {'trial' if usual == 1 else 'trials'} of each function"]
    others: dict[tuple[int, int], list[str]] = {}
    for r in runtimes:
        if r.trials != usual:
            names = others.setdefault((r.trials, r.dimension), [])
            if r.solver not in names:
                names.append(r.solver)
    parts += [f"{trials} in {n}-D ({', '.join(names)})" for (trials, n), names in others.items()]
    return "; ".join(parts)
