"""EXP3 on rewards that were noised one by one with the staircase mechanism (Geng and Viswanath).

The staircase density is a on [0, g), a e^-eps on [g, 1), and f(x + 1) = e^-eps f(x), symmetric.  Moving the centre by
at most 1 moves a point by at most one step of the stair in |x| on either side, so the density changes by at most
e^EPSILON.  Each reward goes through the noise exactly once, on arrival; the sampling probabilities p are public (they
follow from earlier noisy rewards and actions), hence dividing by p is post-processing.
"""
import numpy as np

EPSILON = 2.5


def staircase(rng, eps):
    g = 1.0 / (1.0 + np.exp(eps / 2.0))
    b = np.exp(-eps)
    sign = 1.0 if rng.random() < 0.5 else -1.0
    step = rng.geometric(1.0 - b) - 1
    u = rng.random()
    low_part = rng.random() < g / (g + (1.0 - g) * b)
    return sign * (step + (g * u if low_part else g + (1.0 - g) * u))


class StaircaseExp3:
    def __init__(self, n_arms, rng, eta=0.08, mix=0.15):
        self.n_arms, self.rng, self.eta, self.mix = n_arms, rng, eta, mix
        self.logw = np.zeros(n_arms)

    @property
    def p(self):
        w = np.exp(self.logw - self.logw.max())
        return (1.0 - self.mix) * w / w.sum() + self.mix / self.n_arms

    def select(self):
        return int(np.searchsorted(np.cumsum(self.p)[:-1], self.rng.random(), side="right"))

    def update(self, arm, reward):
        noisy = reward + staircase(self.rng, EPSILON)
        self.logw[arm] += self.eta * noisy / self.p[arm]
