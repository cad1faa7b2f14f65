"""Successive elimination in epochs (after Sajed & Sheffet 2019), shortened for small horizons.

Epoch e: every arm that is left is pulled R_e = 2^(e+1) times, from scratch.  mean + Laplace(1/(eps R_e)) is released
once per arm.  A reward belongs to one epoch and one arm: sensitivity 1/R_e in one coordinate, one release: eps-DP.
The elimination uses released means and the (data-independent) radius alone.
"""
import numpy as np


class DPSuccessiveElimination:
    def __init__(self, n_arms, horizon, epsilon=2.0, rng=None, beta=0.5):
        self.eps, self.rng, self.beta = epsilon, rng, beta
        self.core = list(range(n_arms))
        self.epoch = 0
        self.pending = []
        self._begin()

    def _begin(self):
        self.epoch += 1
        self.R = 2 ** (self.epoch + 1)
        self.total = {a: 0.0 for a in self.core}
        self.pending = [a for _ in range(self.R) for a in self.core]

    def select(self):
        return self.core[0] if len(self.core) == 1 else self.pending[0]

    def update(self, arm, reward):
        if len(self.core) == 1:
            return
        self.pending.pop(0)
        self.total[arm] += reward
        if not self.pending:
            means = {a: s / self.R + self.rng.laplace(0, 1 / (self.eps * self.R)) for a, s in self.total.items()}
            radius = np.sqrt(np.log(1 / self.beta) / (2 * self.R)) + np.log(1 / self.beta) / (self.eps * self.R)
            top = max(means.values())
            self.core = [a for a in self.core if means[a] > top - radius]
            self._begin()
