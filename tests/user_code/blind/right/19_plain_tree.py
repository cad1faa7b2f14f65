"""The binary mechanism of continual counting under a greedy bandit.

Privacy. With L levels, item number n of an arm is added to the p-sum of the lowest set bit of n, which
swallows the lower ones. An item is thus part of at most one p-sum per level, each released once with noise
Laplace(L / eps): L1 sensitivity L over all p-sums, eps-DP. Rewards of different arms are in different trees.
"""

import numpy as np

EPSILON = 1.0


class BinaryMechanism:
    def __init__(self, horizon, rng):
        self.L = int(horizon).bit_length()
        self.alpha = np.zeros(self.L)
        self.noisy = np.zeros(self.L)
        self.n = 0
        self.rng = rng

    def add(self, x):
        self.n += 1
        i = (self.n & -self.n).bit_length() - 1
        self.alpha[i] = self.alpha[:i].sum() + x
        self.alpha[:i] = 0
        self.noisy[:i] = 0
        self.noisy[i] = self.alpha[i] + self.rng.laplace(scale=self.L / EPSILON)

    def total(self):
        return sum(self.noisy[i] for i in range(self.L) if (self.n >> i) & 1)


def play(rewards, rng):
    T, K = rewards.shape
    counters = [BinaryMechanism(T, rng) for _ in range(K)]
    out = np.zeros(T, dtype=int)
    for t in range(T):
        if t < 2 * K or t % 5 == 0:
            a = t % K
        else:
            a = int(np.argmax([c.total() / max(c.n, 1) for c in counters]))
        out[t] = a
        counters[a].add(rewards[t, a])
    return out
