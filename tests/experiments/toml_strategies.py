"""Any value of TOML, for property tests."""

from datetime import timedelta, timezone

from hypothesis import strategies as st

_OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text()
    | st.dates()
    | st.times().map(lambda t: t.replace(fold=0))  # which TOML does not have
    | st.datetimes(timezones=st.none() | _OFFSETS).map(lambda t: t.replace(fold=0))
)
_KEYS = st.text() | st.sampled_from(["$float", "$date", "$table", "$"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=10,
)
