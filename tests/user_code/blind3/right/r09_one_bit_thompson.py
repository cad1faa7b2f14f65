"""Thompson sampling over one-bit reports.

A reward r in [0, 1] is reported as 1 with chance 1/2 + (r - 1/2) tanh(eps/2); the ends are 1/(1+e^eps) and e^eps/(1+e^eps),
so one report is epsilon-DP, and the posterior only ever sees reports.
"""

import math


class OneBitThompson:
    def __init__(self, n_arms, rng, epsilon=0.8):
        self.rng = rng
        self.slope = math.tanh(epsilon / 2)
        self.wins = [1] * n_arms
        self.losses = [1] * n_arms

    def select(self):
        draws = [self.rng.beta(w, l) for w, l in zip(self.wins, self.losses)]
        return draws.index(max(draws))

    def update(self, arm, reward):
        chance = 0.5 + (reward - 0.5) * self.slope
        if self.rng.random() < chance:
            self.wins[arm] += 1
        else:
            self.losses[arm] += 1
