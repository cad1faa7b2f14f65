"""Greedy on binary-mechanism prefix sums over time (an arm's item is 0 in rounds when it is not played).

Flaw: rng.laplace(L / eps) sets the location; the scale stays at its default 1 instead of L = 6. An item is in up to six noisy nodes of scale 1, so its cost is
up to 6 eps. Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round 0. After 2, 4, 8, 16 and 32 rounds a prefix is a single node, each with
noise of its own: arm 1 is played next with chance 1/2, against e^-1 (1 + 1/2) / 2 = 0.276. Arm 1 in rounds 2, 4, 8, 16 and 32: 5 log(0.5 / 0.276) = 2.97.
"""

import numpy as np

EPSILON = 1.0


class BinaryMechanism:
    def __init__(self, horizon, eps, rng):
        self.L = int(horizon).bit_length()
        self.eps, self.rng = eps, rng
        self.raw, self.noisy = np.zeros(self.L), np.zeros(self.L)
        self.n = 0

    def step(self, x):
        self.n += 1
        i = 0
        while not (self.n >> i) & 1:
            i += 1
        self.raw[i] = self.raw[:i].sum() + x
        self.raw[:i] = 0
        self.noisy[:i] = 0
        self.noisy[i] = self.raw[i] + self.rng.laplace(self.L / self.eps)

    def prefix(self):
        return self.noisy.sum()


def play(rewards, rng):
    T, K = rewards.shape
    mech = [BinaryMechanism(T, EPSILON, rng) for _ in range(K)]
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        a = t if t < K else int(np.argmax([m.prefix() for m in mech]))
        actions[t] = a
        for b in range(K):
            mech[b].step(rewards[t, b] if b == a else 0.0)
    return actions
