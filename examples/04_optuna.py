"""
Tune a scikit-learn model with Optuna
=====================================

Choose the hyper-parameters of a support vector machine with Optuna and the sampler of this package.
This needs ``casmore[optuna]`` and scikit-learn.
"""

# %%
# The objective is the cross-validated error of a support vector regression on scikit-learn's
# diabetes data. It has three hyper-parameters, all on a logarithmic scale.

import matplotlib.pyplot as plt
import numpy as np
import optuna
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from casmore.integrations.optuna import CasMoreSampler

X, y = load_diabetes(return_X_y=True)
folds = KFold(5, shuffle=True, random_state=1)


def error(trial):
    model = SVR(
        C=trial.suggest_float("C", 1e-2, 1e4, log=True),
        gamma=trial.suggest_float("gamma", 1e-5, 1e1, log=True),
        epsilon=trial.suggest_float("epsilon", 1e-1, 1e2, log=True),
    )
    scores = cross_val_score(
        make_pipeline(StandardScaler(), model), X, y, cv=folds, scoring="neg_mean_squared_error"
    )
    return np.sqrt(-scores.mean())


# %%
# The sampler is passed to the study. Random search is shown for comparison. The first trial of
# CAS-MORE is random, since the parameters are not known before it. The search then begins in the
# middle of their ranges, which is a good guess here.

optuna.logging.set_verbosity(optuna.logging.WARNING)
samplers = {
    "CAS-MORE": CasMoreSampler(seed=1),
    "random search": optuna.samplers.RandomSampler(seed=1),
}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, sampler in samplers.items():
    study = optuna.create_study(sampler=sampler)
    study.optimize(error, n_trials=50)
    print(f"{name}: {study.best_value:.3f}", study.best_params)
    ax.plot(np.minimum.accumulate([trial.value for trial in study.trials]), label=name)
ax.set(xlabel="trials", ylabel="root mean squared error", ylim=(54, 57))
ax.legend()
plt.show()

# %%
# :doc:`/optuna` describes integers and categories, several workers on one storage, and warm starts.
