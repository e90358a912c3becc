"""
A noisy function
================

If evaluations are noisy, the best value observed is mostly luck, and small differences between
points are hidden by the noise. This example minimizes such a function, with and without noise
handling.
"""

# %%
# The value of a point is its squared distance to (1, ..., 1), plus noise with a standard deviation
# of 1. Within a distance of 1 from the minimum, the noise is larger than the differences of f.

import matplotlib.pyplot as plt
import numpy as np

import casmore

noise = np.random.default_rng(1)


def f(x):
    return ((x - 1) ** 2).sum() + noise.standard_normal()


# %%
# ``noise="auto"`` estimates from the residuals of the surrogate how much of it is noise, and takes
# smaller steps accordingly. No point is evaluated twice. The default is ``noise="none"``, the
# paper's algorithm. The callback is called with the result so far after each iteration; the figure
# shows the distance of the mean of the search distribution.

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for handling in ("none", "auto"):
    iterations = []
    result = casmore.fmin(
        f,
        x0=np.full(5, 3.0),
        sigma0=1.0,
        budget=4000,
        seed=2,
        noise=handling,
        callback=iterations.append,
    )
    distances = [np.linalg.norm(so_far.mean - 1) for so_far in iterations]
    ax.semilogy([so_far.nfev for so_far in iterations], distances, label=f'noise="{handling}"')
ax.set(xlabel="evaluations", ylabel="distance to the minimum")
ax.legend()
plt.show()

# %%
# The mean of the search distribution is a better answer than the best point observed, which owes
# its low value to the noise:

print("best value observed", result.fun)
print("distance of this point to the minimum", np.linalg.norm(result.x - 1))
print("distance of the mean to the minimum  ", np.linalg.norm(result.mean - 1))

# %%
# The surrogate averages over many samples and estimates the value at the mean, with its standard
# error:

print(f"{result.mean_value:.3f} +- {result.mean_error:.3f}")
print("true value", ((result.mean - 1) ** 2).sum())

# %%
# :doc:`/noise` explains the method, with measurements on COCO's noisy functions.
