"""Samplers of Optuna on ten problems: five BBOB functions in a box, five models of scikit-learn.

    python benchmarks/optuna_samplers.py [--trials 100] [--seeds 5] [--problems svm f8] > table.txt

Needs ``pip install 'casmore[bbob,cmaes,optuna]' scikit-learn``. A cell of the first table holds the
median over the seeds of the best value after all trials, of the second after a third of them: for
BBOB the difference to the optimum, for a model its cross-validated loss. All samplers have their
default settings; casmore and cmaes begin with the same random trials. The last row of a table holds
the mean rank of each sampler over all problems. The last line of all is the CPU time per trial on
the BBOB functions, whose evaluation takes none.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.samplers import BaseSampler, CmaEsSampler, RandomSampler, TPESampler
from optuna.trial import Trial

from casmore.integrations.optuna import CasMoreSampler

Array = NDArray[np.float64]
Objective = Callable[[Trial], float]

DIMENSION = 5
FUNCTIONS = {1: "sphere", 8: "Rosenbrock", 10: "ellipsoid", 15: "Rastrigin", 21: "Gallagher"}
SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    "casmore": lambda seed: CasMoreSampler(
        seed=seed, independent_sampler=RandomSampler(seed), warn_independent_sampling=False
    ),
    "cmaes": lambda seed: CmaEsSampler(seed=seed, warn_independent_sampling=False),
    "tpe": lambda seed: TPESampler(seed=seed),
}


def bbob(function: int, seed: int) -> Objective:
    """Return a BBOB function in [-5, 5]^5; the seed selects the instance."""
    import cocoex

    suite = cocoex.Suite("bbob", "", f"function_indices:{function} dimensions:{DIMENSION}")
    problem = suite.get_problem(seed % len(suite))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        problem._best_parameter("print")  # the only way to get the optimum: into a file
        optimum = problem(np.loadtxt("._bbob_problem_best_parameter.txt"))

    def objective(trial: Trial) -> float:
        x = [trial.suggest_float(f"x{i}", -5, 5) for i in range(DIMENSION)]
        assert suite is not None  # the problem must not outlive it
        return float(problem(x) - optimum)

    return objective


@cache
def data(name: str) -> tuple[Array, Array]:
    """Return the standardized features and the targets of a data set bundled with scikit-learn."""
    from sklearn import datasets, preprocessing

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return preprocessing.StandardScaler().fit_transform(X), y


def loss(model: Any, name: str, scoring: str) -> float:
    """Return the loss of a model in three-fold cross-validation."""
    from sklearn.model_selection import cross_val_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that have not converged
        return -float(cross_val_score(model, *data(name), cv=3, scoring=scoring).mean())


def svm(trial: Trial) -> float:
    """Three parameters on logarithmic scales."""
    from sklearn.svm import SVR

    model = SVR(
        C=trial.suggest_float("C", 1e-2, 1e4, log=True),
        gamma=trial.suggest_float("gamma", 1e-6, 1, log=True),
        epsilon=trial.suggest_float("epsilon", 0.1, 100, log=True),
    )
    return loss(model, "diabetes", "neg_root_mean_squared_error")


def kernel_ridge(trial: Trial) -> float:
    """A categorical parameter with a conditional one, and two on a logarithmic scale."""
    from sklearn.kernel_ridge import KernelRidge

    kernel = trial.suggest_categorical("kernel", ["rbf", "polynomial"])
    model = KernelRidge(
        alpha=trial.suggest_float("alpha", 1e-4, 1e3, log=True),
        gamma=trial.suggest_float("gamma", 1e-5, 1, log=True),
        kernel=kernel,
        degree=trial.suggest_int("degree", 1, 3) if kernel == "polynomial" else 3,
    )
    return loss(model, "diabetes", "neg_root_mean_squared_error")


def boosting(trial: Trial) -> float:
    """Integers, steps and logarithmic scales."""
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        n_estimators=trial.suggest_int("n_estimators", 10, 50, step=5),
        learning_rate=trial.suggest_float("learning_rate", 1e-3, 1, log=True),
        max_depth=trial.suggest_int("max_depth", 1, 3),
        min_samples_leaf=trial.suggest_int("min_samples_leaf", 1, 60, log=True),
        subsample=trial.suggest_float("subsample", 0.3, 1.0, step=0.1),
        random_state=0,
    )
    return loss(model, "diabetes", "neg_root_mean_squared_error")


def logistic(trial: Trial) -> float:
    """A scale for each of three groups of features, and the strength of the penalty."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    scales = [trial.suggest_float(f"scale{i}", 1e-2, 1e2, log=True) for i in range(3)]
    factors = np.repeat(scales, 10)  # mean, standard error and worst value of ten features
    model = make_pipeline(
        FunctionTransformer(partial(np.multiply, factors)),
        LogisticRegression(C=trial.suggest_float("C", 1e-4, 1e2, log=True), max_iter=100),
    )
    return loss(model, "breast_cancer", "neg_log_loss")


def network(trial: Trial) -> float:
    """A small neural network."""
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        hidden_layer_sizes=(trial.suggest_int("units", 2, 32, log=True),),
        alpha=trial.suggest_float("alpha", 1e-5, 10, log=True),
        learning_rate_init=trial.suggest_float("rate", 1e-4, 1, log=True),
        beta_1=trial.suggest_float("beta_1", 0.5, 0.99),
        max_iter=40,
        random_state=0,
    )
    return loss(model, "wine", "neg_log_loss")


def _without_seed(model: Objective, seed: int) -> Objective:
    return model


MODELS = (svm, kernel_ridge, boosting, logistic, network)
PROBLEMS: dict[str, Callable[[int], Objective]] = {
    **{f"f{k} {name}": partial(bbob, k) for k, name in FUNCTIONS.items()},
    **{model.__name__: partial(_without_seed, model) for model in MODELS},
}


def best_values(problem: str, sampler: str, seed: int, trials: int) -> tuple[Array, float]:
    """Return the best value after each trial, shape (trials,), and the seconds of CPU time."""
    study = optuna.create_study(sampler=SAMPLERS[sampler](seed))
    objective = PROBLEMS[problem](seed)
    began = time.process_time()
    study.optimize(objective, n_trials=trials)
    seconds = time.process_time() - began
    values = np.array([trial.value for trial in study.trials], dtype=float)
    return np.minimum.accumulate(values), seconds


def print_table(title: str, medians: dict[str, dict[str, float]]) -> None:
    """Print a row for each problem and the mean ranks."""
    print(f"\n{title}\n{'problem':16}" + "".join(f"{name:>11}" for name in SAMPLERS))
    ranks = []
    for problem, row in medians.items():
        print(f"{problem:16}" + "".join(f"{row[name]:11.4g}" for name in SAMPLERS))
        values = np.array(list(row.values()))
        ranks.append([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])
    print(f"{'mean rank':16}" + "".join(f"{rank:11.2f}" for rank in np.mean(ranks, axis=0)))


def main() -> None:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--problems", nargs="+", help="substrings of their names (default: all)")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    chosen = [p for p in PROBLEMS if any(part in p for part in options.problems or [""])]
    early: dict[str, dict[str, float]] = {}
    late: dict[str, dict[str, float]] = {}
    spent: dict[str, list[float]] = {sampler: [] for sampler in SAMPLERS}
    for problem in chosen:
        early[problem], late[problem] = {}, {}
        for sampler in SAMPLERS:
            runs = [
                best_values(problem, sampler, seed, options.trials) for seed in range(options.seeds)
            ]
            curve = np.median([values for values, _ in runs], axis=0)
            early[problem][sampler] = float(curve[options.trials // 3 - 1])
            late[problem][sampler] = float(curve[-1])
            if problem not in (model.__name__ for model in MODELS):
                spent[sampler].extend(seconds for _, seconds in runs)
        print(problem, early[problem], late[problem], file=sys.stderr)  # it takes a while
    print(f"{options.seeds} seeds; optuna {optuna.__version__}")
    print_table(f"after {options.trials} trials", late)
    print_table(f"after {options.trials // 3} trials", early)
    if any(spent.values()):
        per_trial = [1e3 * float(np.mean(s)) / options.trials for s in spent.values()]
        print("\nms per trial    " + "".join(f"{ms:11.1f}" for ms in per_trial))


if __name__ == "__main__":
    main()
