"""What the paper says of its studies, and what ours measured: ``results/claims.md``."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from casmore.studies.tables import Curve, End, read_curves, read_ends

_WINDOW = 1000.0  # evaluations over which the fall of the entropy is taken


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, what was measured, and whether that bears it out."""

    statement: str
    measured: str
    holds: bool


def write_claims(results: Path) -> list[Path]:
    """Write ``claims.md``; return the file."""
    lines = [
        "# The paper's claims, and what our studies measured",
        "",
        "Made by `make figures FIG=claims` from the tables in this folder. Values are medians of "
        "the function at the mean, and numbers of evaluations medians, over all runs; in brackets "
        "how many runs reached 1e-8, and the expected number of evaluations to it (ERT). Where "
        "runs on Rosenbrock's function do not get there, those of CAS-MORE and CMA-ES mostly end "
        "in its local minimum near 4, those of CA-MORE have lost their entropy too early.",
        "",
        "| claim | measured | holds |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {c.statement} | {c.measured} | {_yes(c.holds)} |" for c in claims(results)]
    path = results / "claims.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [path]


def claims(results: Path) -> list[Claim]:
    """Return all claims, measured from the studies' tables."""
    return [*_rosenbrock(results), *_ablation(results)]


def first_below(curve: Curve, value: float) -> float:
    """Return the evaluations after which the median is at most ``value``; infinity if never."""
    below = np.flatnonzero(curve.f_mean[1] <= value)
    return float(curve.evaluations[below[0]]) if below.size else math.inf


def entropy_falls(curve: Curve, until: float) -> tuple[float, float, float]:
    """Return the fall of the median entropy, in nats per 1000 evaluations, of three phases.

    The first 1000 evaluations; the 1000 in which it falls least; the last 1000 before ``until``,
    or before the end of the curve where runs do not get there.
    """
    x, entropy = curve.evaluations, curve.entropy[1]
    until = min(until, float(x[-1]))

    def fall(start: float) -> float:
        now, then = np.interp([start, start + _WINDOW], x, entropy)
        return float(now - then)

    last = until - _WINDOW
    between = np.arange(_WINDOW, last, 100.0)
    return fall(0.0), min(map(fall, between), default=math.nan), fall(last)


def _rosenbrock(results: Path) -> Iterator[Claim]:
    curves = {c.label: c for c in read_curves(results / "rosenbrock.csv")}
    ends = {e.label: e for e in read_ends(results / "rosenbrock_ends.csv")}
    cas, ca, more = curves["CAS-MORE"], curves["CA-MORE"], curves["MORE"]
    decoupled, joint = first_below(ca, 1e-2), first_below(more, 1e-2)
    yield Claim(
        "Decoupling mean and covariance alone speeds up",
        f"to 1e-2: CA-MORE {decoupled:.0f} evaluations, MORE {joint:.0f}; to 1e-8: "
        f"{_reached(ends['CA-MORE'])} and {_reached(ends['MORE'])}",
        decoupled < joint and ends["CA-MORE"].evaluations < ends["MORE"].evaluations,
    )
    order = ("CAS-MORE", "CA-MORE", "MORE", "CMA-ES")
    yield Claim(
        "With the adaptive schedule CAS-MORE wins",
        "to 1e-8: " + ", ".join(f"{name} {_reached(ends[name])}" for name in order),
        all(
            ends["CAS-MORE"].evaluations < ends[name].evaluations
            and ends["CAS-MORE"].ert < ends[name].ert
            for name in order[1:]
        ),
    )
    first, middle, last = entropy_falls(cas, ends["CAS-MORE"].evaluations)
    yield Claim(
        "Its entropy falls, plateaus, falls again",
        f"{first:.0f}, then {middle:.0f}, in the end {last:.0f} nats per 1000 evaluations",
        middle < 0.25 * min(first, last),
    )
    diverged = ends["MORE-larger-epsilon"]
    start = curves["MORE-larger-epsilon"].f_mean[1, 0]
    yield Claim(
        "A larger trust region makes MORE diverge",
        f"{diverged.settings}: {diverged.reached} of {diverged.runs} runs at the target, value "
        f"{diverged.value:.1e}, at the start {start:.1e}",
        diverged.reached == 0 and diverged.value > more.f_mean[1, -1] * 1e3,
    )


def _ablation(results: Path) -> Iterator[Claim]:
    curves = {(c.label, c.function): c for c in read_curves(results / "ablation.csv")}
    ends = {(e.label, e.function): e for e in read_ends(results / "ablation_ends.csv")}
    with_it, without = curves["default", 8], curves["no-whitening", 8]
    early = [first_below(c, 1.0) for c in (with_it, without)]
    late = [first_below(c, 1e-7) - first_below(c, 1.0) for c in (with_it, without)]
    yield Claim(
        "Whitening matters at low entropy (Rosenbrock)",
        f"to 1: {early[0]:.0f} evaluations with, {early[1]:.0f} without; from there to 1e-7: "
        f"{late[0]:.0f} and {late[1]:.0f}; to 1e-8: {_reached(ends['default', 8])} and "
        f"{_reached(ends['no-whitening', 8])}",
        late[1] > 1.1 * late[0],
    )
    robust, standard = ends["default", 6], ends["standard-normalisation", 6]
    yield Claim(
        "Robust normalisation matters on the Attractive Sector",
        f"after 12000 evaluations {robust.value:.1e} with, {standard.value:.1e} without",
        robust.value < 1e-2 * standard.value,
    )


def _reached(end: End) -> str:
    return f"{end.evaluations:.0f} ({end.reached}/{end.runs}, ERT {end.ert:.0f})"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
