"""
First steps
===========

Minimize a function of five variables, and look at what the search did.
"""

# %%
# The function takes an array of shape (n,) and returns a number. This is Rosenbrock's function: a
# curved valley that leads to the minimum at (1, ..., 1).

import matplotlib.pyplot as plt

import casmore


def f(x):
    return sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


# %%
# `casmore.fmin` needs a starting point and an initial standard deviation, about a third of the
# distance within which you expect the minimum. Without ``target`` it ends when it has converged.
# ``seed`` makes the run repeatable.

result = casmore.fmin(f, x0=[0, 0, 0, 0, 0], sigma0=0.5, seed=1, trace=True)
print(result.x)
print(f"value {result.fun:.1e} after {result.nfev} evaluations: {result.message}")

# %%
# With ``trace=True`` the result contains a record of each iteration, which `casmore.plot` shows.
# The search needs few evaluations to find the valley, follows it with a step size that hardly
# changes, and converges once it has arrived.

casmore.plot(result.trace)
plt.show()

# %%
# `casmore.minimize` needs only bounds. It tries a search along the coordinates and a quasi-Newton
# method first, then lean CAS-MORE with restarts, until the target is reached or the budget is
# spent.

result = casmore.minimize(f, bounds=[(-5, 5)] * 5, target=1e-9, seed=1)
print(f"value {result.fun:.1e} after {result.nfev} evaluations: {result.message}")
