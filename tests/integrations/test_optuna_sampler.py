"""`CasMoreSampler` in studies: workers, storages, resuming, warm starts, steps, pruned trials."""

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.samplers import BaseSampler, RandomSampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from casmore import CasMore
from casmore.integrations.optuna import CasMoreSampler

optuna.logging.set_verbosity(optuna.logging.ERROR)


def bowl(trial: Trial) -> float:
    """A function with its optimum at x = 0.3, y = 100."""
    x = trial.suggest_float("x", -1, 1)
    y = trial.suggest_float("y", 1e-2, 1e4, log=True)
    return (x - 0.3) ** 2 + (math.log10(y) - 2) ** 2


def quiet(**settings: Any) -> CasMoreSampler:
    return CasMoreSampler(**{"seed": 1, "warn_independent_sampling": False, **settings})


def run(objective: Callable[[Trial], float], trials: int, **settings: Any) -> Study:
    study = optuna.create_study(sampler=quiet(**settings))
    study.optimize(objective, trials)
    return study


def params(study: Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.get_trials()]


def next_params(study: Study) -> dict[str, Any]:
    """Return what a trial would be that is asked for now."""
    trial = study.ask()
    bowl(trial)
    return trial.params


def solver(study: Study) -> CasMore:
    """Return the solver behind the sampler of a study."""
    assert isinstance(study.sampler, CasMoreSampler)
    assert study.sampler._search is not None
    return study.sampler._search._inner


@pytest.mark.parametrize("lean", [True, False])
def test_it_finds_an_optimum_that_random_search_does_not(lean: bool) -> None:
    assert run(bowl, 120, lean=lean).best_value < 1e-4
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    study.optimize(bowl, 120)
    assert study.best_value > 1e-3


def test_to_maximize_is_to_minimize_the_negative() -> None:
    study = optuna.create_study(sampler=quiet(), direction="maximize")
    study.optimize(lambda trial: -bowl(trial), 40)
    assert params(study) == params(run(bowl, 40))


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'study.db'}"


def journal(folder: Path) -> JournalStorage:
    return JournalStorage(JournalFileBackend(str(folder / "study.log")))


def mixed(trial: Trial) -> float:
    k = trial.suggest_int("k", 0, 9)
    return bowl(trial) + abs(k - 4) + trial.suggest_categorical("c", [0, 1, 2])


@pytest.mark.parametrize("storage", [sqlite, journal])
def test_a_study_resumed_elsewhere_is_that_of_one_process(
    storage: Callable[[Path], Any], tmp_path: Path
) -> None:
    whole = run(mixed, 25)
    for last in (14, 19, 25):  # in the middle of an iteration, too
        study = optuna.create_study(
            study_name="s", storage=storage(tmp_path), sampler=quiet(), load_if_exists=True
        )
        study.optimize(mixed, last - len(study.get_trials()))
    assert params(study) == params(whole)


def test_workers_on_one_storage_learn_from_each_other(tmp_path: Path) -> None:
    optuna.create_study(study_name="s", storage=journal(tmp_path))
    workers = [
        optuna.load_study(study_name="s", storage=journal(tmp_path), sampler=quiet(seed=seed))
        for seed in (1, 1, 2)
    ]
    under_way: list[tuple[Study, Trial, float]] = []
    for i in range(120):
        study = workers[i % 3]
        trial = study.ask()
        under_way.append((study, trial, bowl(trial)))
        if len(under_way) == 3:  # three at a time, which end in another order
            study, trial, value = under_way.pop(1 if i % 2 else 0)
            study.tell(trial, value)
    study = workers[0]
    assert study.best_value < 1e-4  # none would get there with a third of the trials
    points = {tuple(p.values()) for p in params(study)}
    assert len(points) == 120


WORKER = """
import sys
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from casmore.integrations.optuna import CasMoreSampler

study = optuna.load_study(
    study_name="s",
    storage=JournalStorage(JournalFileBackend("study.log")),
    sampler=CasMoreSampler(seed=int(sys.argv[1])),
)
study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, 25)
"""


def test_processes_share_a_study(tmp_path: Path) -> None:
    study = optuna.create_study(study_name="s", storage=journal(tmp_path))
    command = [sys.executable, "-c", WORKER]
    workers = [subprocess.Popen([*command, seed], cwd=tmp_path) for seed in "11"]
    assert [worker.wait() for worker in workers] == [0, 0]
    trials = study.get_trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 50
    assert len({trial.params["x"] for trial in trials}) == 50
    assert study.best_value < 1e-6


@pytest.mark.parametrize(("minutes", "takes_optimum"), [(0, False), (2, True)])
def test_only_one_of_two_trials_that_ask_takes_the_optimum(
    minutes: float, takes_optimum: bool
) -> None:
    optimum = next_params(run(bowl, 28))  # of a new model
    study = run(bowl, 28)
    began = datetime.now() - timedelta(minutes=minutes)
    asking = create_trial(state=TrialState.RUNNING)
    asking.datetime_start = began
    study._storage.create_new_trial(study._study_id, template_trial=asking)
    assert (next_params(study) == optimum) is takes_optimum


def test_threads_share_a_sampler() -> None:
    study = optuna.create_study(sampler=quiet())
    study.optimize(bowl, 100, n_jobs=2)
    assert study.best_value < 1e-3
    assert len({tuple(p.values()) for p in params(study)}) == 100


def test_workers_restart_together() -> None:
    study = optuna.create_study(sampler=quiet(seed=1))
    other = optuna.load_study(
        study_name=study.study_name, storage=study._storage, sampler=quiet(seed=2)
    )

    def flat(trial: Trial) -> float:
        trial.suggest_float("x", 0, 1)
        return 1.0

    runs = []
    for i in range(80):
        (study, other)[i % 2].optimize(flat, 1)
        runs.append(study.get_trials()[-1].system_attrs.get("casmore", {"run": 0})["run"])
    assert runs == sorted(runs)  # never back to a run that has ended
    assert runs[-1] == 1


def test_steps_are_searched_to_the_end() -> None:
    def objective(trial: Trial) -> float:
        k = [trial.suggest_int(f"k{i}", 0, 1000, log=False) for i in range(2)]
        j = trial.suggest_int("j", 1, 500, log=True)
        s = trial.suggest_float("s", 0, 1, step=0.01)
        r = trial.suggest_float("r", -1, 1)
        far = ((k[0] - 7) / 50) ** 2 + ((k[1] - k[0] - 500) / 50) ** 2
        return float(far + np.log(j / 20) ** 2 + (s - 0.99) ** 2 + (r - s) ** 2)

    study = run(objective, 300)
    best = study.best_params
    assert (best["k0"], best["j"]) == (7, 20)
    assert best["k1"] in (506, 507, 508)  # 506 and 508 are worse by 0.0004
    assert best["s"] == pytest.approx(0.99)


class Recording(RandomSampler):
    """Records for which parameters it was asked."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.asked: list[tuple[int, str]] = []

    def sample_independent(self, study: Study, trial: FrozenTrial, name: str, *rest: Any) -> Any:
        self.asked.append((trial.number, name))
        return super().sample_independent(study, trial, name, *rest)


def test_categorical_and_conditional_parameters_are_sampled_independently(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            value += trial.suggest_float("z", 0, 1)
        return value

    independent = Recording()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.logging.enable_propagation()
    sampler = CasMoreSampler(seed=1, n_startup_trials=5, independent_sampler=independent)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, 30)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for trial in study.get_trials():
        names = set(trial.params) if trial.number < 5 else set(trial.params) - {"x", "y"}
        assert {name for number, name in independent.asked if number == trial.number} == names
    warned = [record.getMessage() for record in caplog.records]
    assert len(warned) == 2
    assert warned[0].startswith(
        "Trial 5: parameter 'kind' is sampled by Recording, not by CAS-MORE"
    )
    assert "parameter 'z'" in warned[1]


def test_a_parameter_that_vanishes_from_the_space() -> None:
    study = run(lambda trial: bowl(trial) + trial.suggest_float("z", 0, 1), 20)
    study.optimize(bowl, 100)
    assert study.best_value < 1e-3


def ended(state: TrialState, better: bool) -> Callable[[Trial], float]:
    """Return the bowl, with another end where x > 0."""

    def objective(trial: Trial) -> float:
        value = bowl(trial)
        if trial.number == 0 or trial.params["x"] <= 0:
            return value
        trial.report(-1.0 if better else 1e3, step=0)
        if state is TrialState.PRUNED:
            raise optuna.TrialPruned
        return float("nan") if state is TrialState.FAIL else float("inf")

    return objective


def test_pruned_trials_rank_last() -> None:
    study = run(ended(TrialState.PRUNED, better=True), 60)
    assert params(study) == params(run(ended(TrialState.COMPLETE, better=False), 60))
    assert sum(p["x"] > 0 for p in params(study)[40:]) < 10


def test_brackets_of_hyperband_are_searched() -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        for step in range(9):
            trial.report(value + 1 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    best = []
    for name in "abcde":  # the bracket of a trial depends on the name of the study
        pruner = optuna.pruners.HyperbandPruner(max_resource=9)
        study = optuna.create_study(study_name=name, sampler=quiet(), pruner=pruner)
        study.optimize(objective, 100)
        states = {trial.state for trial in study.get_trials()}
        assert states == {TrialState.COMPLETE, TrialState.PRUNED}
        best.append(study.best_value)
    assert np.median(best) < 1e-6  # random search: 1e-3 at best


def test_the_estimate_of_noise_helps_with_a_noisy_objective() -> None:
    def distance(seed: int, noise: str) -> float:
        """Return the distance of the final mean from the optimum, in the unit cube."""
        rng = np.random.default_rng(seed)
        study = run(lambda t: bowl(t) + 0.3 * rng.standard_normal(), 200, seed=seed, noise=noise)
        # away from the bounds, solver and cube have the same coordinates
        return float(np.abs(solver(study).mean - [0.65, 4 / 6]).max())

    with_estimate, without = (
        np.median([distance(seed, noise) for seed in range(5)]) for noise in ("auto", "none")
    )
    assert with_estimate < 0.5 * without


@pytest.mark.parametrize(
    "settings", [{"consider_pruned_trials": False}, {}], ids=["pruned", "failed"]
)
def test_ignored_trials_are_as_if_they_had_not_been(settings: dict[str, Any]) -> None:
    state = TrialState.PRUNED if settings else TrialState.FAIL
    study = run(ended(state, better=False), 60, **settings)
    ignored = {t.number for t in study.get_trials() if t.state is state}
    assert len(ignored) > 5
    sampler = quiet(**settings)
    again = optuna.create_study(sampler=sampler)
    again.add_trials([t for t in study.get_trials() if t.number not in ignored])
    # told the same trials, it asks for a point of the same distribution
    distribution = sampler.infer_relative_search_space(again, again.get_trials()[0])
    sampler.sample_relative(again, again.ask()._cached_frozen_trial, distribution)
    study.ask(distribution)
    assert (solver(study).mean == solver(again).mean).all()


def test_enqueued_and_added_trials_are_told() -> None:
    source = run(bowl, 60)
    study = optuna.create_study(sampler=quiet())
    study.add_trials(source.get_trials())
    study.optimize(bowl, 12)
    values = [trial.value for trial in study.get_trials()[60:]]
    assert np.median(values) < 1e-2  # type: ignore[arg-type]
    study = optuna.create_study(sampler=quiet())
    study.optimize(bowl, 10)
    study.enqueue_trial({"x": 0.3, "y": 100.0})
    study.optimize(bowl, 2)
    assert solver(study).best_y == pytest.approx(0, abs=1e-20)


def test_a_warm_start_begins_at_the_best_tenth_of_a_similar_task() -> None:
    source = optuna.create_study(sampler=RandomSampler(seed=1), direction="maximize")
    source.optimize(lambda trial: -bowl(trial), 100)
    study = optuna.create_study(
        sampler=quiet(source_trials=source.get_trials(), population_size=200),
        direction="maximize",
    )
    study.optimize(lambda trial: -bowl(trial) - 5, 101)
    scaled = [(p["x"] / 2 + 0.5, np.log10(p["y"]) / 6 + 1 / 3) for p in params(study)[1:]]
    good = sorted(source.get_trials(), key=lambda trial: trial.value or 0)[-10:]
    wanted = np.array(
        [(t.params["x"] / 2 + 0.5, np.log10(t.params["y"]) / 6 + 1 / 3) for t in good]
    )
    deviations = np.sqrt(wanted.var(axis=0) + 0.1**2)
    assert np.mean(scaled, axis=0) == pytest.approx(wanted.mean(axis=0), abs=0.05)
    assert np.std(scaled, axis=0) == pytest.approx(deviations, rel=0.25)


def test_source_trials_of_another_space_are_refused() -> None:
    source = run(lambda trial: trial.suggest_float("other", 0, 1), 5)
    study = optuna.create_study(sampler=quiet(source_trials=source.get_trials()))
    with pytest.raises(ValueError, match="none of the source_trials is complete and has values of"):
        study.optimize(bowl, 2)


def test_x0_and_sigma0() -> None:
    study = run(bowl, 21, x0={"y": 1e3}, sigma0=0.01, population_size=50)
    points = np.array([(p["x"], np.log10(p["y"])) for p in params(study)[1:]])
    assert points.mean(axis=0) == pytest.approx([0, 3], abs=0.05)
    assert points.std(axis=0) == pytest.approx([0.02, 0.06], rel=0.5)
    with pytest.raises(ValueError, match="outside of the search space"):
        run(bowl, 2, x0={"y": 1e9})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sigma0": 0.7}, "sigma0 is a fraction .* at most 0.5, not 0.7"),
        ({"sigma0": 0.1, "source_trials": []}, "leave x0 and sigma0 out"),
        ({"restarts": "lipop"}, "restarts must be one of"),
        ({"n_startup_trials": 0}, "n_startup_trials must be at least 1, not 0"),
        ({"population_size": 1}, "population_size"),
        ({"sigma0": [0.1, 0.2]}, "sigma0 is a fraction"),
        ({"seed": -1}, "seed must be None or an integer from 0 to 2..32 - 1, not -1"),
    ],
)
def test_wrong_arguments_are_named_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CasMoreSampler(**settings)
    for unknown, told in (
        ({"noize": "auto"}, "did you mean 'noise'"),
        ({"target": 0.1}, "no setting 'target'"),
        ({"lean": "no"}, "lean must be True or False, not 'no'"),
        ({"sigma0": "a"}, "sigma0 must be real, not 'a'"),
    ):
        with pytest.raises(TypeError, match=told):
            CasMoreSampler(**unknown)


def test_a_name_in_x0_that_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    optuna.logging.enable_propagation()
    try:
        run(bowl, 3, x0={"y": 1.0, "why": 0.0})
    finally:
        optuna.logging.disable_propagation()
    assert "x0['why'] is ignored: CAS-MORE samples the parameters x, y" in caplog.text
    assert "x0['y']" not in caplog.text


def test_a_sampler_can_be_sent_to_another_process() -> None:
    study = run(bowl, 20)
    copy: BaseSampler = pickle.loads(pickle.dumps(study.sampler))
    (first,) = params(study)[-1:]
    trial = study.ask()
    again = optuna.create_study(sampler=copy)
    again.add_trials(study.get_trials(states=(TrialState.COMPLETE,)))
    assert bowl(trial) == bowl(again.ask())
    assert trial.params != first


def test_without_optuna_the_message_says_what_to_install() -> None:
    code = "import sys; sys.modules['optuna'] = None; import casmore.integrations.optuna"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs the package 'optuna': pip install 'casmore[optuna]'" in ended.stderr


def test_values_are_not_tried_twice() -> None:
    def objective(trial: Trial) -> float:
        return float((trial.suggest_int("k", 0, 9) - 2) ** 2 + trial.suggest_int("j", 0, 9))

    study = run(objective, 60)
    # only where several restarts in a row found nothing new
    assert len({tuple(p.values()) for p in params(study)}) > 50


def test_where_all_values_have_been_tried_they_are_tried_again() -> None:
    study = run(lambda trial: trial.suggest_int("k", 0, 2) + trial.suggest_int("j", 0, 1), 150)
    assert {tuple(p.values()) for p in params(study)} == {
        (k, j) for k in range(3) for j in range(2)
    }
    assert solver(study).population_size <= 150  # it doubles at each restart
