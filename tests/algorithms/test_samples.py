"""The queue of samples, beside a list of all of them."""

import numpy as np

from casmore.algorithms.samples import SampleQueue


def test_a_queue_of_changing_capacity_holds_the_last_samples() -> None:
    rng = np.random.default_rng(1)
    queue, held = SampleQueue(1, 5), np.empty(0)
    number = 0
    for _ in range(300):
        if rng.random() < 0.3:
            capacity = int(rng.integers(3, 12))
            queue.resize(capacity)
            held = held[-capacity:]
        k = int(rng.integers(0, 7))
        y = np.arange(number, number + k, dtype=float)
        number += k
        before = queue.total
        queue.add(y[:, np.newaxis], y)
        held = np.concatenate([held, y])[-queue.capacity :]
        assert sorted(queue.values) == held.tolist()
        assert np.array_equal(queue.points[:, 0], queue.values)
        assert (
            queue.values[queue.rows_since(before)].tolist()
            == held[len(held) - min(k, len(held)) :].tolist()
        )
        assert queue.total == number
