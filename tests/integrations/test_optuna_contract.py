"""Optuna's public tests of samplers, applied to `CasMoreSampler`."""

from collections.abc import Callable

import pytest
from optuna.samplers import BaseSampler
from optuna.testing import pytest_samplers

from casmore.integrations.optuna import CasMoreSampler


def sampler_with_a_short_start() -> CasMoreSampler:
    return CasMoreSampler(warn_independent_sampling=False)


class TestBasic(pytest_samplers.BasicSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return sampler_with_a_short_start


class TestSingleObjective(pytest_samplers.SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return sampler_with_a_short_start


class TestRelative(pytest_samplers.RelativeSamplerTestCase):
    # categorical parameters are not in the relative search space
    test_sample_relative_categorical = None  # type: ignore[assignment]
    test_sample_relative_mixed = None  # type: ignore[assignment]

    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return sampler_with_a_short_start
