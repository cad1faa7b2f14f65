import math

import numpy as np


class LocalUCB:
    """UCB1 on rewards that are privatised one by one before anything is stored.

    A reward x in [0,1] becomes +1 with probability 1/2 + (x - 1/2) * tanh(eps/2), else -1.  The chance of +1 lies
    between 1/(1+e^eps) and e^eps/(1+e^eps), so one report is eps-DP (local model); everything later is a function
    of the reports, and there is one report a round.
    """

    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None):
        self.c = math.tanh(epsilon / 2)
        self.rng = rng or np.random.default_rng()
        self.counts = np.zeros(n_arms, int)
        self.totals = np.zeros(n_arms)

    def privatise(self, x):
        b = 1.0 if self.rng.random() < 0.5 + (x - 0.5) * self.c else -1.0
        return 0.5 + 0.5 * b / self.c

    def select(self):
        for a, n in enumerate(self.counts):
            if n == 0:
                return a
        t = self.counts.sum()
        bonus = np.sqrt(2 * np.log(t) / self.counts) / self.c
        return int(np.argmax(self.totals / self.counts + bonus))

    def update(self, arm, reward):
        self.counts[arm] += 1
        self.totals[arm] += self.privatise(reward)
