"""Properties of the normalizations, and the paper's recursion written out as printed."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from casmore.algorithms.targets import TargetNormalization, normalize, robust, standard

Array = NDArray[np.float64]
values = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=60).map(
    np.array
)


def papers_recursion(y: Array, clip: float = 3.0, threshold: float = 0.55) -> Array:
    """Algorithm 1 of the paper, line by line."""
    deviation = y.std()
    y = (y - y.mean()) / deviation
    inside = (-clip < y) & (y < clip)
    S = y[inside]
    centered = S - S.mean()
    kurtosis = (centered**4).mean() / (centered**2).mean() ** 2 - 3
    if kurtosis > threshold and not np.isclose(deviation, 1, atol=1e-12):
        y[inside] = papers_recursion(S, clip, threshold)
    return np.clip(y, y[inside].min(), y[inside].max())


@pytest.mark.parametrize("seed", range(30))
def test_robust_is_the_papers_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(100)
    y[:20] += rng.normal(0, 10 ** rng.uniform(0, 5), 20)
    assert robust(y) == pytest.approx(papers_recursion(y), rel=1e-9, abs=1e-12)


@given(values)
@settings(max_examples=300)
def test_robust_keeps_the_order_and_the_bound(y: Array) -> None:
    out = robust(y)
    assert np.abs(out).max() <= 3 + 1e-12
    assert (np.diff(out[np.argsort(y, kind="stable")]) >= 0).all()


@given(values)
def test_robust_is_standard_without_outliers(y: Array) -> None:
    assume(np.ptp(y) > 1e-3)
    z = (y - y.mean()) / y.std()
    assume(np.abs(z).max() < 2.999)
    assert robust(y) == pytest.approx(z, abs=1e-6)
    assert standard(y) == pytest.approx(z, abs=1e-6)


@given(values, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_both_are_invariant_under_increasing_affine_maps(
    y: Array, scale: float, shift: float
) -> None:
    assume(np.ptp(y) > 1)
    moved = scale * y + shift
    for how in (TargetNormalization.STANDARD, TargetNormalization.ROBUST):
        ours, theirs = normalize(y, how), normalize(moved, how)
        if how is TargetNormalization.ROBUST and not np.allclose(ours, theirs, atol=1e-6):
            continue_if_a_value_sits_on_a_threshold(y)
        else:
            assert theirs == pytest.approx(ours, abs=1e-5)


def continue_if_a_value_sits_on_a_threshold(y: Array) -> None:
    """Rounding may decide whether a value is an outlier only if it stands at the very border."""
    inner = y
    for _ in range(len(y)):
        z = (inner - inner.mean()) / inner.std()
        if np.abs(np.abs(z) - 3).min() < 1e-9:
            return
        kept = inner[np.abs(z) < 3]
        if len(kept) == len(inner) or np.ptp(kept) == 0:
            break
        centered = kept - kept.mean()
        if abs((centered**4).mean() / (centered**2).mean() ** 2 - 3.55) < 1e-9:
            return
        inner = kept
    raise AssertionError(f"robust normalization depends on scale for {y}")


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e150, 1e307])
def test_values_of_any_size(size: float) -> None:
    y = np.array([1.0, 2.0, 4.0, 3.0, 0.5])
    expected = (y - y.mean()) / y.std()
    assert robust(size * y) == pytest.approx(expected)
    assert standard(size * y) == pytest.approx(expected)


def test_an_outlier_of_any_size_is_clipped() -> None:
    y = np.append(np.linspace(-1, 1, 50), 1e300)
    out = robust(y)
    assert out[:50] == pytest.approx(y[:50] / y[:50].std())
    assert out[50] == out[49]


def test_constant_values_become_zeros() -> None:
    assert not robust(np.full(5, 7.3)).any()
    assert not standard(np.full(5, 7.3)).any()


def test_equal_values_and_one_outlier_keep_their_order() -> None:
    out = robust(np.array([2.0] * 40 + [3.0]))
    assert (out[:40] == 0).all()
    assert out[40] == 3


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e307])
def test_none_centres_and_keeps_the_ratios(unit: float) -> None:
    targets = normalize(np.array([1.0, 5.0, -3.0]) * unit, TargetNormalization.NONE)
    assert targets / targets[1] == pytest.approx([0.0, 1.0, -1.0], abs=1e-15)


def test_the_input_is_left_alone() -> None:
    y = np.array([1.0, 5.0, -2.0])
    for how in TargetNormalization:
        normalize(y, how)
    assert y.tolist() == [1.0, 5.0, -2.0]
