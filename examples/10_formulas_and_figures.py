r"""
The paper's formulas and figures
================================

The updates of CAS-MORE in formulas and in code, and figures of the paper made from this project's
own runs. This needs ``casmore[bbob]`` and, for the figures at the end, a clone of the repository.
"""

# %%
# The paper maximizes. The search distribution is :math:`\mathcal N(\mu, \Sigma)`, the surrogate
#
# .. math:: \hat f(x) = -\tfrac12 x^\top A x + x^\top a + a_0 .
#
# CAS-MORE updates mean and covariance one after the other (coordinate ascent), each within its own
# bound on the Kullback-Leibler divergence:
#
# .. math::
#
#    \mu^* &= \arg\max_{\mu'} \; \mathbb E_{\mathcal N(\mu', \Sigma)}[\hat f]
#    \quad\text{such that}\quad
#    \mathrm{KL}\big(\mathcal N(\mu', \Sigma) \,\|\, \mathcal N(\mu, \Sigma)\big)
#    \le \varepsilon_\mu , \\
#    \Sigma^* &= \arg\max_{\Sigma'} \; \mathbb E_{\mathcal N(\mu, \Sigma')}[\hat f]
#    \quad\text{such that}\quad
#    \mathrm{KL}\big(\mathcal N(\mu, \Sigma') \,\|\, \mathcal N(\mu, \Sigma)\big)
#    \le \varepsilon_\Sigma .

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import casmore
from casmore.algorithms.eigenbasis import Eigenbasis
from casmore.algorithms.gaussian import SearchDistribution, kl_divergence
from casmore.algorithms.models import QuadraticModel
from casmore.algorithms.trust_region import covariance_scales, mean_step
from casmore.studies.convergence import rosenbrock
from casmore.studies.path_illustration import evolution_path

old = SearchDistribution(mean=np.array([2.0, 1.0]), factor=np.diag([1.0, 0.5]))
model = QuadraticModel(A=np.array([[1.0, 0.8], [0.8, 2.0]]), a=np.array([-0.5, 0.5]), a0=0.0)

# %%
# The mean
# --------
# With a multiplier :math:`\lambda` for the bound, the solution is
#
# .. math:: \mu^* = (\lambda \Sigma^{-1} + A)^{-1} (\lambda \Sigma^{-1} \mu + a) .
#
# With :math:`\Sigma = L L^\top` and the eigenvalues :math:`d_i` of :math:`L^\top A L`, the steps
# along the eigenvectors are :math:`g_i / (\lambda + d_i)`, where :math:`g_i` are the components of
# the surrogate's gradient :math:`L^\top (a - A \mu)`. Only a scalar equation for :math:`\lambda`
# remains, which `casmore.algorithms.trust_region.mean_step` solves.

whitened = model.substitute(old.factor, old.mean)  # the model as a function of z, x = mu + L z
basis = Eigenbasis.of(whitened.A)
step, multiplier = mean_step(basis.d, basis.along(whitened.a), epsilon=0.5)
mean = old.mean + old.factor @ basis.back(step)

precision = np.linalg.inv(old.covariance)
formula = np.linalg.solve(
    multiplier * precision + model.A, multiplier * precision @ old.mean + model.a
)
print("solved in the eigenbasis", mean)
print("formula of the paper    ", formula)

# %%
# The covariance
# --------------
# With a multiplier :math:`\nu`,
#
# .. math:: \Sigma^* = (\Sigma^{-1} + A / \nu)^{-1} ,
#
# which scales the variances along the same eigenvectors by :math:`\nu / (\nu + d_i)`.

scales, multiplier = covariance_scales(basis.d, epsilon=0.1)
updated = old.updated(np.zeros(2), basis, np.sqrt(scales))
print("solved in the eigenbasis", updated.covariance.round(6).tolist())
print("formula of the paper    ", np.linalg.inv(precision + model.A / multiplier).round(6).tolist())
print("KL divergence", kl_divergence(updated, old))

# %%
# Contours of the surrogate, the old distribution (dashed: its trust region for the mean), and the
# new one, after both updates:

angle = np.linspace(0, 2 * np.pi, 100)
circle = np.vstack([np.cos(angle), np.sin(angle)])
xx, yy = np.meshgrid(np.linspace(-2, 4, 100), np.linspace(-1.5, 2.5, 100))
values = model(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.contour(xx, yy, values, levels=12, colors="0.7", linewidths=0.8)
ax.plot(*(old.mean[:, np.newaxis] + old.factor @ circle), "k--", label="old")
ax.plot(*(mean[:, np.newaxis] + updated.factor @ circle), color="tab:red", label="new")
ax.annotate("", mean, old.mean, arrowprops={"arrowstyle": "->"})
ax.legend()
ax.set_aspect("equal")
plt.show()

# %%
# The entropy
# -----------
# The evolution path is a smoothed sum of the steps of the mean, each measured in units of its trust
# region. From its length :math:`|p|` and the length :math:`|p_\mathrm{des}|` that steps at a fixed
# angle would give, the entropy changes by :math:`-\delta`,
#
# .. math:: \delta = \alpha \left( 1 - \frac{|p|}{|p_\mathrm{des}|} \right) , \qquad
#    \Sigma \leftarrow e^{-2 \delta / n} \, \Sigma^* .
#
# On a slope the path is long and the distribution grows; around a minimum the steps cancel each
# other and it shrinks:

for name, f in {"slope": lambda x: x[0], "sphere": lambda x: (x**2).sum()}.items():
    trace = casmore.fmin(f, [1.0] * 5, 0.1, budget=600, seed=1, trace=True).trace
    longer = trace["path_length"] > trace["desired_length"]
    first, *_, last = trace["step_size"]
    print(f"{name}: path longer than desired in {longer[10:].mean():.0%} of the iterations,")
    print(f"  step size from {first:.1g} to {last:.1g}")

# %%
# :doc:`/paper` lists every formula of the paper with its code, its test, and the deviations.
#
# Figures of the paper
# --------------------
# ``make figures`` draws all figures of the studies from the tables in ``results/``. These are two
# of them: the solvers on the 15-D Rosenbrock function, and the evolution path.

results = Path(casmore.__file__).parents[1] / "results"
figure = rosenbrock(results)
figure.savefig("rosenbrock.png")

# %%
figure = evolution_path(results)
figure.savefig("evolution_path.png")
