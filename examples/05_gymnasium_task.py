"""
A Gymnasium task
================

A robot learns a movement: a planar arm with five joints reaches into a narrow hole. This needs
``casmore[robot]``.
"""

# %%
# The return of an episode is a function of the weights of a movement primitive. The primitive turns
# 15 weights, three for each joint, into desired trajectories of the five joints over two seconds,
# and the controller turns these into accelerations. Any Gymnasium environment that provides the
# state of its joints can be used; see :doc:`/robot`.

# sphinx_gallery_thumbnail_number = 2
import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import ArtistAnimation

import casmore
from casmore.problems.episodic import TASKS, EpisodicObjective, PDController, ProMP

f = EpisodicObjective(
    gymnasium.make("casmore/HoleReaching-v0", render_mode="rgb_array"),
    ProMP(joints=5, bases=3, duration=2.0, scale=0.1),
    PDController(stiffness=0.1, damping=0.01),
    seed=1,
)

# %%
# The value is the negative return of the episode. ``f(weights)`` runs one episode, ``f.batch``
# those of a whole population at a time, which is much faster. The search starts with a movement
# that ends above the hole, and records the share of episodes that succeed.

start = TASKS["casmore/HoleReaching-v0"]
success = []


def episodes(weights):
    values = f.batch(weights)
    success.append(f.latest.success.mean())
    return values


result = casmore.fmin(episodes, start.mean, start.sigma0, vectorized=True, budget=4000, seed=1)
print("return at the start", -f(np.array(start.mean)))
print("return learned     ", -f(result.mean))

figure, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
ax.plot(np.linspace(0, result.nfev, len(success)), success)
ax.set(xlabel="episodes", ylabel="share that succeeds")
plt.show()

# %%
# The learned movement; ``every=8`` asks for a picture at every eighth step of the episode:

frames = f.episode(result.mean, seed=1, every=8).frames
figure = plt.figure(figsize=(4, 4 * frames[0].shape[0] / frames[0].shape[1]))
ax = figure.add_axes((0, 0, 1, 1))
ax.set_axis_off()
movement = ArtistAnimation(figure, [[ax.imshow(frame)] for frame in frames], interval=80)
plt.show()
