"""Whether a run is worth going on with, compared with a plain search through all its values."""

import math

import numpy as np

from casmore.solvers.prospects import Prospects


def test_a_run_is_hopeless_if_its_latest_values_vary_little_compared_with_the_gap() -> None:
    rng = np.random.default_rng(1)
    found = {True: 0, False: 0}
    for window, batches, size in ((12, 3, 5), (12, 4, 2), (7, 1, 3)):
        prospects = Prospects(window, batches)
        told: list[np.ndarray] = []
        for i in range(60):
            y = 5 + rng.normal(size=rng.integers(1, size + 1)) * 0.8**i
            prospects.tell(y)
            told.append(y)
            latest = next(
                (
                    np.concatenate(told[-count:])
                    for count in range(batches, len(told) + 1)
                    if sum(map(len, told[-count:])) >= window
                ),
                None,
            )
            values = np.concatenate(told)
            assert prospects.best == values.min()
            since = next(i for i, part in enumerate(reversed(told)) if values.min() in part)
            assert prospects.idle == sum(map(len, told[len(told) - since :]))
            for record in (values.min(), values.min() - 0.5, values.min() - 3):
                expected = latest is not None and 10 * np.ptp(latest) < values.min() - record
                assert prospects.is_hopeless(record) == expected
                found[expected] += 1
    assert min(found.values()) > 30


def test_infinite_values_are_no_reason_to_end() -> None:
    prospects = Prospects(3)
    for y in ([5.0, 5.0], [math.inf, 5.0], [5.0, math.nan]):
        prospects.tell(np.array(y))
        assert not prospects.is_hopeless(1.0)
    for _ in range(2):
        prospects.tell(np.array([5.0, 5.0]))
    assert prospects.is_hopeless(1.0)
    assert prospects.best == 5.0
