"""
The algorithm, animated
=======================

The search distribution of CAS-MORE on Rosenbrock's function in two dimensions, iteration by
iteration, and in comparison with that of CMA-ES. This needs Matplotlib and pycma,
``casmore[cma,plot]``.
"""

# %%
# An iteration of CAS-MORE consists of five steps:
#
# 1. It draws a few samples from the search distribution, a Gaussian.
# 2. It fits a quadratic function, the surrogate, to these and previous samples.
# 3. The mean moves to the optimum of the surrogate within a trust region around the old mean.
# 4. The covariance approaches the inverse of the surrogate's curvature, within a trust region of
#    its own.
# 5. The distribution grows if the last steps of the mean point in the same direction, and shrinks
#    if they cancel each other. The evolution path, a smoothed sum of the steps, measures this.
#
# The next lines run the algorithm and store what is to be shown.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation

from casmore import CasMore
from casmore.solvers.registry import factory


def rosenbrock(X):
    return 100 * (X[:, 1] - X[:, 0] ** 2) ** 2 + (1 - X[:, 0]) ** 2


def run(solver, iterations):
    """Return the solver's state before each iteration, and the points it asks for."""
    states = []
    for _ in range(iterations):
        distribution, X = solver.distribution, solver.ask()
        solver.tell(X, rosenbrock(X))
        queue = solver.queue.points.copy() if isinstance(solver, CasMore) else None
        states.append((distribution, X, queue, getattr(solver, "model", None)))
    return states


x0, sigma0, iterations = np.array([-1.2, 1.0]), 0.3, 80
own = run(CasMore(x0, sigma0, population_size=6, seed=3), iterations)

# %%
# The first frames of the search, in a part of the plane. Grey: the function, light where it is
# small. Dots: all samples in use, the new ones in orange. Blue: contours of the surrogate. Dashed:
# the trust region of the mean; the arrow is its step. Red: the next search distribution, one and
# two standard deviations.

xx, yy = np.meshgrid(np.linspace(-1.9, 1.7, 361), np.linspace(-0.7, 2.2, 291))
grid = np.column_stack([xx.ravel(), yy.ravel()])
background = np.round(3 * np.log10(rosenbrock(grid) + 1e-2)).reshape(xx.shape)
angle = np.linspace(0, 2 * np.pi, 60)
circle = np.vstack([np.cos(angle), np.sin(angle)])
radius = np.sqrt(2 * CasMore(x0, sigma0).parameters.epsilon_mean)


def ellipse(distribution, deviations):
    return distribution.mean[:, np.newaxis] + deviations * distribution.factor @ circle


def landscape(ax):
    extent = (-1.9, 1.7, -0.7, 2.2)
    ax.imshow(background, extent=extent, origin="lower", cmap="Greys", vmax=14)
    ax.plot(1, 1, "*", color="tab:green", markersize=11)


def draw_iteration(frame):
    view.clear()
    landscape(view)
    (distribution, X, queue, model), (updated, *_) = own[frame], own[frame + 1]
    view.plot(*queue.T, ".", color="0.3", markersize=4)
    view.plot(*X.T, ".", color="tab:orange", markersize=9)
    if model is not None:
        fitted = model(distribution.whiten(grid)).reshape(xx.shape)
        steps = model(distribution.whiten(queue))
        levels = np.linspace(steps.min(), max(steps.max(), steps.min() + 1e-9), 9)
        lines = {"colors": "tab:blue", "linestyles": "-", "linewidths": 0.7}
        view.contour(xx, yy, fitted, levels=levels, **lines)
    view.plot(*ellipse(distribution, radius), "k--", linewidth=1)
    view.annotate("", updated.mean, distribution.mean, arrowprops={"arrowstyle": "->"})
    for deviations in (1, 2):
        view.plot(*ellipse(updated, deviations), color="tab:red", linewidth=1.2)
    view.set(xlim=(-1.6, -0.1), ylim=(-0.3, 1.6), title=f"iteration {frame + 1}", aspect="equal")


zoom, view = plt.subplots(figsize=(5, 5.5))
one_by_one = FuncAnimation(zoom, draw_iteration, frames=16, interval=700)
plt.show()

# %%
# Beside CMA-ES
# -------------
# CMA-ES also samples a Gaussian, but it uses only the ranks of the samples of the current
# iteration. It moves the mean towards the better half, and learns the covariance from the steps of
# the best samples and of the mean. Both solvers start with the same distribution, and draw six
# samples in each iteration. The line is the path of the mean; the number at the end of the title is
# the value there.

peer = run(factory("cma")(x0, sigma0, population_size=6, seed=3, target=None), iterations)
runs = {"CAS-MORE": own, "CMA-ES": peer}

figure, axes = plt.subplots(1, 2, figsize=(8, 3.7), sharey=True)
figure.subplots_adjust(left=0.06, right=0.98, wspace=0.08)
artists = []
for ax, name in zip(axes, runs, strict=True):
    landscape(ax)
    (path,) = ax.plot([], [], "-", color="tab:blue", linewidth=1)
    (samples,) = ax.plot([], [], ".", color="tab:orange", markersize=6)
    outlines = [ax.plot([], [], color="tab:red", linewidth=1.2)[0] for _ in range(2)]
    artists.append((name, path, samples, outlines, ax.set_title(name)))


def draw_both(frame):
    for name, path, samples, outlines, title in artists:
        distribution, X, *_ = runs[name][frame]
        path.set_data(*np.array([before.mean for before, *_ in runs[name][: frame + 1]]).T)
        samples.set_data(*X.T)
        for deviations, outline in enumerate(outlines, start=1):
            outline.set_data(*ellipse(distribution, deviations))
        value = rosenbrock(distribution.mean[np.newaxis])[0]
        title.set_text(f"{name}, {len(X) * frame} evaluations: {value:.2g}")


side_by_side = FuncAnimation(figure, draw_both, frames=range(0, iterations, 2), interval=250)
plt.show()

# %%
# The mean of CAS-MORE follows the valley in small, regular steps, since the trust region bounds
# each of them and the surrogate averages over many samples. That of CMA-ES jumps with each
# population. In two dimensions the two need about the same number of evaluations. On the 15-D
# function CAS-MORE needs less than half as many as CMA-ES (:doc:`/the_paper/claims`).
