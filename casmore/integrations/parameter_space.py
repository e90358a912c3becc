"""The map between the numerical parameters of an Optuna study and the unit cube."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution

Array = NDArray[np.float64]
Numerical = FloatDistribution | IntDistribution


@dataclass(frozen=True)
class _Axis:
    """One parameter, on a linear or logarithmic scale that is mapped to [0, 1].

    A parameter with steps has a cell of one step for each value, so that the first and the last
    value are as likely as the others. The cells of integers on a logarithmic scale reach half an
    integer to both sides.
    """

    distribution: Numerical

    @property
    def _step(self) -> float:
        """Distance of neighboring values; 0: the parameter is continuous."""
        return float(self.distribution.step or 0)

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.distribution.log else float(value)

    @property
    def _ends(self) -> tuple[float, float]:
        d, half = self.distribution, self._step / 2
        return self._scaled(d.low - half), self._scaled(d.high + half)

    def position(self, value: float) -> float:
        """Return where in [0, 1] a value is; outside if it is out of range."""
        low, high = self._ends
        if self.distribution.log and value <= 0:
            return -math.inf
        return (self._scaled(value) - low) / (high - low)

    def value(self, position: float) -> int | float:
        """Return the value nearest to a position in [0, 1]."""
        d, (low, high) = self.distribution, self._ends
        value = low + position * (high - low)
        if d.log:
            value = math.exp(value)
        if self._step:
            value = d.low + self._step * math.floor((value - d.low) / self._step + 0.5)
        value = min(max(value, d.low), d.high)
        return round(value) if isinstance(d, IntDistribution) else float(value)


class ParameterSpace:
    """Numerical parameters, mapped to the unit cube.

    Parameters
    ----------
    distributions
        The distribution of each parameter, a `FloatDistribution` or `IntDistribution` with more
        than one value.

    Attributes
    ----------
    distributions : dict
        A copy of the argument.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self._axes = {name: _axis(name, d) for name, d in self.distributions.items()}

    @property
    def names(self) -> list[str]:
        """The names of the parameters, in the order of the coordinates."""
        return list(self._axes)

    def to_values(self, x: Array) -> dict[str, int | float]:
        """Return the values nearest to a point in the unit cube, shape (n,)."""
        positions = x.tolist()
        return {
            name: axis.value(position)
            for (name, axis), position in zip(self._axes.items(), positions, strict=True)
        }

    def to_point(self, values: Mapping[str, Any]) -> Array | None:
        """Return the point of values, shape (n,); None if one is missing or out of its range."""
        if not self._axes.keys() <= values.keys():
            return None
        point = np.array([axis.position(values[name]) for name, axis in self._axes.items()])
        return point if ((point >= 0) & (point <= 1)).all() else None


def value_at(distribution: BaseDistribution, position: float) -> int | float:
    """Return the value of a numerical parameter nearest to a position in [0, 1]."""
    return _axis("", distribution).value(position)


def _axis(name: str, distribution: BaseDistribution) -> _Axis:
    if not isinstance(distribution, Numerical):
        raise ValueError(f"parameter {name!r} is not numerical: {distribution}")
    return _Axis(distribution)
