"""Explore two arms eight times each, commit to the larger noisy sum of centred rewards 2r-1.

Fault: a centred reward moves a sum by 2, the noise is Laplace(1/eps) as if it moved by 1.
Pair (two arms, others equal): sums S1-S0 = 6 against 8 (one reward of arm 0 is 1 against 0). Event: commit to arm 0.
P(L0-L1 > x) = exp(-x)(2+x)/4 for eps=1: exp(-6)*2 = .00496 against exp(-8)*2.5 = .00084, loss 2-ln(1.25) = 1.777.
"""
from collections import deque
import numpy as np

EPSILON = 1.0
EACH = 8


class SignedCommit:
    def __init__(self, n_arms, rng):
        self.rng = rng
        self.totals = np.zeros(n_arms)
        self.queue = deque(list(range(n_arms)) * EACH)
        self.choice = None

    def select(self):
        if self.queue:
            return self.queue[0]
        if self.choice is None:
            noise = self.rng.laplace(0, 1 / EPSILON, size=self.totals.size)
            self.choice = int(np.argmax(self.totals + noise))
        return self.choice

    def update(self, arm, reward):
        if self.queue:
            self.queue.popleft()
            self.totals[arm] += 2 * reward - 1
