"""The trace of a run, iteration by iteration, for `casmore.plot` and the studies."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casmore.algorithms.gaussian import SearchDistribution
from casmore.algorithms.models import Complexity
from casmore.atomic_io import write_bytes
from casmore.solvers.protocol import Solver

Array = NDArray[np.float64]

# Columns with one number per iteration, described in `Trace`; the axis lengths are n numbers.
COLUMNS = (
    "evaluations",
    "restart",
    "f_mean",
    "f_best",
    "f_median",
    "entropy",
    "step_size",
    "condition",
    "path_length",
    "desired_length",
    "complexity",
)
COMPLEXITIES = (None, Complexity.LINEAR, Complexity.DIAGONAL, Complexity.FULL)


class Trace:
    """The state of a solver after each iteration, and before the first.

    ``trace[name]`` is the array of a column, shape (iterations + 1,), or of ``"axis_lengths"``,
    shape (iterations + 1, n). Values that a solver does not provide are NaN. The columns are:

    - ``evaluations``: number of evaluations, without those at the mean;
    - ``restart``: number of restarts so far;
    - ``f_mean``, ``f_best``, ``f_median``: the function's value at the mean, the smallest value so
      far, and the median of the values of this iteration;
    - ``entropy``: of the search distribution, in nats;
    - ``step_size``: geometric mean of the axis lengths;
    - ``condition``: condition number of the covariance;
    - ``path_length``, ``desired_length``: length of the evolution path, and its desired length;
    - ``complexity``: the surrogate, 0 for none, 1 for a linear, 2 for a diagonal, 3 for a full one;
    - ``axis_lengths``: standard deviations along the principal axes, ascending.

    Parameters
    ----------
    f_at_mean
        Whether `casmore.fmin` evaluates the function at the mean once per iteration. These
        evaluations do not count in its budget and its number of evaluations.

    Raises
    ------
    KeyError
        By ``trace[name]``, if there is no such column.
    """

    def __init__(self, *, f_at_mean: bool = True) -> None:
        self.f_at_mean = f_at_mean
        self._rows: list[tuple[float, ...]] = []
        self._axes: list[Array] = []
        self._loaded: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self["evaluations"])

    def __getitem__(self, name: str) -> Array:
        if name in self._loaded:
            return self._loaded[name].copy()
        if name == "axis_lengths":
            return np.array(self._axes)
        if name not in COLUMNS:
            raise KeyError(f"a trace has no {name!r}; it has {', '.join(COLUMNS)}, axis_lengths")
        column = COLUMNS.index(name)
        return np.array([row[column] for row in self._rows], dtype=float)

    def record(
        self,
        solver: Solver,
        y: Array | None = None,
        *,
        f_mean: float = math.nan,
        evaluations: int | None = None,
        best_y: float | None = None,
        restart: int = 0,
    ) -> None:
        """Add the current state of a solver.

        Parameters
        ----------
        solver
            Any solver; the attributes that it provides are recorded.
        y
            The values of the iteration that has just ended, shape (k,); None before the first.
        f_mean
            The function's value at the solver's mean, where it is known.
        evaluations, best_y
            Values over several runs, if they differ from this solver's own.
        restart
            Number of restarts before this run.
        """
        distribution = getattr(solver, "distribution", None)
        axes = np.full(len(solver.mean), np.nan)
        entropy = math.nan
        if isinstance(distribution, SearchDistribution):
            axes, entropy = distribution.axis_lengths(), distribution.entropy
        path = getattr(solver, "path", None)
        self._axes.append(axes)
        self._rows.append(
            (
                float(solver.evaluations if evaluations is None else evaluations),
                float(restart),
                f_mean,
                solver.best_y if best_y is None else best_y,
                math.nan if y is None or len(y) == 0 else float(np.median(y)),
                entropy,
                float(step_size(entropy, len(axes))),
                float((axes[-1] / axes[0]) ** 2) if axes[0] > 0 else math.nan,
                getattr(path, "length", math.nan),
                getattr(path, "desired_length", math.nan),
                float(COMPLEXITIES.index(getattr(solver, "complexity", None))),
            )
        )

    def continue_from(self, earlier: Trace) -> None:
        """Take over what another trace has recorded, in place of what this one has."""
        self._rows, self._axes = list(earlier._rows), list(earlier._axes)

    def set_f_mean(self, row: int, value: float) -> None:
        """Set the function's value at the mean that `record` was called with, as the ``row``-th."""
        column = COLUMNS.index("f_mean")
        old = self._rows[row]
        self._rows[row] = (*old[:column], value, *old[column + 1 :])

    def fill_f_mean(self, values: Array) -> None:
        """Set the function's values at the means if these are evaluated at the end.

        Parameters
        ----------
        values
            One for each time that `record` was called.
        """
        for row, value in zip(range(len(self._rows)), values, strict=True):
            self.set_f_mean(row, float(value))

    def save(
        self, path: str | Path, *, dtype: type[np.floating[Any]] = np.float64, **more: Any
    ) -> None:
        """Write the trace to a compressed ``.npz`` file.

        Parameters
        ----------
        path
            The file; missing parent folders are made.
        dtype
            Type of the numbers; float32 halves the file size.
        **more
            Further arrays or array-likes to store in the file.
        """
        names = (*COLUMNS, "axis_lengths")
        columns: dict[str, Any] = {name: self[name].astype(dtype) for name in names}
        content = io.BytesIO()
        np.savez_compressed(content, **columns, **more)
        write_bytes(Path(path), content.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a file written by `save`, including ``more``.

        Raises
        ------
        ValueError
            If the file is damaged, or not a trace.
        OSError
            If it can't be read.
        """
        trace = cls()
        content = io.BytesIO(Path(path).read_bytes())
        try:
            with np.load(content) as file:
                trace._loaded = {name: file[name] for name in file.files}
        except Exception as error:  # NumPy and its decompression may raise anything
            raise ValueError(f"{path} is no trace, or is damaged: {error}") from error
        return trace


def step_size(entropy: Any, n: int) -> Any:
    """Return the standard deviation of the isotropic Gaussian with this entropy in nats."""
    return np.exp(np.asarray(entropy) / n) / math.sqrt(2 * math.pi * math.e)
