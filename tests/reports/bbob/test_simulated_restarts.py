"""Simulated restarts beside the ERT, beside brute force, and beside cocopp's ECDFs."""

import numpy as np
import pytest
from numpy.typing import NDArray
from reports.logged import LoggedRun

from casmore.reports import run_data
from casmore.reports.bbob.ecdf_figure import curve
from casmore.reports.bbob.simulated_restarts import simulate
from casmore.reports.cocopp.offline import import_cocopp
from casmore.reports.runtimes import TARGETS, Runtimes

NAN = np.nan


def two_of_five() -> Runtimes:
    row = np.array([NAN, 30.0, NAN, 50.0, NAN])
    spent = np.array([100.0, 60.0, 200.0, 70.0, 300.0])
    return Runtimes("s", 1, 2, (1, 2, 3, 4, 4), spent, np.vstack([row, np.full(5, NAN), spent / 2]))


def drawn_one_by_one(r: Runtimes, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw trials until one reaches the first target, as the definition says."""
    found = []
    for _ in range(samples):
        spent = 0.0
        while True:
            trial = rng.choice(r.trials, p=r.weights)
            if np.isfinite(r.evaluations[0, trial]):
                break
            spent += r.spent[trial]
        found.append(spent + r.evaluations[0, trial])
    return np.array(found)


def test_the_distribution_is_that_of_drawing_trials_one_by_one() -> None:
    r = two_of_five()
    ours = simulate(r, 20_000, np.random.default_rng(1))[0]
    truth = drawn_one_by_one(r, 20_000, np.random.default_rng(2))
    levels = np.linspace(0, 1, 41)[1:-1]
    at = np.quantile(truth, levels)
    share = np.searchsorted(np.sort(ours), at, side="right") / len(ours)
    expected = np.searchsorted(np.sort(truth), at, side="right") / len(truth)
    np.testing.assert_allclose(share, expected, atol=4 * np.sqrt(0.5 / 20_000))


def test_the_mean_is_the_ert(loaded: list[Runtimes]) -> None:
    for r in [two_of_five(), *loaded]:
        drawn = simulate(r, 4000, np.random.default_rng(3))
        for runtimes, ert in zip(drawn, r.ert, strict=True):
            if np.isinf(ert):
                assert np.isinf(runtimes).all()
            else:
                error = runtimes.std() / np.sqrt(len(runtimes))
                assert runtimes.mean() == pytest.approx(ert, abs=5 * error + 1e-9)


def test_trials_that_all_reach_the_target_need_no_restart() -> None:
    drawn = simulate(two_of_five(), 500, np.random.default_rng(4))
    assert set(drawn[2]) == {50, 30, 100, 35, 150}
    assert np.isinf(drawn[1]).all()


def cocopps(run: LoggedRun, solver: str, dimension: int) -> NDArray[np.float64]:
    """Runtimes / n with simulated restarts as cocopp draws them for its ECDFs."""
    import_cocopp()
    from cocopp import toolsstats
    from cocopp.pproc import DataSetList

    found = []
    for data in DataSetList(str(run.folder / "data" / solver)):
        if data.dim != dimension:
            continue
        for evaluations in data.detEvals(TARGETS * (1 + 1e-9)):
            reached = np.isfinite(evaluations)
            if not reached.any():
                found.append(np.full(1000, np.inf))
                continue
            failed = data.maxevals[~reached]
            found.append(toolsstats.drawSP(evaluations[reached], failed, [50], 1000)[1])
    return np.concatenate(found) / dimension


@pytest.mark.filterwarnings("ignore")  # cocopp's, of instances that are not those of a year
@pytest.mark.parametrize("solver", ["first", "second"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_the_ecdf_is_cocopps(solver: str, dimension: int, run: LoggedRun) -> None:
    truth = np.sort(cocopps(run, solver, dimension))
    own = [r for r in run_data.load(run.folder) if (r.solver, r.dimension) == (solver, dimension)]
    rng = np.random.default_rng(5)
    x, y = curve([simulate(r, 1000, rng) for r in own], dimension)
    at = np.geomspace(1, 1e5, 200)
    ours = np.concatenate([[0.0], y])[np.searchsorted(x, at, side="right")]
    theirs = np.searchsorted(truth, at, side="right") / len(truth)
    assert theirs.max() > 0.5
    # each of the 102 pairs is a fraction of 1000 draws, ours and theirs
    np.testing.assert_allclose(ours, theirs, atol=5 * np.sqrt(0.25 / 1000 / 102 * 2))
