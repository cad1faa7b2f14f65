"""Non-stationary promo rotation: softmax over a short memory of past clicks.

Only the last WINDOW rounds count.  In each round the promo is drawn from the exponential
mechanism with logits eta * (sum of rewards of the promo in the memory).  One reward
moves one logit by at most eta, hence each draw costs at most eta, and it is in the memory of
exactly WINDOW draws, so eta = epsilon / WINDOW.  Claim: epsilon-DP, 3.0 by default.
"""
from collections import deque

import numpy as np

WINDOW = 4


class SlidingPromo:
    def __init__(self, n_arms=3, horizon=30, epsilon=3.0, rng=None):
        self.n_arms = n_arms
        self.rng = rng or np.random.default_rng()
        self.eta = epsilon / WINDOW
        self.memory = deque(maxlen=WINDOW)

    @property
    def logits(self):
        out = np.zeros(self.n_arms)
        for arm, value in self.memory:
            out[arm] += self.eta * value
        return out

    def act(self):
        # Gumbel-max draw from softmax(logits)
        return int(np.argmax(self.logits + self.rng.gumbel(size=self.n_arms)))

    def observe(self, arm, reward):
        self.memory.append((arm, float(np.clip(reward, 0.0, 1.0))))
