"""A module that can't be imported."""

1 / 0  # noqa: B018
