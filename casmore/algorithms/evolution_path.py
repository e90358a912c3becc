"""The evolution path, its desired length, and the resulting change of the entropy.

Paper, section "Entropy Control" of "Improving the MORE Algorithm".
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class EvolutionPath:
    """A smoothed sum of the mean's steps, and its expected length for uncorrelated steps.

    Parameters
    ----------
    dimension
        The dimension n of the search space.
    smoothing
        ``c_sigma`` in (0, 1).
    epsilon_mean
        The mean's trust region ``eps_mu`` in nats; steps at the bound have length 1.
    gain
        ``alpha``: the largest change of the entropy per iteration, in nats. A path of length 0
        decreases it by ``alpha``; a path of twice the desired length increases it by ``alpha``.
    desired_angle
        ``theta``, the angle between path and step, in radians. The paper uses slightly less than a
        right angle, since reused samples and constrained updates correlate successive steps.
    """

    def __init__(
        self,
        dimension: int,
        smoothing: float,
        epsilon_mean: float,
        gain: float = 1.0,
        desired_angle: float = 3 * math.pi / 8,
    ) -> None:
        self.path = np.zeros(dimension)
        self.desired_length = 0.0
        self._keep = 1 - smoothing
        self._take = math.sqrt(smoothing * (2 - smoothing))  # keep^2 + take^2 = 1
        self._unit = 1 / math.sqrt(2 * epsilon_mean)
        self._gain = gain
        self._cosine = math.cos(desired_angle)

    @property
    def length(self) -> float:
        """The Euclidean length of the path."""
        return math.sqrt(float(self.path @ self.path))

    def update(self, whitened_step: Array) -> None:
        """Add a step of the mean.

        Parameters
        ----------
        whitened_step
            ``Sigma^(-1/2) (mu_{t+1} - mu_t)``, shape (n,); at the bound of the trust region its
            length is ``sqrt(2 eps_mu)``.
        """
        self.path = self._keep * self.path + (self._take * self._unit) * whitened_step
        # |a + b|^2 = |a|^2 + |b|^2 + 2 |a| |b| cos(theta), the step's length being 1
        a, b = self._keep * self.desired_length, self._take
        self.desired_length = math.sqrt(a * a + b * b + 2 * a * b * self._cosine)

    def entropy_decrease(self) -> float:
        """Return ``delta = alpha max(1 - |p| / |p_des|, -1)``, in nats.

        If it is positive (short path), the entropy falls; if negative (long path), it grows. The
        bound on the growth is not in the paper. It comes from the authors' code, which clips
        ``1 - |p| / |p_des|`` to [-1, 1].
        """
        if self.desired_length == 0:
            return 0.0
        return self._gain * max(1 - self.length / self.desired_length, -1.0)
