"""What the algorithms' arguments have to be, checked the same way for all of them."""

import difflib
import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def valid_start(x0: ArrayLike, sigma0: float) -> Array:
    """Return the initial mean as a fresh array, shape (n,).

    Raises
    ------
    ValueError
        If it is no finite vector, or ``sigma0`` not positive and finite.
    """
    mean = np.array(x0, dtype=float)
    if mean.ndim != 1 or len(mean) == 0:
        raise ValueError(f"x0 must be a vector of at least one number, not of shape {mean.shape}")
    if not np.isfinite(mean).all():
        raise ValueError(f"x0 must be finite, not {mean}")
    if not 0 < sigma0 < math.inf:
        raise ValueError(f"sigma0 must be positive and finite, not {sigma0!r}")
    return mean


def valid_samples(X: ArrayLike, y: ArrayLike, n: int) -> tuple[Array, Array]:
    """Return points, shape (k, n), and values, shape (k,), as arrays, NaN as infinity.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a point is not finite.
    """
    X = np.asarray(X, dtype=float)
    y = np.array(y, dtype=float)
    if X.ndim != 2 or X.shape[1] != n:
        raise ValueError(f"X must have shape (k, {n}), not {X.shape}")
    if y.shape != (len(X),):
        raise ValueError(f"y must have shape ({len(X)},), one value a point, not {y.shape}")
    if not np.isfinite(X).all():
        raise ValueError("X holds points that are not finite")
    y[np.isnan(y)] = math.inf
    return X, y


def known_settings(given: Iterable[str], known: Sequence[str], solver: str) -> None:
    """Refuse names that are no settings of the solver.

    Raises
    ------
    TypeError
        With the first such name and the nearest that exists.
    """
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{solver} has no setting {name!r}{hint}")


class CheckedSettings:
    """What a frozen dataclass of settings refuses them with, in its ``__post_init__``."""

    def _require(self, name: str, holds: bool, wanted: str) -> None:
        """Refuse a setting that is out of its range."""
        if not holds:
            raise ValueError(f"{name} = {getattr(self, name)!r} must be {wanted}")

    def _require_count(self, name: str) -> None:
        self._require(name, isinstance(getattr(self, name), int | np.integer), "an integer")
        self._require(name, getattr(self, name) >= 1, "at least 1")

    def _as_member(self, name: str, kind: type[StrEnum]) -> None:
        """Replace a string by the member of ``kind`` that it names."""
        given = getattr(self, name)
        self._require(name, given in list(kind), " or ".join(map(repr, map(str, kind))))
        object.__setattr__(self, name, kind(given))
