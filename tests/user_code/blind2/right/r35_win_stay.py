"""Win-stay, lose-shift with a coin of bias lo + (hi - lo) x, hi = e^eps/(1+e^eps), lo = 1 - hi.

The sequence of arms is a Markov chain given the rewards: x_t enters P(a_{t+1} | a_t, x_t) and nothing else.  Staying
has chance in [lo, hi], shifting to either other arm (1 - that)/2.  Ratios are at most hi/lo = e^eps.
"""
import numpy as np


class WinStayLoseShift:
    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.hi = np.exp(epsilon) / (1 + np.exp(epsilon))
        self.rng = rng
        self.current = int(rng.integers(n_arms))

    def select(self):
        return self.current

    def update(self, arm, reward):
        stay = (1 - self.hi) + (2 * self.hi - 1) * reward
        if self.rng.random() >= stay:
            self.current = (arm + 1 + int(self.rng.integers(self.n_arms - 1))) % self.n_arms
