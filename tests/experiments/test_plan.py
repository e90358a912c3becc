"""Work units: complete, in COCO's order, each with its own seed."""

import cocoex
from harness import config, config_data
from hypothesis import given
from hypothesis import strategies as st

from casmore.experiments.config.check import check
from casmore.experiments.plan import make_plan, schedule
from casmore.experiments.work_unit import Unit


def test_the_plan_has_each_trial_of_coco_once_a_solver_in_its_order() -> None:
    suite = cocoex.Suite("bbob", "year:2009", "dimensions:2,5 function_indices:3,4")
    expected = []
    for problem in suite:
        expected.append(problem.id_triple)
        problem.free()
        del problem
    data = config_data(suite={"functions": "3,4", "dimensions": [5, 2], "year": 2009})
    data["solvers"].append({"name": "cma", "label": "CMA-ES"})
    plan = make_plan(check(data))
    for label in ("RANDOM", "CMA-ES"):
        units = [work.unit for work in plan if work.unit.label == label]
        assert [(u.function, u.dimension, u.instance) for u in units] == expected
    assert len({str(work.unit) for work in plan}) == len(plan) == 2 * len(expected)


def test_budgets_are_per_dimension() -> None:
    assert {(w.unit.dimension, w.budget) for w in make_plan(config())} == {(2, 120), (3, 180)}


def test_a_unit_has_the_same_seed_in_every_plan() -> None:
    def seeds(**sections: object) -> dict[Unit, list[int]]:
        data = config_data(**sections)
        return {w.unit: list(w.seed.generate_state(4)) for w in make_plan(check(data))}

    small = seeds()
    large = seeds(suite={"functions": "1-24", "dimensions": [2, 3, 5], "instances": "1-5"})
    assert all(large[unit] == seed for unit, seed in small.items())
    # no two units share a seed, and another run has other seeds
    assert len({tuple(seed) for seed in large.values()}) == len(large) == 24 * 3 * 5
    assert all(seeds(seed=8)[unit] != seed for unit, seed in small.items())


def test_a_seed_does_not_depend_on_the_process() -> None:
    # a fixed value, as Python's own hash() of a string would change from process to process
    work = make_plan(config())[0]
    assert str(work.unit) == "RANDOM/f001_d02_i001_r0"
    # printf 'RANDOM/f001_d02_i001_r0' | sha256sum | cut -c1-32
    assert work.entropy == (7, 0x5232DB71266BAEF56AF46240302412E1)


@given(
    workers=st.integers(1, 64),
    budget=st.integers(1, 20_000),
    dimensions=st.sets(st.sampled_from([2, 3, 5, 10, 20, 40]), min_size=1),
)
def test_batches_hold_all_work_once_and_begin_with_the_most_expensive(
    workers: int, budget: int, dimensions: set[int]
) -> None:
    plan = make_plan(
        config(
            suite={"functions": "1,2", "dimensions": sorted(dimensions), "instances": "1-3"},
            budget={"evaluations_per_dimension": budget},
        )
    )
    batches = list(schedule(plan, workers))
    done = [work for batch in batches for work in batch]
    assert sorted(map(str, (w.unit for w in done))) == sorted(map(str, (w.unit for w in plan)))
    costs = [work.cost for work in done]
    assert costs == sorted(costs, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or sum(work.budget for work in batch) <= 10_000
    assert len(batches) >= min(len(plan), workers)


def test_runs_of_bbob_from_before_there_were_other_suites_are_resumed() -> None:
    # the digest and the seed are those of such a run
    for named in ({}, {"name": "bbob"}):
        suite = {**named, "functions": "1-24", "dimensions": [2, 3, 5, 10], "instances": "1-5"}
        experiment = config(
            name="quick",
            seed=20240101,
            suite=suite,
            budget={"evaluations_per_dimension": 2000},
            solver="cma",
        )
        assert "name" not in experiment.document()["suite"]
        assert experiment.digest == "ef5613a5f1f3b3e0"
        work = make_plan(experiment)[7]
        assert str(work.unit) == "RANDOM/f002_d02_i003_r0"
        assert work.entropy[1] == 31516710127020463330345092126590088586
    noisy = {"name": "bbob-noisy", "functions": "101", "dimensions": [2]}
    assert config(suite=noisy).document()["suite"]["name"] == "bbob-noisy"
