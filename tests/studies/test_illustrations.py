"""The illustrations show what the algorithm does."""

import numpy as np
import pytest

from casmore.algorithms.targets import robust
from casmore.studies import noise_illustration, normalization_illustration, path_illustration
from casmore.studies.noise_illustration import NOISES


@pytest.mark.parametrize("seed", range(20))
def test_the_levels_drawn_are_those_of_the_normalization(seed: int) -> None:
    y = normalization_illustration.data(seed)
    innermost = normalization_illustration.levels(y)[-1]
    kept = innermost.values[innermost.inside]
    values = robust(y)
    assert values.min() == pytest.approx(kept.min())
    assert values.max() == pytest.approx(kept.max())


def test_each_level_is_standardized() -> None:
    for level in normalization_illustration.levels(normalization_illustration.data()):
        assert level.values.mean() == pytest.approx(0, abs=1e-12)
        assert level.values.std() == pytest.approx(1)
        assert (np.abs(level.values[level.inside]) < 3).all()


def test_the_paths_drawn_are_short_as_desired_and_long() -> None:
    short, right, long = path_illustration.windows()
    assert short.ratio < 0.5
    assert right.ratio == pytest.approx(1, abs=0.1)
    assert long.ratio > 1.4


def test_the_runs_drawn_show_noise_where_there_is_some() -> None:
    quiet, gauss = (noise_illustration.course(noise, "auto") for noise in list(NOISES)[:2])
    assert np.median(quiet.explained) > 0.9
    assert quiet.population.max() == 1
    assert quiet.value[-1] <= 1e-6
    assert np.median(gauss.explained) < 0.1
    assert gauss.population.max() == 8
    ignored = noise_illustration.course("Cauchy noise", "none")
    assert noise_illustration.course("Cauchy noise", "auto").value[-1] < 1e-3 * ignored.value[-1]
